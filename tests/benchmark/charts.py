# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Helm charts of a release's rendered manifests."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.integration.playbook.manifests import Manifest, Object, manifests_of

from .running import Place


@dataclass(frozen=True)
class Chart:
    """A component as a chart: its name, where it lies, and where it goes."""

    name: str
    folder: Path
    namespace: str


def charts_of(release: Path, target: Path) -> tuple[list[Object], list[Chart]]:
    """Make a chart of each component; return what has to be there before them, and them in their order."""
    crds: list[Object] = []
    components: dict[str, list[Manifest]] = defaultdict(list)
    for manifest in manifests_of(release, "production"):
        if manifest.object["kind"] == "CustomResourceDefinition":
            crds.append(manifest.object)
        else:
            components[manifest.component].append(manifest)
    charts = [_chart(name, manifests, target / name) for name, manifests in components.items()]
    named = {m.object["metadata"].get("namespace") for found in components.values() for m in found}
    namespaces = sorted({*(chart.namespace for chart in charts), *filter(None, named)})
    return [*map(_namespace, namespaces), *crds], charts


def _chart(name: str, manifests: Sequence[Manifest], folder: Path) -> Chart:
    (folder / "templates").mkdir(parents=True)
    (folder / "Chart.yaml").write_text(f"apiVersion: v2\nname: {name}\nversion: 1.0.0\n", encoding="utf-8")
    for number, manifest in enumerate(manifests):
        text = json.dumps(manifest.object, ensure_ascii=False, indent=1)
        file = folder / "templates" / f"{number:03}.yaml"
        file.write_text(text.replace("{{", '{{ "{{" }}'), encoding="utf-8")
    return Chart(name, folder, manifests[0].namespace)


def _namespace(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def server_side_apply(place: Place, kubeconfig: Path, objects: Sequence[Object]) -> float:
    """Apply objects with kubectl, and wait until the CRDs among them are served; return the seconds."""
    listed = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}, ensure_ascii=False)
    applied = place.run(("kubectl", "apply", "--server-side", "-f", "-"), kubeconfig, stdin=listed)
    waited = place.run(("kubectl", "wait", "--for=condition=Established", "crd", "--all"), kubeconfig)
    return applied.seconds + waited.seconds
