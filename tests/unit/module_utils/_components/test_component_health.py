# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which objects of components a plan judges, which are unhealthy, and since when all are healthy."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object, Ref, ref_of
from ansible_collections.kyma.lifecycle.plugins.module_utils._components.component_health import (
    has_health,
    health_warnings,
    observed_health,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory import Inventory
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory_entry import (
    InventoryEntry,
    entry_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._result_codec import to_result

GROUP = "operator.kyma-project.io/v1"
READY = {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-02T00:00:00Z"}


def workload(name: str, ready: int = 1, replicas: int = 1, **spec: Any) -> Object:
    """A Deployment that its controller has seen, and that has been available since the first of January."""
    available = "True" if ready >= replicas else "False"
    counts = dict.fromkeys(("readyReplicas", "availableReplicas"), ready)
    condition = {"type": "Available", "status": available, "lastTransitionTime": "2026-01-01T00:00:00Z"}
    status = {"observedGeneration": 1, "replicas": replicas, "updatedReplicas": replicas, **counts}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "shop", "generation": 1, "uid": name},
        "spec": {"replicas": replicas, **spec},
        "status": {**status, "conditions": [condition]},
    }


def custom(*conditions: dict[str, str], **status: Any) -> Object:
    meta = {"name": "default", "namespace": "shop", "uid": "c"}
    return {
        "apiVersion": GROUP,
        "kind": "Serverless",
        "metadata": meta,
        "status": {**status, "conditions": [*conditions]},
    }


def inventory(*objects: Object, owner: str = "checkout", **marks: Any) -> Inventory:
    return Inventory(owner, entries=tuple(entry_of(obj)._replace(**marks) for obj in objects))


def live(*objects: Object) -> dict[Ref, Object]:
    return {ref_of(obj): obj for obj in objects}


def problems(*objects: Object, **marks: Any) -> list[str]:
    return [str(one) for one in observed_health([inventory(*objects, **marks)], live(*objects)).problems]


def since(*objects: Object) -> str:
    return observed_health([inventory(*objects)], live(*objects)).since


def test_a_deployment_without_its_replicas_is_named_with_its_component_and_the_reason() -> None:
    [problem] = observed_health(
        [inventory(workload("web", ready=0))], live(workload("web", ready=0))
    ).problems
    assert to_result(problem) == {
        "component": "checkout",
        "object": "Deployment shop/web",
        "reason": "0 of 1 replicas are available",
    }


@pytest.mark.parametrize(
    "obj",
    [
        workload("web"),
        workload("scaled-down", ready=0, replicas=0),
        custom(READY, state="Ready"),
        custom(state="Warning"),
    ],
)
def test_an_object_that_a_run_would_not_wait_for_is_healthy(obj: Object) -> None:
    assert problems(obj) == []


def test_a_paused_rollout_is_healthy_while_the_old_replicas_are_available() -> None:
    held = workload("web", paused=True)
    held["status"]["updatedReplicas"] = 0
    assert problems(held) == []
    assert len(problems(workload("web", ready=0, paused=True))) == 1


def test_an_operator_in_error_is_a_problem() -> None:
    reason = "checkout: Serverless shop/default is not healthy: its status.state is Error: no registry"
    assert problems(custom(READY, state="Error", description="no registry")) == [reason]


@pytest.mark.parametrize("marks", [{"dropped": True}, {"ref": Ref("apps", "Deployment", "shop", "other")}])
def test_an_object_that_the_release_no_longer_has_or_that_is_gone_is_not_judged(
    marks: dict[str, Any],
) -> None:
    assert problems(workload("web", ready=0), **marks) == []


def test_an_object_of_which_only_the_metadata_was_read_is_not_judged() -> None:
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "j", "namespace": "shop", "uid": "j"},
    }
    assert problems(job) == []


@pytest.mark.parametrize(
    ("api_version", "kind", "judged"),
    [
        ("apps/v1", "Deployment", True),
        ("apps/v1", "StatefulSet", True),
        ("apps/v1", "DaemonSet", True),
        ("apiregistration.k8s.io/v1", "APIService", True),
        (GROUP, "Serverless", True),
        ("apps/v1", "ControllerRevision", False),
        ("v1", "Pod", False),
        ("v1", "Service", False),
        ("batch/v1", "Job", False),
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition", False),
        ("v1", "ConfigMap", False),
    ],
)
def test_only_kinds_whose_lists_are_short_are_read_in_full(
    api_version: str, kind: str, *, judged: bool
) -> None:
    assert has_health(api_version, kind) is judged


def test_the_newest_change_to_ready_or_available_counts() -> None:
    objects = (
        workload("web"),
        custom(READY, {**READY, "type": "Synced", "lastTransitionTime": "2027-01-01T00:00:00Z"}),
    )
    assert since(*objects) == "2026-01-02T00:00:00Z"
    assert since(*objects[:1]) == "2026-01-01T00:00:00Z"
    assert since() == ""


@pytest.mark.parametrize("text", ["zzzz", "", "9999", "2027-01-01T00:00:00+02:00"])
def test_a_time_that_kubernetes_does_not_write_does_not_count(text: str) -> None:
    objects = (workload("web"), custom({**READY, "lastTransitionTime": text}))
    assert since(*objects) == "2026-01-01T00:00:00Z"


def test_the_end_of_health_is_no_time_of_health() -> None:
    broken = workload("web", ready=0)
    assert since(broken) == ""


def test_problems_are_in_the_order_of_components_and_many_are_counted() -> None:
    objects = [workload(f"web-{number}", ready=0) for number in range(7)]
    shown = observed_health(
        [inventory(*objects), inventory(*objects[:1], owner="a")], live(*objects)
    ).problems
    warnings = health_warnings(shown)
    assert warnings[0] == "a: Deployment shop/web-0 is not healthy: 0 of 1 replicas are available"
    assert warnings[5:] == ["and 3 more objects are not healthy"]
    assert health_warnings([]) == []


def test_an_entry_recorded_in_another_version_is_judged_as_it_is_served() -> None:
    entry = InventoryEntry("operator.kyma-project.io/v1alpha1", ref_of(custom()))
    health = observed_health([Inventory("a", entries=(entry,))], live(custom(state="Error")))
    assert len(health.problems) == 1
