# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A callback that reports how long components and migrations took, as a table, as JSON and as spans."""

from __future__ import annotations

DOCUMENTATION = r"""
name: durations
type: aggregate
short_description: Prints how long components and migrations took
version_added: "1.0.0"
author:
  - the kyma.lifecycle authors (@kyma-project)
description:
  - Prints a table of durations at the end of a playbook that uses the modules of this collection, per host,
    and can write them to a file as JSON.
  - The playbook C(kyma.lifecycle.deploy_kyma) ends with that table anyway. This callback is for your own
    playbooks.
  - The modules measure the seconds with a monotonic clock. A background task counts when
    M(ansible.builtin.async_status) has seen its end.
  - Sends an OpenTelemetry span for each phase, component, migration, module and errand, if the environment
    has E(OTEL_EXPORTER_OTLP_ENDPOINT) or E(OTEL_EXPORTER_OTLP_TRACES_ENDPOINT). They are below a span for
    each run on a cluster, and these below the span of the playbook.
  - The trace is that of E(TRACEPARENT), or a new one. A new one becomes E(TRACEPARENT) in the environment of
    the playbook. So C(community.general.opentelemetry) joins the trace, if C(callbacks_enabled) lists this
    callback first.
  - The callback sends the spans at the end of the playbook, within 5 seconds, by C(http/protobuf).
    A collector that does not answer causes a warning. It never fails a playbook.
  - The callback reads E(OTEL_EXPORTER_OTLP_HEADERS), E(OTEL_SERVICE_NAME), E(OTEL_RESOURCE_ATTRIBUTES),
    E(OTEL_SDK_DISABLED), E(OTEL_TRACES_EXPORTER), E(OTEL_TRACES_SAMPLER) and the other variables of the
    OpenTelemetry SDK. The name of the service is C(ansible) by default.
requirements:
  - to be enabled, as C(callbacks_enabled=kyma.lifecycle.durations) in C(ansible.cfg)
  - opentelemetry-sdk and opentelemetry-exporter-otlp-proto-http, only for spans
options:
  output:
    description:
      - A file to which the durations are written as JSON, as a list of objects with C(host), C(task),
        C(kind), C(name), C(state), C(seconds), C(slow) for a migration with a slow check, C(started_at) and
        C(finished_at), and C(component), which is that of a migration.
      - An existing file is replaced.
    type: path
    env:
      - name: KYMA_LIFECYCLE_DURATIONS_OUTPUT
    ini:
      - section: callback_kyma_lifecycle_durations
        key: output
"""

EXAMPLES = r"""
# Turn it on in ansible.cfg, and let it write a file, too:
#
#   [defaults]
#   callbacks_enabled = kyma.lifecycle.durations
#
#   [callback_kyma_lifecycle_durations]
#   output = durations.json
- name: The same for one call, by the environment
  ansible.builtin.command:
    cmd: ansible-playbook site.yml
  environment:
    ANSIBLE_CALLBACKS_ENABLED: kyma.lifecycle.durations
    KYMA_LIFECYCLE_DURATIONS_OUTPUT: durations.json

- name: Send spans to a collector
  ansible.builtin.command:
    cmd: ansible-playbook site.yml
  environment:
    ANSIBLE_CALLBACKS_ENABLED: kyma.lifecycle.durations
    OTEL_EXPORTER_OTLP_ENDPOINT: http://collector.example.com:4318
"""

import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ansible.plugins.callback import CallbackBase

from ..module_utils._result_codec import from_result, result_fields
from ..module_utils._runs.durations import render_durations, with_items
from ..module_utils._runs.outcomes import KINDS, Duration
from ..plugin_utils._carrier.screen.console import label_lines, print_banner, print_block
from ..plugin_utils._spans.exporter_settings import endpoint_variable, protocol_problem

if TYPE_CHECKING:
    from ..plugin_utils._spans.playbook_trace import PlaybookTrace


class CallbackModule(CallbackBase):
    """Collects the results in ``durations``, and prints them at the end."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "kyma.lifecycle.durations"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._rows: list[dict[str, Any]] = []
        self._trace: PlaybookTrace | None = None

    def set_options(self, *args: Any, **kwargs: Any) -> None:
        """Run after Ansible has loaded the callback and before it loads the others after it."""
        super().set_options(*args, **kwargs)
        self._begin_spans()

    def v2_playbook_on_start(self, playbook: Any) -> None:
        """The start of the playbook."""
        if self._trace:
            self._trace.name(Path(playbook._file_name).name)

    def v2_runner_on_ok(self, result: Any) -> None:
        """A task has succeeded, or a loop with all its items has."""
        self._collect(result)

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        """A task has failed, which takes time too."""
        self._collect(result)

    def v2_playbook_on_stats(self, stats: Any) -> None:
        """The end of the playbook."""
        for host in dict.fromkeys(row["host"] for row in self._rows):
            print_banner(f"DURATIONS [{host}]")
            print_block(label_lines(render_durations(row for row in self._rows if row["host"] == host), host))
        output = self.get_option("output")
        if output:
            Path(output).write_text(json.dumps(self._rows, indent=2) + "\n", "utf-8")
        if self._trace:
            self._warn_of_spans(self._trace.send(has_failed=bool(stats.failures or stats.dark)))

    def _begin_spans(self) -> None:
        """Begin the trace, if the environment names a collector."""
        if self._trace or not endpoint_variable(os.environ):
            return
        if problem := protocol_problem(os.environ):
            self._warn_of_spans(problem)
            return
        try:
            from ..plugin_utils._spans.playbook_trace import PlaybookTrace

            self._trace = PlaybookTrace(os.environ)
        except ImportError as error:
            self._warn_of_spans(
                f"{sys.executable} lacks a library: {error}. Install it:"
                " pip install opentelemetry-sdk opentelemetry-exporter-otlp-proto-http"
            )
        except (
            Exception
        ) as error:  # the library refuses a setting that it can't read; that must not fail a playbook
            self._warn_of_spans(f"{type(error).__name__}: {error}")

    def _warn_of_spans(self, problem: str) -> None:
        if problem:
            name = endpoint_variable(os.environ)
            self._display.warning(f"The OpenTelemetry spans of {name} were not sent: {problem}")

    def _collect(self, result: Any) -> None:
        origin = {"host": result.host.get_name(), "task": result.task.get_name()}
        known = {self._key(row) for row in self._rows}
        # The end of a run repeats the results of its tasks.
        rows = [{**origin, **row} for row in durations_in(result.result)]
        new = [row for row in rows if self._key(row) not in known]
        self._rows += new
        if self._trace:
            self._trace.results.add(origin["host"], result.result, new, time.time_ns())

    @staticmethod
    def _key(row: Mapping[str, Any]) -> tuple[object, ...]:
        return row["host"], row["kind"], row["name"], row["state"], round(float(row["seconds"]), 3)


def durations_in(result: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The durations in a task's result, and in those of its items.

    The form of their rows shows which results count, because async_status reports what ran in the background.
    """
    for row in (row for one in with_items(result) for row in one.get("durations") or ()):
        if isinstance(row, Mapping) and row.get("kind") in KINDS and {"name", "seconds"} <= row.keys():
            yield result_fields(from_result(Duration, row))
