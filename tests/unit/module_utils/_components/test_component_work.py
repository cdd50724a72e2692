# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A component's plan and its run agree field by field: one on an overlay, the other on the cluster itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    Cluster,
    Object,
    Ref,
    ref_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._components.component_action import Origin
from ansible_collections.kyma.lifecycle.plugins.module_utils._components.component_plan import ComponentPlan
from ansible_collections.kyma.lifecycle.plugins.module_utils._components.component_run import ComponentRun
from ansible_collections.kyma.lifecycle.plugins.module_utils._components.desired_component import (
    DesiredComponent,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._components.rehearsed_changes import (
    RehearsedChanges,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._components.rehearsed_work import RehearsedWork
from ansible_collections.kyma.lifecycle.plugins.module_utils._components.work_context import WorkContext
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.desired.desired_release import (
    desired_release,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._dry_run.dry_run_cluster import DryRunCluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.apply.change import ObjectChange
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.health.watcher import Watcher
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.live_objects import (
    read_metadata,
    scope_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.ownership.policy import Policy
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.outcomes import ComponentOutcome
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.inventories import read_inventories
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import Phase
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.driver import (
    config_map,
    crd,
    custom,
    deployer,
    deployment,
    healthy_cluster,
    job,
    release,
    secret,
    slow_clock,
)

SERVER_FIELDS = ("uid", "resourceVersion", "creationTimestamp", "generation")
NAME = "shop"
NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kyma-system"}}


@pytest.fixture(autouse=True)
def every_write_in_another_second(monkeypatch: pytest.MonkeyPatch) -> None:
    slow_clock(monkeypatch)


@dataclass(frozen=True)
class Case:
    """A component before and after.

    Attributes:
        before: its deployed objects; nothing is deployed if there are none.
        after: its objects in the release.
        by_others: what others write in the meantime.
        written_before, written_after: an object that a migration before writes, or one after.
        policy: what the user allows.
    """

    before: Sequence[Object]
    after: Sequence[Object]
    by_others: Sequence[Object] = ()
    written_before: Object | None = None
    written_after: Object | None = None
    policy: Policy = field(default_factory=Policy)


def placed(obj: Object) -> Object:
    return {**obj, "metadata": {**obj["metadata"], "namespace": "kyma-system"}}


FIRST = (config_map("colors", a="red", b="blue"), deployment("web"), secret("token", key="dmFsdWU="))
CASES: Mapping[str, Case] = {
    "install": Case((), FIRST),
    "install of a definition with its object": Case((), (crd("Shop"), custom("Shop", "corner", open=True))),
    "upgrade": Case(FIRST, (config_map("colors", a="green"), deployment("web", "nginx:2"), FIRST[2])),
    "upgrade after a migration": Case(
        FIRST,
        (config_map("colors", a="green"), *FIRST[1:]),
        written_before=placed(config_map("seen", by="it")),
    ),
    "upgrade between two migrations": Case(
        (config_map("colors", a="red"),),
        (config_map("colors", a="green"),),
        written_before=placed(config_map("seen", by="it")),
        written_after=placed(config_map("late", by="it")),
    ),
    "unchanged": Case(FIRST, FIRST),
    "drift by a person": Case(FIRST, FIRST, by_others=(placed(config_map("colors", a="mine")),)),
    "an immutable field": Case((job("once", "busybox:1"),), (job("once", "busybox:2"),)),
    "an immutable field that may not be replaced": Case(
        (job("once", "busybox:1"),), (job("once", "busybox:2"), config_map("late")), policy=Policy(())
    ),
    "an object of an unknown kind": Case((), (custom("Missing", "one"),)),
}


def desired(objects: Sequence[Object], cluster: Cluster) -> DesiredComponent:
    made = desired_release(release("2.10", {NAME: list(objects)}), scope_of(cluster))
    return made.components[NAME]


def prepared(case: Case) -> MemoryCluster:
    """The cluster after the earlier deployment, and with the writes of others."""
    cluster = healthy_cluster(NAMESPACE)
    first = deployer(release("2.9", {NAME: list(case.before)} if case.before else {}), cluster=cluster)
    assert first.deploy()["state"] == "succeeded"
    for obj in case.by_others:
        cluster.with_field_manager("kubectl-edit").apply(obj, force=True)
    return cluster


def migrating(case: Case, cluster: Cluster) -> Any:
    """Migrations of a component: one of each phase, if it writes anything."""

    def migrate(component: str, phase: Phase) -> Sequence[Mapping[str, Any]]:
        written = case.written_before if phase == Phase.PRE else case.written_after
        if written is None:
            return []
        cluster.with_field_manager("migration").apply(written)
        one = {"id": f"{component}/one", "phase": str(phase), "state": "done", "error": "", "evidence": ""}
        return [{**one, "fatal": False, "wrote": True, "blockers": []}]

    return migrate


@dataclass(frozen=True)
class Done:
    """What a plan or a run did: the live objects, and the account of it."""

    objects: Mapping[Ref, Object]
    account: Mapping[str, Any]


def plan_of(case: Case, cluster: MemoryCluster) -> tuple[Done, str]:
    """What the plan does on its overlay, and which objects it selects for the run."""
    inventories = read_inventories(cluster)
    overlay = DryRunCluster(cluster)
    changes = RehearsedChanges(overlay)
    live = read_metadata(cluster, inventories.values())
    context = WorkContext(
        cluster=overlay,
        policy=case.policy,
        migrate=migrating(case, overlay),
        inventories=inventories,
        watcher=Watcher(overlay),
        live=live,
        is_recorded=False,
        is_rehearsal=True,
    )
    origin = Origin(is_older=False, is_same=False, is_limited_to_changes=True)
    work = RehearsedWork(context, desired(case.after, cluster), lambda _before: origin)
    work.take_steps("pre")
    changes.take()
    work.take_steps("apply")
    intents = {ref_of(obj): obj for obj in work.objects}
    rehearsed = changes.take(intents, [one.ref for one in work.applied.applied if one.replaced])
    work.take_steps("post")
    plan = work.plan(rehearsed)
    return Done(live_objects(overlay, case), account_of_plan(plan, rehearsed, work)), plan.selection


def account_of_plan(
    plan: ComponentPlan, changes: Sequence[ObjectChange], work: RehearsedWork
) -> dict[str, Any]:
    actions = [change.action for change in changes]
    return {
        "created": actions.count("create"),
        "changed": actions.count("change"),
        "replaced": actions.count("replace"),
        "objects": plan.objects,
        "warnings": plan.warnings,
        "findings": plan.findings,
        "refused": [str(one.error) for one in work.applied.refused],
    }


def run_of(case: Case, cluster: MemoryCluster, selection: str) -> Done:
    """What the run does on the cluster itself."""
    context = WorkContext(
        cluster=cluster,
        policy=case.policy,
        migrate=migrating(case, cluster),
        inventories=read_inventories(cluster),
        watcher=Watcher(cluster),
        version="2.10",
        digest="digest",
        timeout=60.0,
        selection={NAME: selection},
    )
    work = ComponentRun(context, desired(case.after, cluster))
    return Done(*done_by(work.run(), work, cluster, case))


def done_by(
    outcome: ComponentOutcome, work: ComponentRun, cluster: Cluster, case: Case
) -> tuple[dict[Ref, Object], dict[str, Any]]:
    return live_objects(cluster, case), {
        "created": outcome.created,
        "changed": outcome.changed,
        "replaced": outcome.replaced,
        "objects": outcome.objects,
        "warnings": outcome.warnings,
        "findings": outcome.findings,
        "refused": [str(one.error) for one in work.applied.refused],
    }


def live_objects(cluster: Cluster, case: Case) -> dict[Ref, Object]:
    """The objects of a case without what differs by nature: the server's own fields, and the status."""
    written = [one for one in (case.written_before, case.written_after) if one]
    candidates = [*desired(case.before, cluster).objects, *desired(case.after, cluster).objects, *written]
    live_by_ref: dict[Ref, Object] = {}
    for obj in candidates:
        ref = ref_of(obj)
        live = cluster.get(obj["apiVersion"], ref.kind, ref.name, ref.namespace or None)
        if live is not None:
            meta = {key: value for key, value in live["metadata"].items() if key not in SERVER_FIELDS}
            meta["managedFields"] = managers_of(live)
            live_by_ref[ref] = {
                **{key: value for key, value in live.items() if key != "status"},
                "metadata": meta,
            }
    return live_by_ref


def managers_of(live: Object) -> list[tuple[str, ...]]:
    """The owners of each field, without controllers and without times."""
    return sorted(
        (one["manager"], one["operation"], str(one["fieldsV1"]))
        for one in live["metadata"].get("managedFields") or []
        if one.get("subresource") != "status"
    )


@pytest.mark.parametrize("name", CASES)
def test_plan_and_run_agree_field_by_field(name: str) -> None:
    case = CASES[name]
    cluster = prepared(case)
    planned, selection = plan_of(case, cluster)
    assert run_of(case, cluster, selection) == planned


@pytest.mark.parametrize("name", ["install", "upgrade", "drift by a person"])
def test_a_change_to_the_run_alone_breaks_the_agreement(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = CASES[name]
    cluster = prepared(case)
    apply = ComponentRun.apply
    monkeypatch.setattr(ComponentRun, "apply", lambda self, objects: apply(self, list(objects)[1:]))
    planned, selection = plan_of(case, cluster)
    assert run_of(case, cluster, selection) != planned


def test_a_plan_takes_the_steps_of_the_run_in_their_order() -> None:
    case = CASES["upgrade between two migrations"]
    cluster = prepared(case)
    start = len(cluster.requests)
    _planned, selection = plan_of(case, cluster)
    rehearsed = [one.ref.name for one in cluster.requests[start:] if one.dry_run]
    start = len(cluster.requests)
    run_of(case, cluster, selection)
    written = [one.ref.name for one in cluster.requests[start:] if one.writes and not one.ref.group]
    assert rehearsed == written == ["seen", "colors", "late"]


def test_a_plan_writes_nothing_and_reads_the_live_objects_of_inventories_only_once() -> None:
    case = CASES["upgrade"]
    cluster = prepared(case)
    start = len(cluster.requests)
    plan_of(case, cluster)
    requests = cluster.requests[start:]
    assert not [one for one in requests if one.writes]
    lists = [one.ref.kind for one in requests if one.verb == "list" and one.ref.kind == "Deployment"]
    assert len(lists) == 1
