# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the benchmark deploys."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.benchmark import charts
from tests.benchmark.charts import write_charts
from tests.benchmark.larger import COPY
from tests.benchmark.mending import mended
from tests.benchmark.workload import COMPONENT, MARK, Workload


def config_map(name: str, text: str = "") -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"text": text}}


def deployment(name: str) -> dict[str, Any]:
    pod = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [{"name": "main", "image": "x"}]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {"selector": {"matchLabels": {"app": name}}, "template": pod},
    }


@pytest.fixture
def release(tmp_path: Path) -> Path:
    folder = tmp_path / "2.9"
    (folder / "production").mkdir(parents=True)
    (folder / "crds" / "a").mkdir(parents=True)
    components = {
        "prerequisites": [{"name": "first", "namespace": "elsewhere"}],
        "components": [{"name": COMPONENT}],
    }
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "wides.example.com"},
        "spec": {"scope": "Cluster", "names": {"kind": "Wide"}},
    }
    wide = {"apiVersion": "example.com/v1", "kind": "Wide", "metadata": {"name": "one"}}
    (folder / "components.yaml").write_text(json.dumps(components))
    (folder / "crds" / "a" / "crd.yaml").write_text(json.dumps(crd))
    (folder / "production" / "first.yaml").write_text(yaml.safe_dump_all([config_map("one"), wide]))
    (folder / "production" / f"{COMPONENT}.yaml").write_text(yaml.safe_dump_all([deployment("web")]))
    return folder


def objects(file: Path) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(file.read_text()))


def marks(file: Path) -> list[str | None]:
    return [
        (obj["spec"]["template"]["metadata"].get("annotations") or {}).get(MARK)
        for obj in objects(file)
        if obj["kind"] == "Deployment"
    ]


def test_all_tools_get_the_same_objects(release: Path, tmp_path: Path) -> None:
    workload = Workload(release, tmp_path / "work", copies=1)
    names = [(obj["kind"], obj["metadata"].get("namespace")) for obj in objects(workload.everything)]
    assert names == [
        ("Namespace", None),
        ("Namespace", None),
        ("CustomResourceDefinition", None),
        ("ConfigMap", "elsewhere"),
        ("Wide", None),
        ("Deployment", "kyma-system"),
    ]
    assert workload.count == 4
    assert objects(workload.everything) == objects(workload.before) + objects(workload.rest)
    templates = [file for chart in workload.charts for file in (chart.folder / "templates").iterdir()]
    assert len(templates) == 3
    assert [(chart.name, chart.namespace) for chart in workload.charts] == [
        ("first", "elsewhere"),
        (COMPONENT, "kyma-system"),
    ]


def test_a_large_release_has_copies(release: Path, tmp_path: Path) -> None:
    workload = Workload(release, tmp_path / "work", copies=10)
    assert workload.count == 1 + 3 * 10
    assert len(workload.charts) == 2
    selectors = [one["spec"]["selector"]["matchLabels"] for one in objects(workload.rollout)]
    assert [one.get(COPY) for one in selectors] == [None, *map(str, range(2, 11))]


def test_a_change_concerns_one_component_everywhere(release: Path, tmp_path: Path) -> None:
    workload = Workload(release, tmp_path / "work", copies=2)
    changed = workload.release / "production" / f"{COMPONENT}.yaml"
    unchanged = (workload.release / "production" / "first.yaml").read_bytes()
    template = workload.charts[1].folder / "templates" / "0000.yaml"
    assert marks(changed) == [None, None]
    for revision in "12":
        workload.change()
        for file in (changed, workload.rest, workload.everything, workload.rollout):
            assert marks(file) == [revision, revision]
        assert marks(template) == [revision]
    assert (workload.release / "production" / "first.yaml").read_bytes() == unchanged
    assert len(workload.charts) == 2


def test_a_component_too_large_for_one_helm_release_is_several(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(charts, "LARGEST", 3000)
    made = write_charts("a", "ns", [config_map(f"c{number}", "x" * 1000) for number in range(5)], tmp_path)
    assert [chart.name for chart in made] == ["a", "a-part-2", "a-part-3"]
    assert {chart.component for chart in made} == {"a"}
    counts = [len(list((chart.folder / "templates").iterdir())) for chart in made]
    assert counts == [2, 2, 1]


def test_text_that_looks_like_a_helm_template_stays_text(tmp_path: Path) -> None:
    (chart,) = write_charts("a", "ns", [config_map("c", "{{ name }}")], tmp_path)
    assert '{{ "{{" }} name }}' in (chart.folder / "templates" / "0000.yaml").read_text()


def test_fields_that_other_tools_reject_are_mended_in_a_copy() -> None:
    web = deployment("web")
    container = web["spec"]["template"]["spec"]["containers"][0]
    container["env"] = [{"name": "A", "value": "1"}, {"name": "B"}, {"name": "A", "value": "2"}]
    made = mended(web)
    assert made["spec"]["template"]["spec"]["containers"][0]["env"] == [
        {"name": "A", "value": "2"},
        {"name": "B"},
    ]
    assert len(container["env"]) == 3
    assert mended({"kind": "ClusterRole", "aggregationRule": {}, "rules": []}) == {
        "kind": "ClusterRole",
        "aggregationRule": {},
    }
    assert mended({"kind": "ServiceMonitor", "spec": {"path": "/", "endpoints": []}}) == {
        "kind": "ServiceMonitor",
        "spec": {"endpoints": []},
    }
    assert mended(config_map("a", "fine \N{ROCKET} é"))["data"]["text"] == "fine ? é"
