# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The deployed objects: a release for us, and the same objects as files and charts for the others."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable
from pathlib import Path

from tests.support.manifests import Manifest, Object, manifests_of

from .charts import Chart, write_charts
from .larger import larger
from .mending import mended

COMPONENT = "tracing"
"""The component that is changed: two Deployments among some twenty objects, as most components have."""
PROFILE = "production"
MARK = "bench.example/revision"

_CLUSTER_WIDE = {
    *("APIService", "ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition", "Namespace"),
    *("MutatingWebhookConfiguration", "PriorityClass", "ValidatingWebhookConfiguration"),
}


class Workload:
    """A release with a multiple of its objects, which can be changed any number of times.

    Attributes:
        release: the release, for us.
        before: a file with the namespaces and CRDs.
        rest: a file with all other objects.
        everything: a file with both.
        rollout: a file with the changed objects.
        charts: the components as charts, in their order.
        count: how many objects there are, without the namespaces.
    """

    def __init__(self, source: Path, folder: Path, copies: int) -> None:
        self.release = larger(source, folder / source.name, copies)
        self.before, self.rest, self.everything, self.rollout = (
            folder / f"{name}.yaml" for name in ("before", "rest", "everything", "rollout")
        )
        self.charts: list[Chart] = []
        self._charts = folder / "charts"
        self._manifests = manifests_of(self.release, PROFILE)
        self.count = len(self._manifests)
        self._revision = 0
        self._write(self._manifests, everything=True)

    def change(self) -> None:
        """Change the pods of one component, so that each of its Deployments rolls out again."""
        self._revision += 1
        self._manifests = [marked(manifest, self._revision) for manifest in self._manifests]
        self._write(self._manifests, everything=False)

    def _write(self, manifests: list[Manifest], *, everything: bool) -> None:
        """Write all files; charts and the parts of the release only if they can have changed."""
        crds = [m.object for m in manifests if m.object["kind"] == "CustomResourceDefinition"]
        before = [*namespaces(manifests), *crds]
        wide = cluster_wide(crds)
        others = [m for m in manifests if m.object["kind"] != "CustomResourceDefinition"]
        rest = [placed(mended(m.object), m.namespace, wide) for m in others]
        _write(self.before, before)
        _write(self.rest, rest)
        _write(self.everything, [*before, *rest])
        changing = [m for m in manifests if is_changing(m)]
        _write(self.rollout, [placed(mended(m.object), m.namespace, wide) for m in changing])
        for component in dict.fromkeys(m.component for m in manifests if m.component):
            if everything or component == COMPONENT:
                self._write_component(component, [m for m in manifests if m.component == component])

    def _write_component(self, component: str, manifests: list[Manifest]) -> None:
        _write(self.release / PROFILE / f"{component}.yaml", [m.object for m in manifests])
        objects = [mended(m.object) for m in manifests if m.object["kind"] != "CustomResourceDefinition"]
        charts = write_charts(component, manifests[0].namespace, objects, self._charts)
        if component not in {chart.component for chart in self.charts}:
            self.charts += charts


def cluster_wide(crds: Iterable[Object]) -> set[str]:
    """The kinds whose objects have no namespace."""
    return _CLUSTER_WIDE | {crd["spec"]["names"]["kind"] for crd in crds if crd["spec"]["scope"] == "Cluster"}


def placed(obj: Object, namespace: str, wide: set[str]) -> Object:
    """The object with its namespace, which charts leave out."""
    if obj["kind"] in wide:
        return obj
    return {**obj, "metadata": {"namespace": namespace, **obj["metadata"]}}


def namespaces(manifests: Iterable[Manifest]) -> list[Object]:
    """The namespaces that objects are in."""
    names = {name for m in manifests for name in (m.namespace, m.object["metadata"].get("namespace")) if name}
    return [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in sorted(names)]


def is_changing(manifest: Manifest) -> bool:
    """Whether this is one of the changed objects."""
    return manifest.component == COMPONENT and manifest.object["kind"] == "Deployment"


def marked(manifest: Manifest, revision: int) -> Manifest:
    """The manifest; if it is one to change, with pods that differ from those of other revisions."""
    if not is_changing(manifest):
        return manifest
    made = copy.deepcopy(manifest.object)
    pod = made["spec"]["template"].setdefault("metadata", {})
    pod["annotations"] = {**(pod.get("annotations") or {}), MARK: str(revision)}
    return Manifest(manifest.component, manifest.namespace, made)


def _write(file: Path, objects: Iterable[Object]) -> None:
    text = "\n---\n".join(json.dumps(obj, ensure_ascii=False) for obj in objects)
    file.write_text(text + "\n", encoding="utf-8")
