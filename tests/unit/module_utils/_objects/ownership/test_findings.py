# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What others have done to an object, as its managedFields tell it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    FIELD_MANAGER,
    Object,
    ref_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._components.component_work import (
    new_findings,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory_entry import (
    InventoryEntry,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.ownership.findings import (
    DriftOutcome,
    Finding,
    added_by,
    describe_findings,
    finding_keys,
    foreign_findings,
    unexplained,
)

OURS = {
    "f:metadata": {"f:labels": {"f:app": {}}},
    "f:spec": {"f:template": {"f:spec": {"f:containers": {'k:{"name":"main"}': {".": {}, "f:image": {}}}}}},
}


def entry(manager: str, fields: dict[str, Any], subresource: str = "") -> dict[str, Any]:
    common = {"manager": manager, "operation": "Update", "apiVersion": "apps/v1", "time": "t"}
    return {**common, "fieldsV1": fields, **({"subresource": subresource} if subresource else {})}


def deployment(*others: dict[str, Any]) -> Object:
    managers = [{**entry(FIELD_MANAGER, OURS), "operation": "Apply"}, *others]
    meta = {"name": "a", "namespace": "ns", "uid": "u", "managedFields": managers}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta}


REF = ref_of(deployment())
SIDECAR = {
    "f:spec": {
        "f:template": {
            "f:spec": {
                "f:containers": {'k:{"name":"proxy"}': {".": {}, "f:image": {}, "f:ports": {".": {}}}},
                "f:volumes": {".": {}, 'k:{"name":"v"}': {".": {}, "f:emptyDir": {}}},
            }
        }
    }
}


@pytest.mark.parametrize(
    ("other", "outcomes"),
    [
        (
            entry("injector", SIDECAR),
            {
                'spec.template.spec.containers[name="proxy"]': DriftOutcome.RETAINED,
                'spec.template.spec.volumes[name="v"]': DriftOutcome.RETAINED,
            },
        ),
        (
            entry("kubectl-label", {"f:metadata": {"f:labels": {"f:app": {}, "f:team": {}}}}),
            {"metadata.labels.team": DriftOutcome.RETAINED},
        ),
        (
            entry("kubectl-annotate", {"f:metadata": {"f:annotations": {".": {}, "f:example.com/a": {}}}}),
            {"metadata.annotations.example.com/a": DriftOutcome.RETAINED},
        ),
        (entry("kubectl", {"f:spec": {"f:replicas": {}}}, "scale"), {"spec.replicas": DriftOutcome.CEDED}),
        (
            entry("kube-controller-manager", {"f:spec": {"f:replicas": {}}}, "scale"),
            {"spec.replicas": DriftOutcome.CEDED},
        ),
        (entry("keda", {"f:spec": {"f:replicas": {}}}), {"spec.replicas": DriftOutcome.CEDED}),
        (entry("operator", {"f:status": {"f:phase": {}}}), {}),
        (entry("operator", {"f:metadata": {"f:annotations": {"f:x": {}}}}, "status"), {}),
        (entry("operator", {"f:metadata": {"f:finalizers": {'v:"example.com/f"': {}}}}), {}),
        (entry("operator", {"f:metadata": {"f:ownerReferences": {'k:{"uid":"1"}': {".": {}}}}}), {}),
        (
            entry("kube-controller-manager", {"f:metadata": {"f:annotations": {"f:revision": {}}}}),
            {},
        ),
        (entry("twin", OURS), {}),
        (entry("kubectl-label", {"f:metadata": {"f:labels": {".": {}}}}), {}),
        (entry("before-first-apply", SIDECAR), {}),
        (
            entry(
                "provisioner",
                {
                    "f:metadata": {"f:annotations": {".": {}, "f:pv.kubernetes.io/bind-completed": {}}},
                    "f:spec": {"f:volumeName": {}},
                },
            ),
            {},
        ),
    ],
)
def test_fields_of_others_are_reported_by_their_topmost_field(
    other: dict, outcomes: dict[str, DriftOutcome]
) -> None:
    findings = foreign_findings(deployment(other))
    assert {one.field: one.outcome for one in findings} == outcomes
    assert {one.time for one in findings} <= {"t"}


def test_an_object_that_is_ours_alone_has_no_finding() -> None:
    assert foreign_findings(deployment()) == []
    assert foreign_findings({**deployment(), "metadata": {"name": "a", "namespace": "ns"}}) == []


def test_a_ceded_field_is_not_reported_again_as_added() -> None:
    other = entry("operator", {"f:spec": {"f:paused": {}, "f:strategy": {"f:type": {}}}})
    ceded = [Finding(REF, "spec.strategy", "operator", "t", DriftOutcome.CEDED)]
    findings = foreign_findings(deployment(other), ceded)
    assert [(one.field, one.outcome) for one in findings] == [
        ("spec.strategy", DriftOutcome.CEDED),
        ("spec.paused", DriftOutcome.RETAINED),
    ]


def test_an_added_field_includes_all_fields_below_it_but_no_replicas() -> None:
    fields = {**SIDECAR, "f:metadata": {"f:labels": {"f:app": {}}}}
    fields["f:spec"] = {**SIDECAR["f:spec"], "f:replicas": {}}
    managers = deployment(entry("injector", fields))["metadata"]["managedFields"]
    added = added_by(managers[1], managers)
    container = ("f:spec", "f:template", "f:spec", "f:containers", 'k:{"name":"proxy"}')
    assert {container, (*container, "f:image")} <= added
    assert ("f:spec", "f:replicas") not in added
    assert ("f:metadata", "f:labels", "f:app") not in added
    assert added_by(managers[0], managers) == frozenset()


def test_an_added_field_includes_the_map_that_was_created_for_it() -> None:
    labels = {"f:metadata": {"f:labels": {".": {}, "f:team": {}}, "f:annotations": {".": {}}}}
    managers = deployment(entry("kubectl-label", labels))["metadata"]["managedFields"]
    added = added_by(managers[1], managers)
    assert {("f:metadata", "f:labels"), ("f:metadata", "f:labels", "f:team")} <= added


def test_a_change_without_an_owner_is_reported_without_a_name() -> None:
    taken = Finding(REF, 'spec.containers[name="main"].image', "kubectl-edit", "t", DriftOutcome.RESTORED)
    fields = ["spec.containers[main].image", "metadata.labels.app"]
    findings = unexplained(REF, fields, [taken])
    assert [(one.field, one.manager) for one in findings] == [("metadata.labels.app", "")]
    assert str(findings[0]) == (
        "Deployment ns/a: metadata.labels.app was changed or removed, by whom is not recorded; it is restored"
    )
    assert str(replace(findings[0], field="")) == (
        "Deployment ns/a: deleted, by whom is not recorded; it is restored"
    )


def test_only_new_findings_and_restored_fields_are_reported() -> None:
    retained = Finding(REF, "metadata.labels.team", "kubectl-label", "t", DriftOutcome.RETAINED)
    ceded = Finding(REF, "spec.replicas", "hpa (scale)", "t", DriftOutcome.CEDED)
    restored = Finding(REF, "metadata.labels.app", "kubectl-label", "t", DriftOutcome.RESTORED)
    all_of_them = [retained, ceded, restored]
    known = InventoryEntry(
        "apps/v1",
        REF,
        ceded=finding_keys(all_of_them, REF, DriftOutcome.CEDED),
        added=finding_keys(all_of_them, REF, DriftOutcome.RETAINED),
    )
    assert new_findings(all_of_them, {}) == all_of_them
    assert new_findings(all_of_them, {REF: known}) == [restored]
    assert new_findings([replace(retained, manager="another")], {REF: known}) == [
        replace(retained, manager="another")
    ]


def test_objects_that_are_taken_over_are_reported_in_one_sentence() -> None:
    one = Finding(REF, "", "helm", "t", DriftOutcome.ADOPTED)
    other = replace(one, ref=REF._replace(name="b"))
    assert describe_findings([one, other]) == ["2 objects were written by helm before; they are taken over"]
    assert describe_findings([one]) == [
        "Deployment ns/a: written by helm (t) before; it is taken over with all that was written so"
    ]
