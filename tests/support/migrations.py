# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Shared parts of the tests of migrations: a setting, a record of the progress, and custom migrations."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.results import EngineSettings
from ansible_collections.kyma.lifecycle.plugins.module_utils._progress import Step
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    Context,
    Migration,
    Phase,
    Verdict,
    needed,
    not_needed,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)


@dataclass
class Observer:
    """The reported progress, as ``(subject, state, detail)``, and the cancellation."""

    lines: list[tuple[str, str, str]] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)

    def progress(self, subject: str, state: str, detail: str = "", _step: Step | None = None) -> None:
        self.lines.append((subject, state, detail))

    def cancelled(self) -> bool:
        return bool(self.reasons) or self.stop.is_set()


def setting(cluster: Cluster | None = None, observer: Observer | None = None, **more: Any) -> EngineSettings:
    """A setting on an empty in-memory cluster, unless another one is given."""
    observer = observer or Observer()
    values: dict[str, Any] = {
        "cluster": cluster or MemoryCluster(),
        "components": {},
        "release": "2.9",
        "progress": observer.progress,
        "cancelled": observer.cancelled,
        "cancel": observer.reasons.append,
    }
    return EngineSettings(**{**values, **more})


def config_map(name: str, **data: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "default"},
        "data": data,
    }


class MarksAnObject(Migration):
    """Creates a ConfigMap with its own name: needed as long as there is none."""

    component = "logging"
    phase = Phase.PRE
    remove_in = "9.9"
    timeout = 10.0

    def check(self, ctx: Context) -> Verdict:
        name = self.id().rpartition("/")[2]
        if ctx.cluster.get("v1", "ConfigMap", name, "default"):
            return not_needed(f"ConfigMap default/{name} is there")
        return needed(f"there is no ConfigMap default/{name}")

    def run(self, ctx: Context) -> None:
        ctx.cluster.apply(config_map(self.id().rpartition("/")[2]))


def migration(
    name: str,
    *,
    check: Callable[[Context], Verdict] | None = None,
    run: Callable[[Context], None] | None = None,
    **attributes: Any,
) -> type[Migration]:
    """A migration ``logging/<name>``; missing values are as in :class:`MarksAnObject`."""
    # The place of an error is reported if its frame is outside the migration's own file: in the test.
    caller = sys._getframe(1).f_globals["__name__"]
    body: dict[str, Any] = {"name": name, "__doc__": f"Brings about {name}.", "__module__": caller}
    body.update(attributes)
    if check:
        body["check"] = lambda _self, ctx: check(ctx)
    if run:
        body["run"] = lambda _self, ctx: run(ctx)
    return type(name.title().replace("-", ""), (MarksAnObject,), body)
