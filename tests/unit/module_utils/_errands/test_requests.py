# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What reconciling asks of the API server: nothing for errands at rest, nothing beyond the engine's role."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, Object, group_of
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_definition import ENGINE_ROLE
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_index import ERRAND
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.reconciler import (
    Reconciler,
    read_index,
    reconcile_all,
)

from tests.support.errand_stories import STORIES, ErrandStory
from tests.support.hooked_cluster import HookedCluster
from tests.support.played_errands import (
    NAMESPACE,
    PlayedErrands,
    config_map,
    container,
    errand_object,
    one_file,
    reading,
)
from tests.support.played_jobs import ContainerRun
from tests.support.single_rights import LimitedCluster, single_rights

COPIES = 40


def at_rest() -> PlayedErrands:
    """A cluster with some 200 errands that need nothing, and one whose run goes on."""
    played = PlayedErrands()
    played.writes_output(b'{"a": "1"}')
    played.create(config_map("config", a="1"))
    secret = {"metadata": {"name": "login", "namespace": NAMESPACE}, "data": {"password": "MQ=="}}
    played.create({"apiVersion": "v1", "kind": "Secret", **secret})
    reads = [reading(("ConfigMap", "config"), ("Secret", "login"))]
    played.create(errand_object("done", output=one_file("done", versioned=True)))
    played.create(errand_object("rerun", containers=reads, reruns=True))
    played.create(errand_object("manual", strategy="manual", containers=reads))
    played.create(errand_object("now", strategy="now"))
    played.create(errand_object("refused", containers=[container("hold-x")]))
    names = ("done", "rerun", "manual", "now", "refused")
    played.settle(*names)
    for number in range(COPIES - 1):
        for name in names:
            obj = copy.deepcopy(played.object(name))
            obj["metadata"].update(name=f"{name}-{number}", uid=f"{name}-{number}")
            played.cluster.seed(obj)
    played.jobs.runs["main"] = ContainerRun(None)
    played.create(errand_object("running", output=one_file("running")))
    played.settle("running")
    return played


def test_errands_at_rest_cost_the_five_lists_alone() -> None:
    played = at_rest()
    played.cluster.requests.clear()
    index = read_index(played.cluster)
    assert len(index.keys()) == 5 * COPIES + 1
    done, failed = reconcile_all(Reconciler(played.cluster, index), index.keys())
    assert ([one for one in done if one.steps], failed) == ([], [])
    kinds = sorted((one.verb, one.ref.kind) for one in played.cluster.requests)
    assert kinds == [("list", kind) for kind in ("ConfigMap", "Errand", "Job", "Pod", "Secret")]


def test_a_change_of_metadata_costs_its_readers_a_few_requests_once() -> None:
    played = at_rest()
    played.cluster.patch("v1", "ConfigMap", "config", NAMESPACE, {"metadata": {"labels": {"a": "b"}}})
    for most in (2, 0):
        index = read_index(played.cluster)
        played.cluster.requests.clear()
        reconcile_all(Reconciler(played.cluster, index), index.keys())
        # One reads it, and the next writes what was seen.
        assert len(played.cluster.requests) == most * COPIES


def test_rights_are_reviewed_once_in_a_while_and_only_for_runs() -> None:
    played = PlayedErrands()
    played.create(config_map("config", a="1"))
    played.create(errand_object("a", strategy="manual"))
    for name in ("first", "second", "third"):
        played.create(errand_object(name))
    limited = LimitedCluster(played.cluster, single_rights(ENGINE_ROLE["rules"]))
    index = read_index(limited)
    reconciler = Reconciler(limited, index)
    keys, reviews = index.keys(), dict[str, int]()
    for key in keys:
        reconciler.reconcile(key)
        reviews[key.name] = limited.reviews
    assert reviews == {"a": 0, "first": 1, "second": 1, "third": 1}


class RightsOf(HookedCluster):
    """A cluster that refuses what a role does not grant."""

    def __init__(self, inner: Cluster, role: Object) -> None:
        super().__init__(inner)
        self._rules = role["rules"]
        self.refused: list[str] = []

    def demand(self, verb: str, api_version: str, kind: str, subresource: str = "") -> None:
        """Note a right that the role does not grant."""
        known_kind = self._inner.resource(api_version, kind)
        plural = known_kind.plural if known_kind else kind
        resource = f"{plural}/{subresource}" if subresource else plural
        group = group_of(api_version)
        granted = any(
            group in rule["apiGroups"] and resource in rule["resources"] and verb in rule["verbs"]
            for rule in self._rules
        )
        if not granted:
            self.refused.append(f"{verb} {resource}.{group}")

    def get(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> Object | None:
        self.demand("get", api_version, kind)
        return super().get(api_version, kind, name, namespace)

    def list(self, api_version: str, kind: str, namespace: str | None = None, **how: Any) -> Any:
        self.demand("list", api_version, kind)
        return super().list(api_version, kind, namespace, **how)

    def apply(self, obj: Object, *, force: bool = False, dry_run: bool = False) -> Object:
        for verb in ("create", "patch"):
            self.demand(verb, obj["apiVersion"], obj["kind"])
        return super().apply(obj, force=force, dry_run=dry_run)

    def create(self, obj: Object, *, dry_run: bool = False) -> Object:
        if not obj["apiVersion"].startswith("authorization.k8s.io/"):
            self.demand("create", obj["apiVersion"], obj["kind"])
        return super().create(obj, dry_run=dry_run)

    def _patch(
        self,
        api_version: str,
        kind: str,
        name: str,
        namespace: str | None,
        patch: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        subresource: str = "",
        dry_run: bool = False,
    ) -> Object:
        self.demand("patch", api_version, kind, subresource)
        return super()._patch(
            api_version, kind, name, namespace, patch, subresource=subresource, dry_run=dry_run
        )

    def delete(self, api_version: str, kind: str, *names: Any, **how: Any) -> bool:
        self.demand("delete", api_version, kind)
        return super().delete(api_version, kind, *names, **how)

    def exec(self, name: str, namespace: str, command: Sequence[str], **how: Any) -> Any:
        for verb in ("create", "get"):
            self.demand(verb, "v1", "Pod", "exec")
        return super().exec(name, namespace, command, **how)


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES.keys())
def test_a_run_needs_no_more_than_the_role_of_the_engine(story: ErrandStory) -> None:
    played = PlayedErrands()
    played.seen = limited = RightsOf(played.cluster, ENGINE_ROLE)
    story.play(played=played)
    assert len(limited.calls) > 20
    assert set(limited.refused) == set()


def test_stopping_and_pruning_need_no_more_than_the_role_of_the_engine() -> None:
    played = PlayedErrands()
    played.seen = limited = RightsOf(played.cluster, ENGINE_ROLE)
    played.create(errand_object("slow", output=one_file("slow"), job={"activeDeadlineSeconds": 10}))
    played.settle("slow")
    played.jobs.time.advance(20)
    played.settle("slow")
    played.create(errand_object(output=one_file(versioned=True, keep=1)))
    for value in ("1", "2"):
        played.writes_output(b'{"a": "%s"}' % value.encode())
        played.patch({"metadata": {"annotations": {"lifecycle.kyma-project.io/run-requested": value}}})
        played.settle()
    assert list(played.secrets()) == ["result-v2"]
    assert {"patch", "delete", "exec"} <= {one.verb for one in limited.calls}
    assert set(limited.refused) == set()
    assert played.errand("slow").status.phase == "Failed"
    assert played.object("slow", ERRAND)["status"]["run"]["outcome"]["reason"] == "DeadlineExceeded"
