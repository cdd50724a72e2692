# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A release that has the collection's own objects is refused, with the file and the line of each of them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import ReleaseRequest
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.release_error import ReleaseError
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.runs import RUN
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.loader import load_release

from tests.support.small_release import NAMESPACE, Object, SmallRelease, config_map

LEASE: Object = {
    "apiVersion": "coordination.k8s.io/v1",
    "kind": "Lease",
    "metadata": {"name": "deployment", "namespace": "kyma-lifecycle"},
    "spec": {"holderIdentity": "a backup's"},
}
BELONGS = "belongs to the collection kyma.lifecycle itself"


def refusal(root: Path) -> list[str]:
    """What is wrong with a release, by line."""
    with pytest.raises(ReleaseError) as caught:
        load_release(ReleaseRequest(str(root)))
    return [str(problem) for problem in caught.value.problems]


def test_every_form_is_found_and_all_are_named_at_once(tmp_path: Path) -> None:
    made = SmallRelease(tmp_path / "r")
    nameless = {**LEASE, "metadata": {"name": "deployment"}}
    listed = {"apiVersion": "v1", "kind": "List", "items": [config_map("c"), LEASE]}
    made.component("plain", config_map("a"), LEASE)
    made.component("in-a-list", listed)
    made.component("by-its-component", nameless, namespace="kyma-lifecycle")
    made.component("elsewhere", nameless)
    made.component(
        "old", {"apiVersion": "lifecycle.kyma-project.io/v1", "kind": "KymaRun", "metadata": {"name": "r"}}
    )
    job = {
        "apiVersion": "lifecycle.kyma-project.io/v1",
        "kind": "ScheduledJob",
        "metadata": {"name": "j"},
    }
    made.component("job", job)
    journal = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "r-1"},
        "type": "lifecycle.kyma-project.io/journal",
    }
    made.component("journal", journal)
    approval = {
        "apiVersion": "lifecycle.kyma-project.io/v1",
        "kind": "KymaApproval",
        "metadata": {"name": "rest"},
    }
    made.component("approval", approval)
    made.component(
        "approver",
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": "any"},
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": "kyma-lifecycle-approver",
            },
        },
    )
    crds = made.folder / "crds"
    crds.mkdir()
    (crds / "runs.yaml").write_text(json.dumps(RUN.definition))
    lines = refusal(made.folder)
    places = [one.split(": ")[0] for one in lines if BELONGS in one or "the right to approve a ring" in one]
    assert {one.removeprefix(f"{tmp_path}/") for one in places} == {
        "r/components.yaml:1",
        "r/plain/all.yaml:3",
        "r/in-a-list/all.yaml:1",
        "r/by-its-component/all.yaml:1",
        "r/old/all.yaml:1",
        "r/job/all.yaml:1",
        "r/journal/all.yaml:1",
        "r/approval/all.yaml:1",
        "r/approver/all.yaml:1",
        "r/crds/runs.yaml:1",
    }, lines
    assert len(lines) == len(places) == 10
    assert sum("Lease kyma-lifecycle/deployment belongs" in one for one in lines) == 3
    assert any("only the task kyma.lifecycle.stored_job writes stored jobs" in one for one in lines)


@pytest.mark.skipif(shutil.which("helm") is None, reason="needs helm")
def test_a_chart_names_its_template(tmp_path: Path) -> None:
    made = SmallRelease(tmp_path / "r")
    meta = "{name: x, namespace: kyma-{{ .Values.a }}}"
    lease = f"apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {meta}\n"
    made.chart("c", "a: lifecycle\n", lease=lease)
    (problem,) = refusal(made.folder)
    assert problem.startswith(f"{tmp_path}/r/c/templates/lease.yaml"), problem
    assert BELONGS in problem


def test_objects_similar_to_ours_are_read(tmp_path: Path) -> None:
    made = SmallRelease(tmp_path / "r")
    errand = {"apiVersion": "lifecycle.kyma-project.io/v1", "kind": "Errand", "metadata": {"name": "e"}}
    made.component("a", errand, {**LEASE, "metadata": {"name": "deployment"}})
    release = load_release(ReleaseRequest(str(made.folder)))
    assert [one["kind"] for one in release.content["a"].objects] == ["Errand", "Lease"]
    assert release.components[0].namespace == NAMESPACE
