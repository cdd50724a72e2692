# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A playbook with the callback `durations`, and a collector that receives its spans."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.paths import ROOT
from tests.support.extent import cases
from tests.support.otlp_collector import Collector, ReceivedSpan, running_collector

COLLECTION = Path(__file__).parent / "collection"
TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
SECOND = 1_000_000_000

PLAN = {"plan": {"version": "2.11"}}
STARTED = {"changed": True, "run": "r1", "outdated": False}
TIMES = {"started_at": "2026-11-21T13:00:10.250Z", "finished_at": "2026-11-21T13:00:14.750Z"}
MIGRATION = {
    "kind": "migration",
    "name": "shop/move",
    "component": "shop",
    "state": "done",
    "seconds": 1.0,
    "started_at": "2026-11-21T13:00:11.000Z",
    "finished_at": "2026-11-21T13:00:12.000Z",
}
SHOP = {"kind": "component", "name": "shop", "state": "failed", "seconds": 4.5, **TIMES}
PHASE = {
    "kind": "phase",
    "name": "components",
    "state": "failed",
    "seconds": 5.0,
    "started_at": "2026-11-21T13:00:10.000Z",
    "finished_at": "2026-11-21T13:00:15.000Z",
}
WORKED = {
    "components": [{"name": "shop", "kind": "component", "error": "Deployment shop: no room"}],
    "durations": [MIGRATION, SHOP, {**SHOP, "name": "cart", "state": "not started", "seconds": 0.0}],
}
ENDED = {
    "failed": True,
    "msg": "Kyma 2.11 is not deployed completely",
    "run": "r1",
    "state": "failed",
    "failures": ["component shop: Deployment shop: no room"],
    "durations": [PHASE, MIGRATION, SHOP],
}


class Playbooks:
    """Runs playbooks whose tasks answer with given results."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        collections = folder / "collections"
        (collections / "ansible_collections" / "kyma_test").mkdir(parents=True)
        (collections / "ansible_collections" / "kyma_test" / "spans").symlink_to(COLLECTION)
        foreign = ("ANSIBLE_", "OTEL_", "TRACEPARENT", "TRACESTATE")
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(foreign)},
            "ANSIBLE_HOME": str(folder / "home"),
            "ANSIBLE_COLLECTIONS_PATH": f"{ROOT / '.build'}:{collections}",
            "ANSIBLE_CALLBACKS_ENABLED": "kyma.lifecycle.durations,kyma_test.spans.traceparent",
            "ANSIBLE_NOCOLOR": "1",
            "KYMA_TEST_TRACEPARENT": str(folder / "traceparent"),
            "PYTHONPATH": "",
        }

    def run(self, *results: dict[str, Any], pause: float = 0.0) -> subprocess.CompletedProcess[str]:
        """Run a playbook whose tasks answer with these results."""
        tasks = [{"kyma_test.spans.answer": {"result": result, "pause": pause}} for result in results]
        book = self.folder / "site.yml"
        book.write_text(
            json.dumps([{"hosts": "localhost", "connection": "local", "gather_facts": False, "tasks": tasks}])
        )
        program = Path(sys.executable).with_name("ansible-playbook")
        return subprocess.run(
            [str(program), "-i", "localhost,", str(book)],
            env=self.environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    @property
    def traceparent(self) -> str:
        """What a callback that was loaded after ours has found in the environment."""
        return (self.folder / "traceparent").read_text()


@pytest.fixture
def playbooks(tmp_path: Path) -> Playbooks:
    return Playbooks(tmp_path)


@pytest.fixture
def collector(playbooks: Playbooks) -> Iterator[Collector]:
    with running_collector() as running:
        playbooks.environment["OTEL_EXPORTER_OTLP_ENDPOINT"] = running.endpoint
        yield running


def ancestors(spans: dict[str, ReceivedSpan], name: str) -> list[str]:
    """The names of a span's ancestors, the nearest first."""
    by_id = {span.id: span for span in spans.values()}
    names = []
    while (span := by_id.get(spans[name].parent)) is not None:
        names.append(name := span.name)
    return names


