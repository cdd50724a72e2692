# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One job from its definition to what runs and back, on a real API server, by the shipped role alone."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.wrapper import Call
from ansible_collections.kyma.lifecycle.plugins.module_utils._custom_resources.storage_version import (
    STORAGE_VERSION_LABEL,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.core_job import JobType
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.storage.definition import (
    DEFINITION_KINDS,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._threads import map_in_threads
from ansible_collections.kyma.lifecycle.plugins.module_utils._timestamp import timestamp

from tests.support.eventually import eventually
from tests.support.store_user import User

pytestmark = pytest.mark.cluster

JOBS: list[dict[str, Any]] = [
    {"name": "once", "type": "one-off", "image": "busybox:1.37", "command": "true", "retry": 1},
    {
        "name": "backup",
        "type": "scheduled",
        "image": "busybox:1.37",
        "command": "tar c /data",
        "schedule": "@daily",
        "env": {"LEVEL": "9"},
        "mount": {"claim": "files", "path": "/data"},
    },
    {
        "name": "web",
        "type": "continuous",
        "image": "nginx:1.29",
        "port": 8080,
        "health_check": {"path": "/"},
        "memory": "256Mi",
        "workload": {"spec": {"minReadySeconds": 1}},
    },
]
ONCE, BACKUP, WEB = JOBS
NIGHTLY = {"schedule": "0 3 * * *", "port": None, "health_check": None, "workload": None}
STORED = {
    "once": {"image": "busybox:1.37", "command": "true", "retry": 1},
    "backup": {name: BACKUP[name] for name in ("image", "command", "schedule", "env", "mount")},
    "web": {
        "image": "nginx:1.29",
        "port": 8080,
        "healthCheck": {"path": "/"},
        "memory": "256Mi",
        "workload": {"spec": {"minReadySeconds": 1}},
    },
}


class KilledError(BaseException):
    """The process ends here."""


def state(user: User, name: str) -> str:
    return str(user.listed()[name]["state"])


def test_jobs_are_rebuilt_from_definitions_that_hold_only_what_was_set(deployer: User) -> None:
    """Case 1."""
    assert set(deployer.jobs(jobs=JOBS).succeeded().actions.values()) == {"created"}
    assert {one["metadata"]["name"]: one["spec"] for one in deployer.definitions()} == STORED
    deployer.record_ends(JOBS)
    deployer.jobs(jobs=JOBS).unchanged()
    before = {name: deployer.forms(name) for name in STORED}
    assert [len(forms) for forms in before.values()] == [1, 1, 2]
    for name in STORED:
        deployer.delete_runtime(name)
    assert {name: state(deployer, name) for name in STORED} == {
        "once": "finished",
        "backup": "missing",
        "web": "missing",
    }
    again = deployer.jobs(jobs=JOBS).succeeded()
    assert again.actions == {"once": "unchanged", "backup": "updated", "web": "updated"}
    assert again.counts == (0, 2)
    assert {name: deployer.forms(name) for name in STORED} == {**before, "once": []}
    deployer.jobs(jobs=JOBS).unchanged()

    assert deployer.jobs(name="once", state="restarted").succeeded().actions == {"once": "restarted"}
    assert deployer.forms("once") == before["once"]
    eventually(lambda: state(deployer, "once") == "finished")


def test_generation_counts_the_changes_of_users_alone(deployer: User) -> None:
    deployer.jobs(jobs=[WEB]).succeeded()
    eventually(lambda: state(deployer, "web") == "running")
    deployer.jobs(jobs=[WEB]).succeeded()
    definition = deployer.definition("web", "continuous")
    assert definition
    assert (definition["metadata"]["generation"], definition["status"]["conditions"][0]["status"]) == (
        1,
        "True",
    )


def test_jobs_are_suspended_restarted_and_deleted(deployer: User) -> None:
    deployer.jobs(jobs=JOBS[1:]).succeeded()
    names = [{"name": one["name"]} for one in JOBS[1:]]
    restarted = deployer.jobs(jobs=names, state="restarted").succeeded()
    assert restarted.actions == {"backup": "restarted", "web": "restarted"}
    runs = deployer.admin.list("batch/v1", "Job", deployer.namespace).items
    assert [one["metadata"]["annotations"]["cronjob.kubernetes.io/instantiate"] for one in runs] == ["manual"]
    assert {name: one["drift"] for name, one in deployer.listed().items()} == {"backup": [], "web": []}
    deployer.jobs(jobs=JOBS[1:]).succeeded()
    deployment = deployer.runtime("web")[0]
    annotations = deployment["spec"]["template"]["metadata"]["annotations"]
    assert "kubectl.kubernetes.io/restartedAt" in annotations

    suspended = deployer.jobs(jobs=names, state="suspended").succeeded()
    assert suspended.actions == {"backup": "suspended", "web": "suspended"}
    assert deployer.runtime("web")[0]["spec"]["replicas"] == 0
    assert deployer.runtime("backup")[0]["spec"]["suspend"] is True
    deployer.jobs(jobs=names, state="absent").succeeded()
    assert (deployer.definitions(), deployer.runtime("web"), deployer.runtime("backup")) == ([], [], [])


def set_replicas(
    api: LiveCluster, namespace: str, manager: str, replicas: int, subresource: str = ""
) -> None:
    kind, patch = ("apps/v1", "Deployment"), {"spec": {"replicas": replicas}}
    api.with_field_manager(manager).patch(*kind, "web", namespace, patch, subresource=subresource)


def test_a_rehearsal_says_what_a_change_does(deployer: User) -> None:
    def compare(**options: Any) -> None:
        rehearsed = deployer.rehearse(**options)
        assert deployer.jobs(**options).result == rehearsed.result

    compare(jobs=JOBS)
    deployer.record_ends(JOBS)
    compare(jobs=JOBS)
    compare(jobs=[{**BACKUP, "schedule": "5 4 * * *"}, {**WEB, "image": "nginx:1.30", "port": 8081}])
    compare(jobs=[{**ONCE, "command": "false"}])
    compare(jobs=[{"name": one["name"]} for one in JOBS], state="restarted")
    compare(jobs=[{"name": one["name"]} for one in JOBS[1:]], state="suspended")
    compare(
        jobs=[{**BACKUP, "type": "continuous", "schedule": None}, {**WEB, "type": "scheduled", **NIGHTLY}]
    )
    compare(jobs=[{"name": one["name"]} for one in JOBS], state="absent")


def test_a_change_of_others_is_drift_unless_it_is_an_autoscalers(deployer: User) -> None:
    """Case 5."""
    deployer.jobs(jobs=[WEB]).succeeded()
    eventually(lambda: state(deployer, "web") == "running")
    # The controller has written its status, so the resourceVersion has moved.
    assert deployer.listed()["web"]["drift"] == []
    set_replicas(deployer.admin, deployer.namespace, "kube-controller-manager", 3, "scale")
    assert deployer.listed()["web"]["drift"] == []
    deployer.jobs(jobs=[WEB]).succeeded()
    assert deployer.runtime("web")[0]["spec"]["replicas"] == 3

    set_replicas(deployer.admin, deployer.namespace, "kubectl-scale", 4)
    (drift,) = deployer.listed()["web"]["drift"]
    assert (drift["field"], drift["expected"], drift["actual"]) == ("spec.replicas", 1, 4)
    assert drift["manager"] == "kubectl-scale"
    uid = deployer.runtime("web")[0]["metadata"]["uid"]
    assert deployer.jobs(jobs=[WEB]).succeeded().actions == {"web": "updated"}
    deployment = deployer.runtime("web")[0]
    assert (deployment["spec"]["replicas"], deployment["metadata"]["uid"]) == (1, uid)
    assert deployer.listed()["web"]["drift"] == []


def test_a_change_of_type_leaves_no_orphan(deployer: User) -> None:
    """Case 8."""
    deployer.jobs(jobs=[BACKUP]).succeeded()
    changed = deployer.jobs(jobs=[{**WEB, "name": "backup"}]).succeeded()
    assert changed.actions == {"backup": "updated"}
    assert [one["kind"] for one in deployer.runtime("backup")] == ["Deployment", "Service"]
    (definition,) = deployer.definitions()
    assert (definition["kind"], definition["spec"]) == ("ContinuousJob", STORED["web"])


def test_a_change_of_type_that_is_killed_after_any_write_ends_the_same(deployer: User) -> None:
    """Case 8."""
    desired = {**WEB, "name": "backup"}

    def kill_after(last: int) -> bool:
        """Change the type until a write, and then run it again; whether there was such a write."""
        deployer.jobs(jobs=[{"name": "backup"}], state="absent").succeeded()
        deployer.jobs(jobs=[BACKUP]).succeeded()
        writes = 0

        def hook(_number: int, call: Call) -> None:
            nonlocal writes
            writes += call.writes
            if call.writes and writes == last:
                raise KilledError

        try:
            deployer.hooked(after=hook).jobs(jobs=[desired])
        except KilledError:
            assert deployer.definitions()
            deployer.jobs(jobs=[desired]).succeeded()
        assert [one["kind"] for one in deployer.runtime("backup")] == ["Deployment", "Service"]
        (definition,) = deployer.definitions()
        assert (definition["kind"], definition["spec"]) == ("ContinuousJob", STORED["web"])
        deployer.jobs(jobs=[desired]).unchanged()
        return writes >= last

    last = 1
    while kill_after(last):
        last += 1
    assert last > 5


def with_stranger(api: LiveCluster, namespace: str, spec: Object) -> None:
    kind = DEFINITION_KINDS[JobType.CONTINUOUS]
    api.with_field_manager("kubectl-edit").patch(*kind, "web", namespace, {"spec": spec})


def test_fields_by_hand_survive_a_write(deployer: User) -> None:
    """Case 10."""
    deployer.jobs(jobs=[WEB]).succeeded()
    with_stranger(deployer.admin, deployer.namespace, {"colour": "blue", "logs": {"level": "all"}})
    changed = {**WEB, "command": "serve", "logs": {"stdout": "/log"}}
    assert deployer.jobs(jobs=[changed]).succeeded().actions == {"web": "updated"}
    definition = deployer.definition("web", "continuous")
    assert definition
    assert definition["spec"]["colour"] == "blue"
    assert definition["spec"]["logs"] == {"level": "all", "stdout": "/log"}
    # A field of ours goes, and the stranger beside it stays.
    del changed["logs"]
    deployer.jobs(jobs=[changed]).succeeded()
    definition = deployer.definition("web", "continuous")
    assert definition
    assert definition["spec"]["logs"] == {"level": "all"}
    deployer.jobs(jobs=[changed]).unchanged()


def test_fields_by_hand_survive_a_migration(deployer: User) -> None:
    """Case 10."""
    spec = {"image": "nginx:1.29", "command": "serve", "resources": {"memory": "256Mi"}, "tty": True}
    deployer.write_definition("web", 1, **spec, colour="blue", logs={"stdout": "/log", "level": "all"})
    assert deployer.imported(rewrite=True).succeeded().result["rewritten"] == [f"{deployer.namespace}/web"]
    definition = deployer.definition("web", "continuous")
    assert definition
    assert definition["metadata"]["labels"][STORAGE_VERSION_LABEL] == "2"
    assert definition["spec"]["colour"] == "blue"
    assert definition["spec"]["logs"] == {"stdout": "/log", "level": "all"}
    assert (definition["spec"]["memory"], definition["spec"]["container"]) == ("256Mi", {"tty": True})
    assert definition["spec"].keys().isdisjoint(("resources", "tty"))
    # And a rollback.
    back = deployer.imported(rewrite=True, storage_version=1).succeeded()
    assert back.result["rewritten"] == [f"{deployer.namespace}/web"]
    rolled_back = deployer.definition("web", "continuous")
    assert rolled_back
    assert rolled_back["metadata"]["labels"][STORAGE_VERSION_LABEL] == "1"
    assert (rolled_back["spec"]["colour"], rolled_back["spec"]["logs"]["level"]) == ("blue", "all")
    assert rolled_back["spec"]["resources"] == {"memory": "256Mi"}
    assert not deployer.imported(rewrite=True, storage_version=1).succeeded().result["changed"]
    assert deployer.imported(rewrite=True).succeeded().result["rewritten"] == [f"{deployer.namespace}/web"]
    again = deployer.definition("web", "continuous")
    assert again
    assert again["spec"] == definition["spec"]


def test_a_rollback_to_the_older_storage_version_changes_nothing_that_runs(deployer: User) -> None:
    """All types, with short forms and with mappings; and the way back."""
    deployer.jobs(jobs=JOBS).succeeded()
    deployer.record_ends(JOBS)
    running = {name: objects_of(deployer, name) for name in STORED}
    listed = {name: shown(one) for name, one in deployer.listed().items()}
    for version in (1, 2):
        done = deployer.imported(rewrite=True, storage_version=version).succeeded()
        assert {one.partition("/")[2] for one in done.result["rewritten"]} == STORED.keys()
        labels = [one["metadata"]["labels"][STORAGE_VERSION_LABEL] for one in deployer.definitions()]
        assert labels == [str(version)] * len(JOBS)
        now = deployer.listed()
        assert {name: shown(one) for name, one in now.items()} == listed
        assert [(one["drift"], one["outdated"]) for one in now.values()] == [([], False)] * len(JOBS)
        assert {name: objects_of(deployer, name) for name in STORED} == running
    assert {one["metadata"]["name"]: one["spec"] for one in deployer.definitions()} == STORED
    deployer.jobs(jobs=JOBS).unchanged()


def objects_of(user: User, name: str) -> list[tuple[str, int]]:
    """The uids of runtime objects, with how often their specs were written."""
    return [(obj["metadata"]["uid"], obj["metadata"].get("generation", 1)) for obj in user.runtime(name)]


def shown(job: Object) -> Object:
    """A listed job without its storage version."""
    return {name: value for name, value in job.items() if name not in ("storage_version", "runs", "state")}


def test_writers_at_once_lose_no_field(deployer: User) -> None:
    deployer.jobs(jobs=[WEB]).succeeded()

    def write(number: int) -> None:
        if number % 4:
            with_stranger(
                deployer.admin, deployer.namespace, {f"field{number}": number, "env": {f"X{number}": ""}}
            )
        else:
            deployer.jobs(name="web", state="suspended").succeeded()

    map_in_threads(write, range(16))
    definition = deployer.definition("web", "continuous")
    assert definition
    strangers = [number for number in range(16) if number % 4]
    assert {f"field{number}" for number in strangers} <= definition["spec"].keys()
    assert definition["spec"]["env"].keys() == {f"X{number}" for number in strangers}
    assert definition["spec"]["suspend"] is True


def test_concurrent_writers_of_one_job_end_with_the_job_of_one_of_them(deployer: User) -> None:
    images = [f"nginx:1.{number}" for number in range(4)]
    declared = [{**WEB, "image": image} for image in images]
    for done in map_in_threads(lambda one: deployer.jobs(jobs=[one]), declared):
        done.succeeded()
    definition = deployer.definition("web", "continuous")
    assert definition
    assert definition["spec"]["image"] in images
    container = deployer.runtime("web")[0]["spec"]["template"]["spec"]["containers"][0]
    assert container["image"] == definition["spec"]["image"]
    assert deployer.listed()["web"]["drift"] == []


def test_a_name_that_two_types_take_at_once_ends_as_one_job(deployer: User) -> None:
    declared = [{**one, "name": "one"} for one in JOBS]
    for _round in range(3):
        for done in map_in_threads(lambda one: deployer.jobs(jobs=[one]), declared):
            done.succeeded()
        assert len(deployer.definitions()) == 1
        assert deployer.listed()["one"]["drift"] == []
        assert not deployer.info().result["warnings"]
        deployer.jobs(name="one", state="absent").succeeded()
        assert deployer.runtime("one") == []


def test_defaults_of_a_value_that_goes_are_taken_away_with_it(deployer: User) -> None:
    deployer.admin.create(
        {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": "shop", "namespace": deployer.namespace},
        }
    )
    deployer.jobs(jobs=[{**WEB, "pod": {"spec": {"serviceAccountName": "shop"}}}]).succeeded()
    recreate = {**WEB, "workload": {"spec": {"strategy": {"type": "Recreate"}}}}
    assert deployer.jobs(jobs=[recreate]).succeeded().actions == {"web": "updated"}
    spec = deployer.runtime("web")[0]["spec"]
    assert spec["strategy"] == {"type": "Recreate"}
    assert "serviceAccountName" not in spec["template"]["spec"]
    deployer.jobs(jobs=[recreate]).unchanged()
    deployer.jobs(jobs=[WEB]).succeeded()
    assert deployer.runtime("web")[0]["spec"]["strategy"]["type"] == "RollingUpdate"


def test_an_invalid_mapping_is_refused_before_the_first_write(deployer: User) -> None:
    deployer.jobs(jobs=[WEB]).succeeded()
    bad = {**WEB, "workload": {"spec": "x", "metadata": {"uid": "y"}}}
    assert "workload.metadata.uid can't be changed" in deployer.jobs(jobs=[BACKUP, bad]).message
    for mapping, message in (
        ({"pod": {"spec": {"runtimeClas": "a"}}}, 'unknown field "spec.template.spec.runtimeClas"'),
        ({"container": {"stdin": "yes"}}, "refuses its Deployment"),
        ({"service": {"spec": {"sessionAffinity": "Sometimes"}}}, "refuses its Service"),
        ({"container": {"image": "nginx"}}, "container.image is set; use the field image instead"),
    ):
        for call in (deployer.jobs, deployer.rehearse):
            refused = call(jobs=[BACKUP, {**WEB, **mapping}])
            assert message in refused.message
            assert refused.writes == []
    assert deployer.definition("backup", "scheduled") is None


RICH = {
    **WEB,
    "workload": {"metadata": {"labels": {"team": "a"}}, "spec": {"strategy": {"type": "Recreate"}}},
    "pod": {
        "metadata": {"labels": {"team": "a"}},
        "spec": {
            "containers": [{"name": "proxy", "image": "nginx:1.29"}],
            "runtimeClassName": "sandbox",
            "tolerations": [{"operator": "Exists"}],
        },
    },
    "container": {"tty": True, "ports": None, "livenessProbe": {"periodSeconds": 7}},
    "service": {"spec": {"sessionAffinity": "ClientIP"}},
    "volumes": [{"path": "/x", "empty_dir": "", "mount": {"mountPropagation": "HostToContainer"}}],
}


def test_mappings_in_the_form_of_kubernetes_are_rolled_out_dumped_and_imported(deployer: User) -> None:
    kind = ("node.k8s.io/v1", "RuntimeClass")
    if not deployer.admin.get(*kind, "sandbox"):
        named = {"apiVersion": kind[0], "kind": kind[1], "metadata": {"name": "sandbox"}}
        deployer.admin.create({**named, "handler": "sandbox"})
    done = deployer.jobs(jobs=[RICH]).succeeded()
    assert not [one for one in done.result["warnings"] if "drift" in one]
    deployer.jobs(jobs=[RICH]).unchanged()
    deployment, service = deployer.runtime("web")
    own, proxy = deployment["spec"]["template"]["spec"]["containers"]
    assert (own["tty"], "ports" in own, own["livenessProbe"]["periodSeconds"]) == (True, False, 7)
    assert own["livenessProbe"]["httpGet"]["path"] == "/"
    assert (proxy["name"], service["spec"]["sessionAffinity"]) == ("proxy", "ClientIP")
    assert deployer.listed()["web"]["drift"] == []
    dump = deployer.info(dump=True).result["dump"]
    deployer.jobs(jobs=dump).unchanged()
    before = deployer.forms("web")
    # The import of what runs describes the same.
    definition = deployer.definition("web", "continuous")
    assert definition
    spec = definition["spec"]
    assert (spec["nulls"], spec["container"]["tty"]) == (["/container/ports"], True)
    deployer.admin.delete(definition["apiVersion"], definition["kind"], "web", deployer.namespace)
    assert deployer.imported().succeeded().result["imported"] == [f"{deployer.namespace}/web"]
    deployer.jobs(jobs=deployer.info(dump=True).result["dump"]).unchanged()
    deployer.delete_runtime("web")
    deployer.jobs(jobs=deployer.info(dump=True).result["dump"]).succeeded()
    assert deployer.forms("web") == before


def test_a_scheduled_job_says_when_it_runs_and_why_it_did_not(deployer: User) -> None:
    deployer.jobs(jobs=[BACKUP]).succeeded()
    runs = deployer.listed()["backup"]["runs"]
    assert (runs["time_zone"], runs["last_run"], runs["missed_run"], runs["problem"]) == ("UTC", "", "", "")
    assert runs["next_run"].endswith("+00:00")
    # As if no controller had worked for days.
    status = {"status": {"lastScheduleTime": "2026-01-01T00:00:00Z"}}
    deployer.admin.patch("batch/v1", "CronJob", "backup", deployer.namespace, status, subresource="status")

    def why() -> str:
        return str(deployer.listed()["backup"]["runs"]["why_missed"])

    assert why() == "not known; Kubernetes starts it at most 30 seconds late (startingDeadlineSeconds)"
    live = deployer.admin.get("batch/v1", "CronJob", "backup", deployer.namespace)
    assert live
    place = {"namespace": deployer.namespace, "name": "backup"}
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "backup.1", "namespace": deployer.namespace},
        "involvedObject": {"kind": "CronJob", "uid": live["metadata"]["uid"], **place},
        "type": "Warning",
        "reason": "FailedCreate",
        "message": "Error creating job: exceeded quota",
        "lastTimestamp": timestamp(),
    }
    deployer.admin.create(event)
    assert why() == "FailedCreate: Error creating job: exceeded quota"
    with_suspend = {**BACKUP, "suspend": True}
    deployer.jobs(jobs=[with_suspend]).succeeded()
    assert (why(), deployer.listed()["backup"]["runs"]["next_run"]) == ("the job is suspended", "")
