# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tasks of errands on the in-memory cluster: the definition, and rights that are missing."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task import Result, TaskDefinition
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    API_VERSION,
    Cluster,
    Event,
    Object,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import api_error
from ansible_collections.kyma.lifecycle.plugins.module_utils._custom_resources.installed_kinds import CRD_KIND
from ansible_collections.kyma.lifecycle.plugins.module_utils._deep_copy import deep_copy
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.authoring.errand_object import (
    ErrandRequest,
    desired_errand,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.authoring.errand_preflight import (
    run_rights,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_definition import (
    CRD_NAME,
    ENGINE_ROLE,
    ERRAND_KINDS,
    ERRAND_RESOURCE,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import (
    errand,
    errand_info,
    reconcile_errands,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
    Request,
)

from tests.support.played_errands import NAMESPACE, PlayedErrands
from tests.support.task_call import call_task, to

FORBIDDEN = api_error("do it", 403, {"reason": "Forbidden", "message": "you may not do it"})
TEMPLATE: Object = {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "busybox"}]}}}}
ONE: dict[str, Any] = {"name": "backup", "namespace": "default", "template": TEMPLATE}


def call(
    cluster: Cluster, definition: TaskDefinition = errand.DEFINITION, *, check: bool = False, **options: Any
) -> Result:
    return call_task(definition, options, to(cluster), check=check, diff=check)


def establish(cluster: Cluster, event: Event) -> None:
    """What the API server does once it serves a definition."""
    obj = event.object
    if obj["kind"] == CRD_KIND[1] and event.type != "DELETED" and "conditions" not in obj.get("status", {}):
        conditions = [{"type": "Established", "status": "True"}, {"type": "NamesAccepted", "status": "True"}]
        status = {"conditions": conditions, "acceptedNames": obj["spec"]["names"]}
        cluster.patch(*CRD_KIND, obj["metadata"]["name"], None, {"status": status}, subresource="status")


@pytest.fixture
def empty() -> MemoryCluster:
    """A cluster that has never had an errand."""
    cluster = MemoryCluster()
    cluster.on_write(establish)
    return cluster


@pytest.fixture
def cluster(empty: MemoryCluster) -> MemoryCluster:
    """A cluster with the definition."""
    ERRAND_KINDS.install(empty)
    empty.requests.clear()
    return empty


def refuse(cluster: MemoryCluster, *kinds: str, verbs: tuple[str, ...] = ("get", "apply", "list")) -> None:
    def matches(request: Request) -> bool:
        return request.ref.kind in kinds and request.verb in verbs

    cluster.fail_when(matches, FORBIDDEN)


@pytest.mark.parametrize(
    ("definition", "options"), [(errand.DEFINITION, ONE), (reconcile_errands.DEFINITION, {})]
)
def test_the_definition_is_installed_if_it_is_missing(
    empty: MemoryCluster, definition: TaskDefinition, options: dict[str, Any]
) -> None:
    rehearsed = call(empty, definition, check=True, **options)
    assert (rehearsed["changed"], rehearsed["definition_installed"]) == (True, True)
    assert [one for one in empty.requests if one.writes] == []
    assert not ERRAND_KINDS.is_current(empty)
    done = call(empty, definition, **options)
    assert (done["changed"], done["definition_installed"]) == (True, True), done
    assert ERRAND_KINDS.is_current(empty)
    again = call(empty, definition, **options)
    assert again["definition_installed"] is False


def install_older(cluster: MemoryCluster) -> None:
    """Install another definition than the one of this version."""
    older = replace(ERRAND_RESOURCE, short="kyolder")
    replace(ERRAND_KINDS, kinds=(older,)).install(cluster)


def test_an_older_definition_is_updated(empty: MemoryCluster) -> None:
    install_older(empty)
    assert call(empty, check=True, **ONE)["definition_installed"] is True
    assert call(empty, **ONE)["definition_installed"] is True
    definition = empty.get(*CRD_KIND, CRD_NAME)
    assert definition is not None
    assert definition["spec"]["names"]["shortNames"] == ["kyerr"]


def test_without_the_definition_and_the_rights_for_it_the_task_says_which(empty: MemoryCluster) -> None:
    refuse(empty, "CustomResourceDefinition", "ClusterRole", verbs=("apply",))
    failed = call(empty, **ONE)
    assert failed["failed"]
    for part in (CRD_NAME, "you may not do it", "patch customresourcedefinitions", "escalate clusterroles"):
        assert part in failed["msg"]
    assert failed["msg"].endswith("\nansible-playbook kyma.lifecycle.reconcile_errands")


