# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration of kwok: its own stages for nodes, pods and volumes, and ours for failures.

The stages of kwok are in the Go module cache. Its stages for pods get two changes: pods of our stages are
excluded, and annotations can delay them.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

STAGES_OF_KWOK = (
    "node/fast/node-initialize.yaml",
    "node/heartbeat-with-lease/node-heartbeat-with-lease.yaml",
    "pod/fast/pod-ready.yaml",
    "pod/fast/pod-complete.yaml",
    "pod/fast/pod-delete.yaml",
    "volume/fast/pv-bind.yaml",
    "volume/fast/pv-delete.yaml",
    "volume/fast/pvc-provision.yaml",
    "volume/fast/pvc-delete.yaml",
)
STORAGE_CLASS = "volume/fast/storage-class.yaml"

# Pods whose images come from here never run well; README.md has the effect of each registry.
BAD_REGISTRIES = ("broken.invalid/", "crashing.invalid/", "failing.invalid/")
DELAYS = {"pod-ready": "kyma.local/ready-after", "pod-complete": "kyma.local/run-for"}

Stage = dict[str, Any]


def write(kwok_source: Path, own: Iterable[Path], target: Path) -> None:
    """Write kwok's configuration and the storage class."""
    folder = kwok_source / "kustomize" / "stage"
    stages = [adapted(yaml.safe_load((folder / name).read_text(encoding="utf-8"))) for name in STAGES_OF_KWOK]
    for file in own:
        stages += [stage for stage in yaml.safe_load_all(file.read_text(encoding="utf-8")) if stage]
    target.mkdir(parents=True, exist_ok=True)
    (target / "stages.yaml").write_text(yaml.safe_dump_all(stages, sort_keys=False), encoding="utf-8")
    shutil.copyfile(folder / STORAGE_CLASS, target / "storage-class.yaml")


def complete(target: Path) -> bool:
    """Say whether both files exist."""
    return (target / "stages.yaml").exists() and (target / "storage-class.yaml").exists()


def adapted(stage: Mapping[str, Any]) -> Stage:
    """Leave pods with bad images to our stages, and let an annotation delay this one."""
    name = stage["metadata"]["name"]
    spec = dict(stage["spec"])
    if name not in DELAYS:
        return {**stage, "spec": spec}
    expressions: Sequence[object] = spec["selector"]["matchExpressions"]
    not_ours = [_not_from(registry) for registry in BAD_REGISTRIES]
    spec["selector"] = {"matchExpressions": [*expressions, *not_ours]}
    spec["delay"] = {
        "durationMilliseconds": 0,
        "durationFrom": {"expressionFrom": f'.metadata.annotations["{DELAYS[name]}"]'},
    }
    return {**stage, "spec": spec}


def _not_from(registry: str) -> dict[str, dict[str, str]]:
    images = f"self.spec.containers.exists(c, c.image.startsWith('{registry}'))"
    return {"cel": {"expression": f"!{images}"}}
