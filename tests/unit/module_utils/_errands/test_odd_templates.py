# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Templates of any shape, which the definition lets in: each is refused, and hinders no other errand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import API_VERSION, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_definition import ERRAND_RESOURCE
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_model import (
    KIND,
    ErrandKey,
    ErrandPhase,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_steps import Decision
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.reconciler import (
    Reconciled,
    Reconciler,
    read_index,
    reconcile_all,
    rehearse_all,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

MAIN = {"name": "main", "image": "busybox"}


def pod(**spec: Any) -> Object:
    return {"spec": {"template": {"spec": {"containers": [MAIN], **spec}}}}


def errand(name: str, template: Any) -> Object:
    spec = {"trigger": {"strategy": "once"}, "template": template}
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": name, "namespace": "default"},
        "spec": spec,
    }


@pytest.mark.parametrize(
    "template",
    [
        {"spec": 1},
        {"spec": {"template": "text"}},
        {"spec": {"template": {"spec": []}}},
        pod(containers="text"),
        pod(containers=[1, None]),
        pod(containers=[{}]),
    ],
    ids=str,
)
def test_a_template_of_another_shape_is_refused_and_other_errands_go_on(template: Any) -> None:
    cluster = MemoryCluster(ERRAND_RESOURCE.definition)
    for one in (errand("odd", template), errand("sound", pod())):
        cluster.create(one)
    index = read_index(cluster)
    done, failures = reconcile_all(Reconciler(cluster, index), index.keys())
    assert failures == []
    phases = {one.key.name: one.status.phase for key in sorted(index.keys()) if (one := index.errand(key))}
    assert phases == {"odd": ErrandPhase.REFUSED, "sound": ErrandPhase.RUNNING}
    assert len(done) == 2


@pytest.mark.parametrize(
    "template",
    [
        {"metadata": [], **pod()},
        pod(volumes=[None, {"name": 1}]),
        pod(containers=[{**MAIN, "env": 5, "envFrom": [2]}]),
        pod(initContainers={"a": 1}, imagePullSecrets=[4]),
    ],
    ids=str,
)
def test_a_template_that_only_the_server_can_judge_hinders_no_other_errand(template: Any) -> None:
    cluster = MemoryCluster(ERRAND_RESOURCE.definition)
    for one in (errand("odd", template), errand("sound", pod())):
        cluster.create(one)
    index = read_index(cluster)
    _done, failures = reconcile_all(Reconciler(cluster, index), index.keys())
    assert failures == []


@pytest.mark.parametrize(
    "template",
    [
        pod(securityContext=7),
        pod(containers=[{**MAIN, "securityContext": "x"}]),
        pod(containers=[{**MAIN, "volumeMounts": {"a": 1}}]),
        pod(volumes={"a": 1}),
        pod(terminationGracePeriodSeconds="x"),
        {"spec": {**pod()["spec"], "activeDeadlineSeconds": "soon"}},
    ],
    ids=str,
)
def test_a_template_with_output_is_refused_if_a_changed_field_has_another_shape(template: Any) -> None:
    cluster = MemoryCluster(ERRAND_RESOURCE.definition)
    odd = errand("odd", template)
    odd["spec"]["output"] = {"outputMap": {"main": {"output.json": {"name": "out"}}}}
    for one in (odd, errand("sound", pod())):
        cluster.create(one)
    index = read_index(cluster)
    _done, failures = reconcile_all(Reconciler(cluster, index), index.keys())
    assert failures == []
    refused = index.errand(ErrandKey("default", "odd"))
    assert refused is not None
    assert refused.status.phase is ErrandPhase.REFUSED
    assert " is not a" in refused.status.message


def test_a_defect_of_one_is_named_and_hinders_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = MemoryCluster(ERRAND_RESOURCE.definition)
    for name in ("odd", "sound"):
        cluster.create(errand(name, pod()))
    index = read_index(cluster)
    reconciler = Reconciler(cluster, index)
    sound = reconciler.reconcile

    def reconcile(key: ErrandKey, must_stop: Callable[[], bool]) -> Reconciled:
        if key.name == "odd":
            raise ValueError("something unforeseen")
        return sound(key, must_stop)

    monkeypatch.setattr(reconciler, "reconcile", reconcile)
    done, (failure,) = reconcile_all(reconciler, index.keys())
    assert [one.key.name for one in done] == ["sound"]
    assert failure.key.name == "odd"
    assert "this is a defect" in failure.message
    assert "something unforeseen" in failure.message


def test_a_rehearsal_names_it_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = MemoryCluster(ERRAND_RESOURCE.definition)
    for name in ("odd", "sound"):
        cluster.create(errand(name, pod()))
    index = read_index(cluster)
    reconciler = Reconciler(cluster, index)
    sound = reconciler.decide

    def decide(key: ErrandKey) -> Decision:
        if key.name == "odd":
            raise ValueError("something unforeseen")
        return sound(key)

    monkeypatch.setattr(reconciler, "decide", decide)
    done, (failure,) = rehearse_all(reconciler, index.keys())
    assert [one.key.name for one in done] == ["sound"]
    assert (failure.key.name, "something unforeseen" in failure.message) == ("odd", True)