def test_an_errand_is_declared_with_a_warning_without_the_right_to_update_the_definition(
    empty: MemoryCluster,
) -> None:
    install_older(empty)
    refuse(empty, "CustomResourceDefinition", "ClusterRole", verbs=("apply",))
    done = call(empty, **ONE)
    assert not done.get("failed")
    assert "not the one of this version, and you may not install it" in done["warnings"][0]
    assert empty.get(API_VERSION, "Errand", "backup", "default") is not None


def test_an_errand_is_declared_without_the_right_to_read_the_served_definition(
    cluster: MemoryCluster,
) -> None:
    refuse(cluster, "CustomResourceDefinition")
    done = call(cluster, **ONE)
    assert (done.get("failed"), done["definition_installed"], done["warnings"]) == (None, False, [])


def test_in_check_mode_an_errand_to_run_may_be_missing_as_an_earlier_task_would_create_it(
    cluster: MemoryCluster,
) -> None:
    options = {"name": "backup", "namespace": "default", "trigger": "now"}
    rehearsed = call(cluster, check=True, **options)
    assert (rehearsed.get("failed"), rehearsed["changed"]) == (None, True)
    assert "Errand default/backup does not exist" in rehearsed["warnings"][0]
    there = call(cluster, **ONE, wait=False)
    assert set(there) - {"diff"} == set(rehearsed)
    cluster.delete(API_VERSION, "Errand", "backup", "default")
    assert "does not exist" in call(cluster, **options)["msg"]


@pytest.mark.parametrize(
    ("definition", "kind", "role"),
    [
        (reconcile_errands.DEFINITION, "Job", "kyma-lifecycle-errands-engine"),
        (errand_info.DEFINITION, "Errand", "kyma-lifecycle-errands-view"),
    ],
)
def test_a_refused_list_names_the_missing_role(
    cluster: MemoryCluster, definition: TaskDefinition, kind: str, role: str
) -> None:
    refuse(cluster, kind, verbs=("list",))
    everywhere = call(cluster, definition)["msg"]
    assert "you may not do it" in everywhere
    assert f"{role} granted to you" in everywhere
    assert "set namespaces" in everywhere
    assert "set namespaces" not in call(cluster, definition, namespaces=["default"])["msg"]


@pytest.mark.parametrize("options", [ONE, {**ONE, "state": "absent"}])
def test_problems_of_the_definition_are_refused_before_the_definition_is_installed(
    empty: MemoryCluster, options: dict[str, Any]
) -> None:
    options = {**options, "name": None, "template": {"spec": 1}}
    failed = call(empty, **{name: value for name, value in options.items() if value is not None})
    assert failed["failed"]
    assert "name" in failed["msg"]
    assert [one for one in empty.requests if one.writes] == []


def test_all_values_of_results_are_documented(cluster: MemoryCluster) -> None:
    for definition, options in (
        (errand.DEFINITION, ONE),
        (errand_info.DEFINITION, {}),
        (reconcile_errands.DEFINITION, {}),
    ):
        name = definition.function.__name__
        documented = yaml.safe_load(
            import_module(f"ansible_collections.kyma.lifecycle.plugins.modules.{name}").RETURN
        )
        result = call(cluster, definition, **options)
        # What the engine returns is its own affair, and so is what a stopped task returns.
        promised = {
            key
            for key, one in documented.items()
            if "watch" not in one["returned"] and "stopped" not in one["returned"]
        }
        assert result.keys() - {"changed", "warnings"} == promised
        rows = result.get("errands") if isinstance(result.get("errands"), list) else []
        for row in rows or ():
            assert row.keys() == documented["errands"]["contains"].keys()


