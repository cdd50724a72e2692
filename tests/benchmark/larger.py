# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A release with a multiple of the objects of a real one, of the same kinds."""

from __future__ import annotations

import copy
import json
import shutil
from collections import defaultdict
from pathlib import Path

from tests.support.manifests import Object, manifests_of

ONLY_ONCE = ("APIService", "CustomResourceDefinition", "Namespace")
WORKLOADS = ("DaemonSet", "Deployment", "StatefulSet")
COPY = "bench.example/copy"
"""A label that tells the pods of copies apart."""


def larger(release: Path, target: Path, copies: int) -> Path:
    """Write a release that has each object of another one this many times, under other names; return it."""
    objects: dict[str, list[Object]] = defaultdict(list)
    for manifest in manifests_of(release, "production"):
        if manifest.component:
            objects[manifest.component] += _copies(manifest.object, copies)
    (target / "production").mkdir(parents=True)
    shutil.copytree(release / "crds", target / "crds")
    shutil.copy(release / "components.yaml", target)
    for component, copied in objects.items():
        text = "\n---\n".join(json.dumps(obj, ensure_ascii=False) for obj in copied)
        (target / "production" / f"{component}.yaml").write_text(text, encoding="utf-8")
    return target


def _copies(original: Object, copies: int) -> list[Object]:
    if original["kind"] in ONLY_ONCE:
        return [original]
    return [original, *(_copy(original, number) for number in range(2, copies + 1))]


def _copy(original: Object, number: int) -> Object:
    made = copy.deepcopy(original)
    made["metadata"]["name"] += f"-{number}"
    if made["kind"] == "Service":
        for port in made["spec"].get("ports") or ():
            port.pop("nodePort", None)
        if made["spec"].get("selector"):
            made["spec"]["selector"][COPY] = str(number)
    if made["kind"] in WORKLOADS:  # or the pods of one copy would match every copy
        made["spec"]["selector"]["matchLabels"][COPY] = str(number)
        made["spec"]["template"]["metadata"]["labels"][COPY] = str(number)
    pod = ((made.get("spec") or {}).get("template") or {}).get("spec") or {}
    pod.pop("hostNetwork", None)  # a node has each of its ports only once
    for container in pod.get("containers") or ():
        for port in container.get("ports") or ():
            port.pop("hostPort", None)
    if made["kind"] == "HorizontalPodAutoscaler":
        made["spec"]["scaleTargetRef"]["name"] += f"-{number}"
    return made
