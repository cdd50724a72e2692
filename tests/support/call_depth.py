# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How deep a task is where it writes an object: frames of our code, and the files that they are in.

``python -m tests.support.call_depth`` prints a line for each of four tasks. It needs no cluster.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, Event
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_definition import ERRAND_KINDS
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import errand
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.driver import config_map, deployer, release
from tests.support.memory_modules import user
from tests.support.task_call import call_task, to

OURS = "/plugins/module_utils/"
SERVER = ("/_dry_run/", "/_migration_testing/")
"""What stands for the API server here."""
TEMPLATE = {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "busybox"}]}}}}


def depth_of(task: str, cluster: MemoryCluster, kind: str, work: Callable[[], Any]) -> tuple[int, int]:
    """The frames and the files between a task and its first write of an object of a kind."""
    paths: list[list[str]] = []

    def note(_cluster: Cluster, event: Event) -> None:
        frames = traceback.extract_stack()
        starts = [at for at, frame in enumerate(frames) if frame.filename.endswith(f"/_tasks/{task}.py")]
        if event.object["kind"] == kind and starts and not paths:
            path = [frame.filename for frame in frames[starts[0] :] if OURS in frame.filename]
            ends = (at for at, file in enumerate(path) if any(one in file for one in SERVER))
            paths.append(path[: next(ends, len(path))])

    cluster.on_write(note)
    work()
    [path] = paths
    return len(path), len(set(path))


def main() -> None:
    """Print what was measured."""
    of_component = deployer(release("2.9", {"shop": [config_map("shop")]}))
    of_deletion = deployer(release("2.9", {"shop": [config_map("shop")]}))
    of_deletion.deploy()
    of_module, of_errand = user(), MemoryCluster()
    ERRAND_KINDS.install(of_errand)
    options = {"name": "backup", "namespace": "default", "template": TEMPLATE, "wait": False}

    def write_errand() -> None:
        call_task(errand.DEFINITION, options, to(of_errand))

    for task, cluster, kind, work in (
        ("component", of_component.cluster, "ConfigMap", of_component.deploy),
        ("component", of_deletion.cluster, "ConfigMap", of_deletion.delete),
        ("module", of_module.cluster, "Deployment", of_module.manage),
        ("errand", of_errand, "Errand", write_errand),
    ):
        assert isinstance(cluster, MemoryCluster)
        frames, files = depth_of(task, cluster, kind, work)
        print(f"{task}, {kind}: {frames} frames in {files} files")


if __name__ == "__main__":
    main()