def test_the_engine_may_all_that_running_an_errand_takes() -> None:
    references = [{"secretRef": {"name": "a"}}, {"configMapRef": {"name": "b"}}]
    template = deep_copy(TEMPLATE)
    template["spec"]["template"]["spec"]["containers"][0]["envFrom"] = references
    output = {"outputMap": {"main": {"output.json": {"name": "out"}}}}
    desired = desired_errand(ErrandRequest("a", "ns", template=template, output=output))
    granted = {
        (verb, group, resource)
        for rule in ENGINE_ROLE["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
    needed = {(right.verb, right.group, right.resource) for right in run_rights(desired.errand)}
    assert len(needed) > 15
    assert needed <= granted


@pytest.mark.parametrize("reruns", [True, False])
def test_only_an_errand_that_reruns_on_changes_needs_the_key_of_digests(reruns: bool) -> None:
    template = deep_copy(TEMPLATE)
    template["spec"]["template"]["spec"]["containers"][0]["envFrom"] = [{"secretRef": {"name": "a"}}]
    desired = desired_errand(ErrandRequest("a", "ns", template=template, reruns_on_change=reruns))
    created = {right.resource for right in run_rights(desired.errand) if right.verb == "create"}
    assert created == {"jobs", *(["secrets"] if reruns else [])}


def refuse_jobs(cluster: MemoryCluster) -> None:
    def is_real_job(request: Request) -> bool:
        return request.verb == "create" and request.ref.kind == "Job" and not request.dry_run

    cluster.fail_when(
        is_real_job, api_error("create Job", 422, {"reason": "Invalid", "message": "no such field"})
    )


def test_errands_that_are_refused_by_the_engine_end_the_wait(cluster: MemoryCluster) -> None:
    refuse_jobs(cluster)
    failed = call(cluster, **ONE, trigger="now", timeout=5)
    assert "run 1 failed: JobRefused: the API server refuses its Job: no such field. " in failed["msg"]


def test_a_run_that_starts_and_ends_in_one_call_has_a_duration_once(cluster: MemoryCluster) -> None:
    call(cluster, **ONE, trigger="once", reconcile=False, wait=False)
    refuse_jobs(cluster)
    rows = [call(cluster, reconcile_errands.DEFINITION)["durations"] for _time in range(2)]
    assert [[(one["name"], one["state"]) for one in row] for row in rows] == [
        [("default/backup", "failed")],
        [],
    ]


def test_the_check_of_a_run_with_a_secret_writes_nothing_and_shows_the_run(cluster: MemoryCluster) -> None:
    cluster.create(
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a", "namespace": "default"}, "data": {}}
    )
    template = deep_copy(TEMPLATE)
    template["spec"]["template"]["spec"]["containers"][0]["envFrom"] = [{"secretRef": {"name": "a"}}]
    call(
        cluster,
        **{**ONE, "template": template},
        trigger="once",
        update_on_config_change=True,
        wait=False,
        reconcile=False,
    )
    cluster.requests.clear()
    rehearsed = call(cluster, reconcile_errands.DEFINITION, check=True)
    assert rehearsed["errands"][0]["steps"] == ["record phase Running of run 1", "create Job backup-1"]
    assert [one for one in cluster.requests if one.writes] == []


def failed_errand() -> PlayedErrands:
    """A cluster with the errand of :data:`ONE`, which has run once and failed."""
    played = PlayedErrands()
    played.cluster.on_write(establish)
    ERRAND_KINDS.install(played.cluster)
    options = {**ONE, "namespace": NAMESPACE, "trigger": "once", "wait": False}
    assert not call(played.cluster, **options).get("failed")
    played.writes_output(None, exit_code=3)
    played.settle("backup")
    return played


def test_the_message_of_a_failed_errand_ends_with_its_log_on_request() -> None:
    played = failed_errand()
    pod = played.pod()["metadata"]["name"]
    played.cluster.set_log(pod, NAMESPACE, "starting\ndisk full\n", "main")
    options = {**ONE, "namespace": NAMESPACE, "trigger": "once"}
    silent = call(played.cluster, **options)
    assert (silent["failed"], silent["logs"]) == (True, [])
    assert "disk full" not in silent["msg"]
    assert not [one for one in played.cluster.requests if one.verb == "logs"]
    for name in ("show_logs", "logs"):
        shown = call(played.cluster, **options, **{name: True})
        lines = ["starting", "disk full"]
        assert shown["logs"] == [{"pod": pod, "container": "main", "lines": lines, "problem": ""}]
        end = f"The last lines of container main of Pod {pod}:\n  starting\n  disk full"
        assert shown["msg"] == f"{silent['msg']}\n{end}"


def test_to_follow_a_log_that_is_not_shown_is_refused(cluster: MemoryCluster) -> None:
    failed = call(cluster, **ONE, follow=True)
    assert failed["msg"] == "follow shows logs, and show_logs is false. Set show_logs: true"
    assert [one for one in cluster.requests if one.writes] == []


def test_no_role_of_errands_reads_logs() -> None:
    resources = {name for role in ERRAND_KINDS.roles for rule in role["rules"] for name in rule["resources"]}
    assert "pods" in resources
    assert "pods/log" not in resources