def test_a_run_is_a_tree_below_the_playbook(playbooks: Playbooks, collector: Collector) -> None:
    playbooks.environment |= {
        "TRACEPARENT": f"00-{TRACE}-{PARENT}-01",
        "OTEL_SERVICE_NAME": "rollout",
        "OTEL_RESOURCE_ATTRIBUTES": "team=kyma",
        "OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20abc",
    }
    outcome = playbooks.run(PLAN, STARTED, WORKED, ENDED)
    assert (outcome.returncode, "OpenTelemetry" in outcome.stderr) == (2, False)
    spans = collector.by_name()
    book, cluster, phase, shop = (
        "playbook site.yml",
        "cluster localhost",
        "phase components",
        "component shop",
    )
    assert {name: ancestors(spans, name) for name in spans} == {
        book: [],
        cluster: [book],
        phase: [cluster, book],
        shop: [phase, cluster, book],
        "migration shop/move": [shop, phase, cluster, book],
    }
    assert spans[book].parent == PARENT
    assert {span.trace for span in spans.values()} == {TRACE}
    assert playbooks.traceparent == f"00-{TRACE}-{PARENT}-01"
    # Times, to the millisecond: 13:00:10.250 and so on.
    start = 1_795_266_010 * SECOND
    at = {name: ((span.start - start) / SECOND, (span.end - start) / SECOND) for name, span in spans.items()}
    assert at[shop] == (0.25, 4.75)
    assert at["migration shop/move"] == (1.0, 2.0)
    assert at[phase] == at[cluster] == (0.0, 5.0)
    assert abs(spans[book].end / SECOND - time.time()) < 60
    assert spans[shop].attributes == {
        "kyma.cluster": "localhost",
        "kyma.kind": "component",
        "kyma.name": "shop",
        "kyma.state": "failed",
        "kyma.run": "r1",
        "kyma.version": "2.11",
    }
    assert {name: span.error for name, span in spans.items()} == {
        book: "a host has failed or was unreachable",
        cluster: "component shop: Deployment shop: no room",
        phase: "component shop: Deployment shop: no room",
        shop: "Deployment shop: no room",
        "migration shop/move": None,
    }
    resource = spans[book].resource
    assert (resource["service.name"], resource["team"]) == ("rollout", "kyma")
    assert {one["authorization"] for one in collector.headers} == {"Bearer abc"}


def test_a_row_without_times_ends_with_its_task_and_the_trace_is_passed_on(
    playbooks: Playbooks, collector: Collector
) -> None:
    row = {"kind": "component", "name": "shop", "state": "succeeded", "seconds": 1.5}
    began = time.time_ns()
    outcome = playbooks.run({"durations": [row]}, pause=2)
    assert outcome.returncode == 0, outcome.stdout
    spans = collector.by_name()
    book, shop = spans["playbook site.yml"], spans["component shop"]
    assert shop.end - shop.start == 1.5 * SECOND
    assert began <= book.start <= shop.start <= shop.end <= book.end <= time.time_ns()
    assert {span.error for span in spans.values()} == {None}
    assert {span.trace for span in spans.values()} == {book.trace}
    assert (book.parent, book.resource["service.name"]) == ("", "ansible")
    # A callback that Ansible loads after this one joins the trace.
    assert playbooks.traceparent.startswith(f"00-{book.trace}-{book.id}-0")


@pytest.mark.parametrize("variable", cases([""], ["OTEL_SDK_DISABLED=true", "OTEL_TRACES_EXPORTER=none"]))
def test_without_a_wish_nothing_is_sent_or_changed(
    playbooks: Playbooks, collector: Collector, variable: str
) -> None:
    if variable:
        name, value = variable.split("=")
        playbooks.environment[name] = value
    else:
        del playbooks.environment["OTEL_EXPORTER_OTLP_ENDPOINT"]
    outcome = playbooks.run(WORKED)
    assert (outcome.returncode, outcome.stderr) == (0, "")
    assert (collector.spans, playbooks.traceparent) == ([], "")


@pytest.mark.parametrize(
    "fault", cases(["it hangs"], ["nobody listens", "it refuses", "grpc", "a bad setting"])
)
def test_a_collector_that_is_away_costs_one_warning_and_a_few_seconds(
    playbooks: Playbooks, collector: Collector, fault: str
) -> None:
    if fault == "nobody listens":
        playbooks.environment["OTEL_EXPORTER_OTLP_ENDPOINT"] = "http://127.0.0.1:1"
    elif fault == "it hangs":
        collector.delay = 30
    elif fault == "it refuses":
        collector.status = 403
    elif fault == "grpc":
        playbooks.environment["OTEL_EXPORTER_OTLP_PROTOCOL"] = "grpc"
    else:
        playbooks.environment["OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT"] = "many"
    outcome = playbooks.run(WORKED)
    assert outcome.returncode == 0, outcome.stdout
    assert outcome.stderr.count("WARNING") == 1, outcome.stderr
    warning = " ".join(outcome.stderr.split())
    assert "The OpenTelemetry spans of OTEL_EXPORTER_OTLP_ENDPOINT were not sent:" in warning
    expected = {
        "nobody listens": "Connection refused",
        "it hangs": "timed out" if "timed out" in warning else "has not answered within 5 s",
        "it refuses": "403",
        "grpc": "OTEL_EXPORTER_OTLP_PROTOCOL is grpc, and this callback sends by http/protobuf only",
        "a bad setting": "ValueError",
    }
    assert expected[fault] in warning
    assert "Traceback" not in outcome.stderr


def test_without_the_libraries_one_warning_says_what_to_install(
    playbooks: Playbooks, collector: Collector, tmp_path: Path
) -> None:
    # A package of that name that has nothing in it.
    (tmp_path / "empty" / "opentelemetry").mkdir(parents=True)
    (tmp_path / "empty" / "opentelemetry" / "__init__.py").touch()
    playbooks.environment["PYTHONPATH"] = str(tmp_path / "empty")
    outcome = playbooks.run(WORKED)
    assert (outcome.returncode, outcome.stderr.count("WARNING")) == (0, 1), outcome.stderr
    warning = " ".join(outcome.stderr.split())
    assert "pip install opentelemetry-sdk opentelemetry-exporter-otlp-proto-http" in warning
    assert collector.spans == []
