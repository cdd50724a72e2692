# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole runs in memory, from what a user does to the end: when errands run, and what becomes of a run."""

from __future__ import annotations

import copy
import time
from datetime import timedelta
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import (
    ClusterError,
    ExecOutputTooLarge,
    Forbidden,
    Unreachable,
    api_error,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.wrapper import Call
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands import errand_reader, output_collector
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.authoring.requested_run import (
    RunWait,
    WaitOptions,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_definition import ERRAND_RESOURCE
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_index import ERRAND, JOB, POD
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_model import (
    LAST_APPLIED,
    RUN_LABEL,
    RUN_REQUEST,
    ErrandKey,
    ErrandPhase,
    Strategy,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_steps import (
    STOP_DEADLINE,
    RequestPod,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.reconciler import (
    Reconciler,
    read_index,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.slow_namespaces import (
    SlowNamespaces,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.status_change import NOT_REPEATED_TEXT

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

NOW = {"spec": {"trigger": {"strategy": "now"}}}
DONE = ContainerRun()
CONTENT = b'{"password": "geheim-4711"}'


@pytest.fixture
def played() -> PlayedErrands:
    """A cluster in which the container main ends with 0."""
    played_errands = PlayedErrands()
    played_errands.jobs.runs["main"] = DONE
    return played_errands


def strategy(played: PlayedErrands) -> Strategy:
    """The strategy of the errand."""
    return played.errand().spec.strategy


def reason(played: PlayedErrands, name: str = "app") -> str:
    """How the last run ended."""
    run = played.errand(name).status.run
    assert run is not None
    assert run.outcome is not None
    return run.outcome.reason


def condition(played: PlayedErrands, type_: str) -> dict[str, Any]:
    """A condition of the errand; empty where it has none."""
    conditions = [dict(one) for one in played.errand().status.conditions if one["type"] == type_]
    return conditions[0] if conditions else {}


# When an errand runs.


def printed(obj: Any) -> list[Any]:
    """What kubectl prints of an errand without -o wide, without times."""
    version = ERRAND_RESOURCE.definition["spec"]["versions"][0]
    cells = []
    for column in version["additionalPrinterColumns"]:
        if not column.get("priority") and column["type"] != "date":
            value = obj
            for step in column["jsonPath"].strip(".").split("."):
                value = value.get(step) if isinstance(value, dict) else None
            cells.append(value)
    return cells


def test_once_runs_once_and_becomes_done_when_it_has_finished(played: PlayedErrands) -> None:
    played.jobs.runs.clear()
    played.create(errand_object())
    played.settle()
    assert (strategy(played), played.errand().status.phase) == (Strategy.ONCE, ErrandPhase.RUNNING)
    played.jobs.runs["main"] = ContainerRun(1)
    played.settle()
    assert (strategy(played), played.errand().status.phase) == (Strategy.DONE, ErrandPhase.FAILED)
    assert played.made_jobs() == ["app-1"]
    # A tool puts it back, and the failed Job stays for people to look at.
    played.patch({"spec": {"trigger": {"strategy": "once"}}})
    played.settle()
    assert (strategy(played), played.made_jobs(), played.job_names()) == (Strategy.ONCE, ["app-1"], ["app-1"])


def test_once_runs_again_for_another_template(played: PlayedErrands) -> None:
    played.create(errand_object())
    played.settle()
    other = errand_object(containers=[container(image="other")])
    played.patch({"spec": other["spec"]})
    played.settle()
    assert (played.made_jobs(), strategy(played)) == (["app-1", "app-2"], Strategy.DONE)


def test_manual_and_done_run_nothing(played: PlayedErrands) -> None:
    for name in ("manual", "done"):
        played.create(errand_object(name, strategy=name, reruns=True))
        played.settle(name)
        assert played.errand(name).status.phase is ErrandPhase.IDLE
    assert played.made_jobs() == []


def test_each_now_of_an_update_runs_and_becomes_manual_after_it(played: PlayedErrands) -> None:
    played.create(errand_object(strategy="manual"))
    for number in (1, 2, 3):
        played.patch(NOW)
        played.settle(until=lambda: bool(played.errand().status.open_run))
        assert strategy(played) is Strategy.NOW
        played.settle()
        assert strategy(played) is Strategy.MANUAL
        assert len(played.made_jobs()) == number


def test_a_template_that_changes_during_a_run_runs_next(played: PlayedErrands) -> None:
    played.create(errand_object(strategy="now"))
    played.settle(until=lambda: bool(played.errand().status.open_run))
    other = errand_object(strategy="now", containers=[container(image="other")])
    played.patch({"spec": other["spec"]})
    played.settle()
    assert (played.made_jobs(), strategy(played)) == (["app-1", "app-2"], Strategy.MANUAL)
    images = [pod["spec"]["containers"][0]["image"] for pod in played.cluster.list(*POD, NAMESPACE).items]
    assert images == ["busybox", "other"]


def test_a_now_that_is_applied_runs_once_for_each_template(played: PlayedErrands) -> None:
    tool = played.cluster.with_field_manager("argocd")
    declared = errand_object(strategy="now")
    tool.apply(copy.deepcopy(declared))
    played.settle()
    assert strategy(played) is Strategy.MANUAL
    assert "argocd" in [one["manager"] for one in played.object()["metadata"]["managedFields"]]
    # Without force: nobody fights with who declares it, and a condition says how to run it again.
    tool.apply(copy.deepcopy(declared))
    played.settle()
    assert played.made_jobs() == ["app-1"]
    assert strategy(played) is Strategy.NOW
    assert RUN_REQUEST in condition(played, "NowNotRepeated")["message"]
    # A list of errands shows it, too, beside what is known of the last run.
    assert printed(played.object()) == ["now", "Succeeded", 1, "Completed", NOT_REPEATED_TEXT]
    played.settle()
    assert (len(played.events()), played.errand().status.message) == (2, NOT_REPEATED_TEXT)
    declared["spec"]["template"]["spec"]["template"]["spec"]["containers"][0]["image"] = "other"
    tool.apply(declared)
    played.settle()
    assert played.made_jobs() == ["app-1", "app-2"]
    assert played.errand().status.message == ""


def test_a_now_that_is_applied_again_is_reported_beside_the_failure_of_the_last_run(
    played: PlayedErrands,
) -> None:
    played.writes_output(None, exit_code=3)
    tool = played.cluster.with_field_manager("argocd")
    for _time in range(2):
        tool.apply(errand_object(strategy="now"))
        played.settle()
    expected = f"Container main exited with code 3. {NOT_REPEATED_TEXT}"
    assert printed(played.object()) == ["now", "Failed", 1, "ContainerFailed", expected]


def test_a_now_of_kubectl_apply_becomes_manual_and_does_not_run_again(played: PlayedErrands) -> None:
    declared = errand_object(strategy="now")
    declared["metadata"]["annotations"] = {LAST_APPLIED: "{}"}
    played.cluster.with_field_manager("kubectl-client-side-apply").create(declared)
    played.settle()
    assert (strategy(played), played.made_jobs()) == (Strategy.MANUAL, ["app-1"])
    played.cluster.with_field_manager("kubectl-client-side-apply").patch(
        *ERRAND, "app", NAMESPACE, {**NOW, "metadata": {"annotations": {LAST_APPLIED: "{ }"}}}
    )
    played.settle()
    assert played.made_jobs() == ["app-1"]
    assert condition(played, "NowNotRepeated")["status"] == "True"


@pytest.mark.parametrize("trigger", ["manual", "once", "done", "now"])
def test_each_value_of_the_annotation_runs_any_errand_once(played: PlayedErrands, trigger: str) -> None:
    played.create(errand_object(strategy=trigger))
    played.settle()
    before = len(played.made_jobs())
    spec = played.object()["spec"]
    for number, value in enumerate(("a", "a", "b"), 1):
        played.patch({"metadata": {"annotations": {RUN_REQUEST: value}}})
        played.settle()
        assert len(played.made_jobs()) - before == {1: 1, 2: 1, 3: 2}[number]
    assert played.object()["spec"] == spec


def test_a_run_that_is_requested_during_a_run_follows_it(played: PlayedErrands) -> None:
    played.create(errand_object())
    played.settle(until=lambda: bool(played.errand().status.open_run))
    played.patch({"metadata": {"annotations": {RUN_REQUEST: "a"}}})
    played.settle()
    assert played.made_jobs() == ["app-1", "app-2"]


# Configuration.


def test_only_data_of_the_configuration_run_a_finished_auto_errand_again(played: PlayedErrands) -> None:
    played.create(config_map("config", a="1"))
    containers = [reading(("ConfigMap", "config"))]
    played.create(errand_object(containers=containers, reruns=True))
    played.create(errand_object("off", containers=containers))
    played.settle("app", "off")
    played.cluster.patch("v1", "ConfigMap", "config", NAMESPACE, {"metadata": {"labels": {"x": "y"}}})
    played.settle("app", "off")
    assert played.made_jobs() == ["app-1", "off-1"]
    played.cluster.patch("v1", "ConfigMap", "config", NAMESPACE, {"binaryData": {"b": "AA=="}})
    played.settle("app", "off")
    assert played.made_jobs() == ["app-1", "off-1", "app-2"]
    # As it was before: that is another change.
    played.cluster.patch("v1", "ConfigMap", "config", NAMESPACE, {"binaryData": None})
    played.settle("app", "off")
    assert played.made_jobs()[3:] == ["app-3"]


def test_three_changes_during_a_run_make_one_rerun(played: PlayedErrands) -> None:
    played.create(config_map("config", a="1"))
    played.create(errand_object(containers=[reading(("ConfigMap", "config"))], reruns=True))
    played.settle(until=lambda: bool(played.errand().status.open_run))
    for value in ("2", "3", "4"):
        played.cluster.patch("v1", "ConfigMap", "config", NAMESPACE, {"data": {"a": value}})
    played.settle()
    assert played.made_jobs() == ["app-1", "app-2"]


def test_an_errand_waits_for_what_is_missing_and_names_it(played: PlayedErrands) -> None:
    key = {"configMapKeyRef": {"name": "config", "key": "wanted"}}
    optional = {"secretRef": {"name": "may-be", "optional": True}}
    main = container(env=[{"name": "A", "valueFrom": key}], envFrom=[optional])
    played.create(errand_object(containers=[main]))
    played.settle()
    assert played.errand().status.phase is ErrandPhase.WAITING
    assert "ConfigMap shop/config" in played.errand().status.message
    assert "may-be" not in played.errand().status.message
    played.create(config_map("config", other="1"))
    played.settle()
    assert "key wanted of ConfigMap shop/config" in played.errand().status.message
    assert played.made_jobs() == []
    played.cluster.patch("v1", "ConfigMap", "config", NAMESPACE, {"data": {"wanted": "1"}})
    played.settle()
    assert played.errand().status.phase is ErrandPhase.SUCCEEDED
    assert [one["state"] for one in played.outcomes] == ["waiting", "started", "succeeded"]


def test_a_configuration_that_goes_and_returns_is_no_end_of_a_run(played: PlayedErrands) -> None:
    played.create(config_map("config", a="1"))
    played.create(errand_object(containers=[reading(("ConfigMap", "config"))], reruns=True))
    played.settle()
    reported_before, events = len(played.outcomes), played.events()
    played.cluster.delete("v1", "ConfigMap", "config", NAMESPACE)
    played.settle()
    assert played.errand().status.phase is ErrandPhase.WAITING
    played.create(config_map("config", a="1"))
    played.settle()
    assert played.errand().status.phase is ErrandPhase.SUCCEEDED
    assert [one["state"] for one in played.outcomes[reported_before:]] == ["waiting"]
    assert [text for text, _message in played.events()] == [text for text, _message in events] + ["Waiting"]
    assert played.made_jobs() == ["app-1"]


def test_a_reference_to_a_version_gets_the_newest_in_every_place(played: PlayedErrands) -> None:
    for number in (1, 3):
        played.create(version("x", number))
    played.create(version("xx", 7))
    ref = {"secretRef": {"name": "x-v1"}}
    key = {"secretKeyRef": {"name": "x-v1", "key": "a"}}
    pod = {
        "volumes": [
            {"name": "s", "secret": {"secretName": "x-v1"}},
            {"name": "p", "projected": {"sources": [{"secret": {"name": "x-v1"}}]}},
        ],
        "initContainers": [container("init", envFrom=[ref])],
        "imagePullSecrets": [{"name": "x-v1"}],
    }
    main = container(envFrom=[ref], env=[{"name": "A", "valueFrom": key}])
    played.create(errand_object(containers=[main], pod=pod, reruns=True))
    played.settle()
    text = repr(played.pod()["spec"])
    assert (text.count("'x-v3'"), text.count("'x-v1'")) == (6, 0)
    played.create(version("xx", 8))
    played.settle()
    assert played.made_jobs() == ["app-1"]
    played.create(version("x", 4))
    played.settle()
    assert played.made_jobs() == ["app-1", "app-2"]


def version(base: str, number: int, value: str = "MQ==", *, label: bool = True) -> dict[str, Any]:
    """A version of a versioned Secret."""
    labels = {"quarks.cloudfoundry.org/secret-kind": "versionedSecret"} if label else {}
    meta = {"name": f"{base}-v{number}", "namespace": NAMESPACE, "labels": labels}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "data": {"a": value}}


# Output.


def test_three_files_become_three_secrets_one_of_them_a_version(played: PlayedErrands) -> None:
    files = {
        "output.json": {"name": "plain", "secretLabels": {"own": "1"}},
        "versioned.json": {"name": "versioned", "versioned": True},
        "parts.json": {"name": "part", "persistenceMethod": "fan-out"},
    }
    contents = {
        "output.json": b'{"a": "1"}',
        "versioned.json": b'{"b": "2"}',
        "parts.json": b'{"c": "{\\"d\\": \\"3\\"}"}',
    }
    played.jobs.runs["main"] = ContainerRun(0, contents)
    played.create(errand_object(output={"outputMap": {"main": files}, "secretLabels": {"all": "2"}}))
    played.settle()
    assert played.secrets() == {"plain": {"a": "1"}, "versioned-v1": {"b": "2"}, "part-c": {"d": "3"}}
    meta = played.object("plain", ("v1", "Secret"))["metadata"]
    assert meta["labels"] == {"own": "1", "all": "2", "quarks.cloudfoundry.org/container-name": "main"}
    owners = [played.object(one, ("v1", "Secret"))["metadata"]["ownerReferences"] for one in played.secrets()]
    assert {one["uid"] for references in owners for one in references} == {played.errand().uid}


def test_the_next_run_takes_away_keys_that_it_does_not_write(played: PlayedErrands) -> None:
    played.writes_output(b'{"a": "1", "b": "2"}')
    played.create(errand_object(output=one_file()))
    played.seen = hooked = HookedCluster(played.cluster)
    played.settle()
    # The API server would not know who owns the keys of stringData, and keep them.
    [applied] = [call.obj for call in hooked.calls if call.verb == "apply"]
    assert applied is not None
    assert "stringData" not in applied
    played.writes_output(b'{"b": "3"}')
    played.patch({"metadata": {"annotations": {RUN_REQUEST: "again"}}})
    played.settle()
    assert played.secrets() == {"result": {"b": "3"}}


def test_versions_go_on_after_the_highest_and_the_same_content_makes_none(played: PlayedErrands) -> None:
    for number in (9, 1):
        played.create(version("result", number))
    played.create(version("result", 11, label=False))
    played.writes_output(b'{"a": "new"}')
    played.create(errand_object(output=one_file(versioned=True)))
    played.settle()
    assert sorted(played.secrets()) == ["result-v1", "result-v10", "result-v11", "result-v9"]
    assert played.secrets()["result-v9"] == {"a": "1"}
    played.patch({"metadata": {"annotations": {RUN_REQUEST: "again"}}})
    played.settle()
    assert (len(played.secrets()), len(played.made_jobs())) == (4, 2)
    assert played.errand().status.run.output.secrets == ("result-v10",)


@pytest.mark.parametrize("writes", [True, False])
def test_the_output_of_a_failure_is_written_only_if_that_is_requested(
    played: PlayedErrands, writes: bool
) -> None:
    played.writes_output(CONTENT, 137)
    played.create(errand_object(output={**one_file(), "writeOnFailure": writes}))
    played.settle()
    assert bool(played.secrets()) is writes
    assert (reason(played), played.errand().status.phase) == ("ContainerFailed", ErrandPhase.FAILED)
    assert played.errand().status.run.outcome.exit_code == 137
    assert played.job_names() == ["app-1"]


def test_nothing_of_a_fan_out_is_written_if_a_part_is_invalid(played: PlayedErrands) -> None:
    files = {"a.json": {"name": "other"}, "output.json": {"name": "part", "persistenceMethod": "fan-out"}}
    contents = {"a.json": b"{}", "output.json": b'{"a": "{}", "b": "no JSON"}'}
    played.jobs.runs["main"] = ContainerRun(0, contents)
    played.create(errand_object(output={"outputMap": {"main": files}}))
    played.settle()
    assert (played.secrets(), reason(played)) == ({}, "OutputInvalid")


def test_a_secret_of_others_is_not_overwritten_without_force(played: PlayedErrands) -> None:
    played.create({**version("x", 1, label=False), "metadata": {"name": "result", "namespace": NAMESPACE}})
    played.writes_output(CONTENT)
    played.create(errand_object(output=one_file()))
    played.settle()
    assert (reason(played), played.secrets()) == ("SecretTaken", {"result": {"a": "1"}})
    played.patch({"spec": {"output": {"overwrite": True}}, "metadata": {"annotations": {RUN_REQUEST: "x"}}})
    played.settle()
    assert played.secrets()["result"]["password"] == "geheim-4711"
    # It does not go with the errand.
    assert "ownerReferences" not in played.object("result", ("v1", "Secret"))["metadata"]


def test_others_containers_hinder_no_end(played: PlayedErrands) -> None:
    played.writes_output(CONTENT)
    played.jobs.runs["second"] = DONE
    played.jobs.injected = [container("istio-proxy")]
    played.create(errand_object(containers=[container(), container("second")], output=one_file()))
    played.settle()
    assert (played.errand().status.phase, len(played.secrets())) == (ErrandPhase.SUCCEEDED, 1)
    assert strategy(played) is Strategy.DONE
    assert played.job_names() == []


def test_a_termination_message_can_be_the_output(played: PlayedErrands) -> None:
    played.jobs.runs["main"] = ContainerRun(0, message='{"a": "1"}')
    played.create(errand_object(output={**one_file(), "from": "terminationMessage"}))
    played.settle()
    assert (played.secrets(), played.jobs.reads) == ({"result": {"a": "1"}}, 0)


def test_output_that_waits_within_the_hold_is_read_and_after_it_lost(played: PlayedErrands) -> None:
    for name, seconds, expected in (("in-time", 50, "Completed"), ("late", 70, "OutputLost")):
        played.writes_output(CONTENT)
        played.create(errand_object(name, output={**one_file(name), "holdSeconds": 60}))
        played.settle(name, until=lambda name=name: bool(played.errand(name).status.open_run))
        while played.jobs.tick():
            pass
        played.jobs.time.advance(seconds)
        while played.jobs.tick():
            pass
        played.settle(name)
        assert reason(played, name) == expected
    assert (sorted(played.secrets()), played.made_jobs()) == (["in-time"], ["in-time-1", "late-1"])


def test_output_of_a_deleted_pod_is_read_while_it_ends(played: PlayedErrands) -> None:
    played.writes_output(CONTENT)
    played.create(errand_object(output=one_file()))
    played.settle(until=lambda: bool(played.errand().status.open_run))
    while played.jobs.tick():
        pass
    played.cluster.delete(*POD, played.pod()["metadata"]["name"], NAMESPACE)
    played.settle()
    assert (reason(played), len(played.secrets())) == ("Completed", 1)


def test_a_pod_that_is_gone_with_its_output_loses_it(played: PlayedErrands) -> None:
    played.writes_output(CONTENT)
    played.create(errand_object(output=one_file()))
    played.settle(until=lambda: bool(played.errand().status.open_run))
    while played.jobs.tick():
        pass
    played.cluster.delete(*POD, played.pod()["metadata"]["name"], NAMESPACE)
    while played.jobs.tick():
        pass
    played.settle()
    assert (reason(played), played.secrets(), played.made_jobs()) == ("OutputLost", {}, ["app-1"])


# How runs end.


def test_a_succeeded_job_goes_and_its_pod_stays_with_the_errand(played: PlayedErrands) -> None:
    played.create(errand_object())
    played.settle()
    assert played.job_names() == []
    assert [one["kind"] for one in played.pod()["metadata"]["ownerReferences"]] == ["Errand"]
    played.cluster.delete(*ERRAND, "app", NAMESPACE)
    assert played.names(POD) == []


def test_objects_of_an_errand_block_its_foreground_deletion(played: PlayedErrands) -> None:
    played.writes_output(CONTENT)
    created: list[Any] = []
    watched = HookedCluster(
        played.cluster,
        before=lambda _number, call: created.append(call.obj) if call.verb in ("apply", "create") else None,
    )
    played.seen = watched
    played.create(config_map("config", a="1"))
    played.create(
        errand_object(
            containers=[reading(("ConfigMap", "config"))],
            output=one_file(versioned=True),
            reruns=True,
        )
    )
    played.settle()
    # The record of the highest number belongs to nothing.
    secrets_and_jobs = [one for one in created if one["kind"] in ("Job", "Secret")]
    owned = [one for one in secrets_and_jobs if one["metadata"]["name"] != "result-v0"]
    for one in [*owned, played.pod()]:
        owners = one["metadata"]["ownerReferences"]
        assert [(owner["kind"], owner["blockOwnerDeletion"]) for owner in owners] == [("Errand", True)]
    assert {one["kind"] for one in owned} == {"Job", "Secret"}


@pytest.mark.parametrize("output", [None, one_file()], ids=["no output", "output"])
def test_the_pod_of_a_succeeded_run_stays_if_the_next_run_starts_before_it_has_ended(
    played: PlayedErrands, output: Any
) -> None:
    played.writes_output(CONTENT)
    played.create(errand_object(strategy="now", output=output))
    played.settle(until=lambda: played.errand().status.phase is ErrandPhase.SUCCEEDED)
    if output:
        assert played.pod()["status"]["phase"] == "Running"
    played.patch(NOW)
    played.settle()
    runs = [one["metadata"]["labels"][RUN_LABEL] for one in played.cluster.list(*POD, NAMESPACE).items]
    assert (sorted(runs), played.job_names()) == (["1", "2"], [])
    for pod in played.cluster.list(*POD, NAMESPACE).items:
        assert [one["kind"] for one in pod["metadata"]["ownerReferences"]] == ["Errand"]


def test_the_pod_of_a_run_that_failed_or_has_the_label_goes_when_the_next_run_starts(
    played: PlayedErrands,
) -> None:
    played.writes_output(CONTENT)
    played.create(errand_object(strategy="now", output=one_file(), labels={"delete": "pod"}))
    played.settle(until=lambda: played.errand().status.phase is ErrandPhase.SUCCEEDED)
    played.writes_output(CONTENT, exit_code=1)
    played.patch(NOW)
    played.settle()
    assert len(played.names(POD)) == 1
    played.writes_output(CONTENT)
    played.patch(NOW)
    played.settle()
    assert (played.names(JOB), played.names(POD)) == ([], [])


def test_a_pod_with_the_label_goes_with_its_job(played: PlayedErrands) -> None:
    played.create(errand_object(labels={"delete": "pod"}))
    played.settle()
    assert (played.names(JOB), played.names(POD)) == ([], [])


def test_a_failed_job_stays_until_the_next_run(played: PlayedErrands) -> None:
    played.jobs.runs["main"] = ContainerRun(3)
    played.create(errand_object(strategy="now"))
    played.settle()
    assert played.job_names() == ["app-1"]
    played.patch(NOW)
    played.settle()
    assert played.job_names() == ["app-2"]


@pytest.mark.parametrize("output", [None, one_file()], ids=["no output", "output"])
def test_an_evicted_run_is_disrupted(played: PlayedErrands, output: Any) -> None:
    for name, evict in (("by-api", played.jobs.evict), ("by-node", played.jobs.evict_by_node)):
        played.jobs.runs.clear()
        played.create(errand_object(name, output=output))
        played.settle(name)
        [pod] = [one for one in played.cluster.list(*POD, NAMESPACE).items if one["metadata"]["name"] > name]
        evict(pod)
        played.settle(name)
        assert reason(played, name) == "Disrupted"
        played.cluster.delete(*ERRAND, name, NAMESPACE)
        played.jobs.tick()


def test_a_job_that_is_deleted_by_hand_is_lost_and_not_made_again(played: PlayedErrands) -> None:
    played.jobs.runs.clear()
    played.create(errand_object())
    played.settle()
    played.cluster.delete(*JOB, "app-1", NAMESPACE)
    while played.jobs.tick():
        pass
    played.settle()
    assert (reason(played), played.made_jobs()) == ("RunLost", ["app-1"])


def test_a_suspended_run_is_queued(played: PlayedErrands) -> None:
    played.create(errand_object(job={"suspend": True}))
    played.settle()
    assert played.errand().status.phase is ErrandPhase.QUEUED
    played.cluster.patch(*JOB, "app-1", NAMESPACE, {"spec": {"suspend": False}})
    played.settle()
    assert played.errand().status.phase is ErrandPhase.SUCCEEDED
    assert [one["state"] for one in played.outcomes].count("succeeded") == 1


@pytest.mark.parametrize("output", [None, one_file()], ids=["no output", "output"])
def test_a_deadline_ends_the_containers(played: PlayedErrands, output: Any) -> None:
    played.jobs.runs.clear()
    played.create(errand_object(output=output, job={"activeDeadlineSeconds": 30}))
    played.settle()
    if output:
        assert played.object("app-1", JOB)["spec"]["activeDeadlineSeconds"] == 3630
        assert played.reconcile().recheck_seconds == pytest.approx(30, abs=5)
    played.jobs.time.advance(40)
    played.settle()
    assert reason(played) == "DeadlineExceeded"
    if output:
        assert played.object("app-1", JOB)["spec"]["activeDeadlineSeconds"] == STOP_DEADLINE
    assert "Failed" in [one["type"] for one in played.object("app-1", JOB)["status"]["conditions"]]
    assert strategy(played) is Strategy.DONE


def test_a_holding_container_that_cannot_start_fails_the_run_and_ends_it(played: PlayedErrands) -> None:
    played.jobs.runs.clear()
    played.jobs.blocked["hold-main"] = "ImagePullBackOff"
    played.create(errand_object(output=one_file()))
    played.settle()
    assert reason(played) == "HolderFailed"
    assert "kyma_errand_holder_image" in played.errand().status.message
    played.jobs.time.advance(2)
    played.settle()
    assert "Failed" in [one["type"] for one in played.object("app-1", JOB)["status"]["conditions"]]


@pytest.mark.parametrize("reason", ["ImagePullBackOff", "ErrImagePull"])
def test_a_container_that_cannot_start_is_named_with_what_to_do(played: PlayedErrands, reason: str) -> None:
    played.jobs.blocked["main"] = reason
    played.create(errand_object())
    played.settle()
    message = played.errand().status.message
    assert f"container main can't start: {reason}" in message
    assert "delete Job app-1" in message


def pull_fails(played: PlayedErrands, **more: Any) -> None:
    """Let the image of main be missing until the limit has passed."""
    played.jobs.blocked["main"] = "ErrImagePull"
    played.create(errand_object(**more))
    played.settle()
    recheck = played.reconcile().recheck_seconds
    assert recheck is not None
    assert 590 < recheck <= 600
    assert played.errand().status.phase is ErrandPhase.RUNNING
    played.jobs.time.advance(601)
    played.reconcile()


def test_an_image_that_cannot_be_pulled_fails_the_run_after_its_pod_is_gone(played: PlayedErrands) -> None:
    pull_fails(played)
    # The garbage collector and the kubelet still have the pod: it could start.
    assert played.job_names() == []
    assert len(played.names(POD)) == 1
    assert played.errand().status.phase is ErrandPhase.RUNNING
    assert "600 s, which is kyma_errand_image_pull_seconds" in played.errand().status.message
    played.settle()
    assert played.names(POD) == []
    assert (reason(played), strategy(played)) == ("ImagePullFailed", Strategy.DONE)
    assert "container main can't start: ErrImagePull: no such image" in played.errand().status.message
    assert "had started" not in played.errand().status.message
    assert played.made_jobs() == ["app-1"]


@pytest.mark.parametrize("output", [None, one_file()], ids=["no output", "output"])
def test_an_image_that_appears_while_its_job_is_deleted_runs_once_or_never(
    played: PlayedErrands, output: Any
) -> None:
    played.writes_output(CONTENT)
    played.jobs.sees_deletions = False
    pull_fails(played, output=output)
    played.jobs.blocked.clear()
    for _second in range(4):
        played.jobs.tick()
        played.reconcile()
    played.jobs.sees_deletions = True
    played.settle()
    assert (played.made_jobs(), len(played.jobs.started)) == (["app-1"], 1)
    assert reason(played) == ("Completed" if output else "ImagePullFailed")
    assert ("had started" in played.errand().status.message) is not bool(output)
    assert bool(played.secrets()) is bool(output)


def test_an_image_that_appears_before_its_job_is_deleted_runs(played: PlayedErrands) -> None:
    played.jobs.blocked["main"] = "ErrImagePull"
    played.create(errand_object())
    played.settle()
    played.jobs.time.advance(601)

    def stop(_number: int, call: Call) -> None:
        if call.verb == "delete":
            raise Unreachable("connection reset")

    with pytest.raises(Unreachable):
        played.reconcile(cluster=HookedCluster(played.cluster, before=stop))
    assert "image_pull_seconds" in played.errand().status.message
    played.jobs.blocked.clear()
    played.jobs.tick()
    played.settle()
    assert (reason(played), len(played.jobs.started)) == ("Completed", 1)


def test_a_container_that_works_is_not_ended_for_another_one_without_an_image(played: PlayedErrands) -> None:
    played.jobs.runs["main"] = ContainerRun(exit_code=None)
    played.jobs.blocked["other"] = "ImagePullBackOff"
    played.create(errand_object(containers=[container(), container("other")]))
    played.settle()
    played.jobs.time.advance(2000)
    played.settle()
    assert played.errand().status.phase is ErrandPhase.RUNNING
    played.jobs.runs["main"] = DONE
    played.jobs.tick()
    played.settle()
    assert played.errand().status.phase is ErrandPhase.RUNNING
    played.jobs.time.advance(601)
    played.settle()
    assert reason(played) == "ImagePullFailed"


def test_an_output_says_what_was_written_and_warns_of_a_nul_character(played: PlayedErrands) -> None:
    played.writes_output(b'{"a": "1", "b": "x\\u0000y"}')
    played.create(errand_object(strategy="now", output=one_file()))
    played.settle()
    assert "value 2 of it has a NUL character" in played.errand().status.message
    played.patch(NOW)
    played.settle()
    ends = [one for one in played.outcomes if one["state"] == "succeeded"]
    assert [(one["secrets"], one["unchanged"]) for one in ends] == [(["result"], 0), (["result"], 1)]


def end_namespace(played: PlayedErrands) -> None:
    """Let the server refuse new objects, as it does in a namespace that is being deleted."""
    causes = [{"reason": "NamespaceTerminating", "message": "it ends", "field": "metadata.namespace"}]
    body = {"reason": "Forbidden", "message": "it is being terminated", "details": {"causes": causes}}

    def refuse(_number: int, call: Call) -> None:
        if call.verb in ("apply", "create") and call.namespace == NAMESPACE:
            raise api_error("create it", 403, body)

    played.seen = HookedCluster(played.cluster, before=refuse)


def start(played: PlayedErrands, **more: Any) -> None:
    """Create an errand with output, and let its containers run as far as they do by themselves."""
    played.create(errand_object(output=one_file(**more)))
    played.settle(until=lambda: bool(played.job_names()))
    while played.jobs.tick():
        pass


@pytest.mark.parametrize("versioned", [False, True])
def test_an_output_in_a_namespace_that_is_deleted_says_so_and_is_not_held(
    played: PlayedErrands, versioned: bool
) -> None:
    played.writes_output(CONTENT)
    start(played, versioned=versioned)
    end_namespace(played)
    played.settle()
    assert reason(played) == "NamespaceTerminating"
    assert "Namespace shop is being deleted" in played.errand().status.message
    holders = [one for one in played.pod()["status"]["containerStatuses"] if one["name"] == "hold-main"]
    assert holders[0]["state"]["terminated"]["exitCode"] == 0


@pytest.mark.parametrize("kind", [JOB, POD], ids=lambda kind: kind[1])
@pytest.mark.parametrize("exit_code", [0, None], ids=["it has ended", "it runs"])
def test_a_run_that_is_deleted_with_its_namespace_says_so(
    played: PlayedErrands, kind: tuple[str, str], exit_code: int | None
) -> None:
    played.jobs.runs["main"] = ContainerRun(exit_code, {"output.json": CONTENT})
    start(played)
    end_namespace(played)
    played.cluster.delete(*kind, played.names(kind)[0], NAMESPACE)
    while played.jobs.tick():
        pass
    played.settle()
    assert reason(played) == "NamespaceTerminating"
    assert "Namespace shop is being deleted, and this run with it" in played.errand().status.message
    assert played.secrets() == {}


def test_a_pod_that_is_deleted_with_its_namespace_is_released_at_once(played: PlayedErrands) -> None:
    played.jobs.runs["main"] = ContainerRun(None)
    start(played)
    end_namespace(played)
    # The namespace controller deletes all pods first, and the rest once these are gone.
    played.cluster.delete(*POD, played.names(POD)[0], NAMESPACE)
    played.reconcile()
    played.jobs.tick()
    assert played.names(POD) == []
    played.settle()
    assert reason(played) == "NamespaceTerminating"


@pytest.mark.parametrize("finalizers", [[], ["example.com/mine"]], ids=["gone", "being deleted"])
def test_an_errand_that_is_deleted_leaves_its_pod_no_grace_period(
    played: PlayedErrands, finalizers: list[str]
) -> None:
    played.jobs.runs["main"] = ContainerRun(None)
    start(played)
    played.cluster.patch(*ERRAND, "app", NAMESPACE, {"metadata": {"finalizers": finalizers}})
    played.cluster.delete(*ERRAND, "app", NAMESPACE)
    if finalizers:
        played.cluster.delete(*JOB, "app-1", NAMESPACE)
    played.reconcile()
    # Its holding container has ended: it would have been killed later.
    played.jobs.tick()
    assert played.names(POD) == []


VERSION_1 = {"kind": "versionedSecret", "version": "1"}
POD_SECURITY = 'pods "app-1-x" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot'
QUOTA = 'pods "app-1-x" is forbidden: exceeded quota: small, requested: pods=1, used: pods=1, limited: pods=1'


def test_a_pod_that_is_refused_fails_the_run_after_a_limit_with_the_words_of_the_server(
    played: PlayedErrands,
) -> None:
    played.jobs.refusal = POD_SECURITY
    played.create(errand_object())
    played.settle()
    played.jobs.time.advance(15)
    recheck = played.reconcile().recheck_seconds
    assert POD_SECURITY in played.errand().status.message
    assert played.errand().status.phase is ErrandPhase.RUNNING
    assert recheck is not None
    assert 500 < recheck < 600
    played.jobs.time.advance(recheck + 1)
    played.settle()
    assert reason(played) == "PodRefused"
    assert POD_SECURITY in played.errand().status.message
    assert "600 s" in played.errand().status.message
    # Its Job can no longer start a pod.
    played.jobs.refusal = ""
    assert played.object("app-1", JOB)["spec"]["activeDeadlineSeconds"] == STOP_DEADLINE
    played.jobs.time.advance(5)
    played.settle()
    assert (played.names(POD), strategy(played)) == ([], Strategy.DONE)


def test_a_quota_that_is_used_up_holds_a_run_up_for_any_time_and_then_it_runs(played: PlayedErrands) -> None:
    played.jobs.refusal = QUOTA
    played.create(errand_object())
    played.settle()
    played.jobs.time.advance(5000)
    played.settle()
    assert "exceeded quota: small" in played.errand().status.message
    assert played.errand().status.phase is ErrandPhase.RUNNING
    played.jobs.refusal = ""
    index = read_index(played.cluster)
    reconciler = Reconciler(played.cluster, index, now=played.jobs.time.now)
    index.record_grown_quota(NAMESPACE, played.jobs.time.now())
    steps = reconciler.reconcile(played.errand().key).steps
    assert [type(one) for one in steps if isinstance(one, RequestPod)] == [RequestPod]
    assert len(played.names(POD)) == 1
    played.settle()
    assert reason(played) == "Completed"


def test_a_wait_for_a_run_without_an_engine_requests_the_pod_that_a_quota_refuses(
    played: PlayedErrands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(errand_reader, "REFUSAL_SECONDS", 0.0)
    played.jobs.refusal = QUOTA
    played.create(errand_object())
    wait = RunWait(
        played.cluster,
        played.errand().key,
        WaitOptions(seconds=60),
        progress=lambda _subject, _state, _detail="", _step=None: None,
        cancelled=lambda: False,
    )
    wait.step()
    assert QUOTA in played.errand().status.message
    played.jobs.refusal = ""
    assert played.names(POD) == []
    wait.step()
    assert len(played.names(POD)) == 1


def test_a_job_that_is_suspended_is_not_refused_and_its_time_begins_again_when_it_is_resumed(
    played: PlayedErrands,
) -> None:
    def suspend(suspended: bool) -> None:
        played.cluster.patch(*JOB, "app-1", NAMESPACE, {"spec": {"suspend": suspended}})

    played.jobs.refusal = POD_SECURITY
    played.create(errand_object())
    played.settle()
    played.jobs.time.advance(500)
    suspend(True)
    played.settle()
    played.jobs.time.advance(500)
    played.settle()
    assert (played.errand().status.phase, played.reconcile().recheck_seconds) == (ErrandPhase.QUEUED, None)
    suspend(False)
    played.jobs.time.advance(500)
    played.settle()
    assert played.errand().status.phase is ErrandPhase.RUNNING
    played.jobs.time.advance(101)
    played.settle()
    assert reason(played) == "PodRefused"


def test_the_time_of_a_refusal_begins_after_a_quota_that_is_used_up_and_is_noticed(
    played: PlayedErrands,
) -> None:
    def retry(refusal: str) -> None:
        played.jobs.refusal = refusal
        played.cluster.patch(*JOB, "app-1", NAMESPACE, {"metadata": {"labels": {"x": str(refusal == QUOTA)}}})

    played.jobs.refusal = POD_SECURITY
    played.create(errand_object())
    played.settle()
    played.jobs.time.advance(100)
    retry(QUOTA)
    played.settle()
    played.jobs.time.advance(1000)
    # No watch tells of another reason.
    assert played.reconcile().recheck_seconds == 60
    retry(POD_SECURITY)
    played.jobs.time.advance(100)
    played.settle()
    assert played.errand().status.phase is ErrandPhase.RUNNING
    assert POD_SECURITY in played.errand().status.message
    played.jobs.time.advance(501)
    played.settle()
    assert reason(played) == "PodRefused"


def test_a_grown_quota_causes_one_request_and_only_for_a_job_that_it_held_up(
    played: PlayedErrands,
) -> None:
    played.jobs.refusal = QUOTA
    played.create(errand_object())
    played.settle()
    index = read_index(played.cluster)
    reconciler = Reconciler(played.cluster, index, now=played.jobs.time.now)
    index.record_grown_quota(NAMESPACE, played.jobs.time.now() + timedelta(seconds=1))
    for expected in (1, 0):
        steps = reconciler.reconcile(played.errand().key).steps
        assert sum(isinstance(one, RequestPod) for one in steps) == expected
    played.jobs.refusal = POD_SECURITY
    played.jobs.time.advance(5)
    index.record_grown_quota(NAMESPACE, played.jobs.time.now() + timedelta(seconds=20))
    played.cluster.patch(*JOB, "app-1", NAMESPACE, {"metadata": {"labels": {"x": "y"}}})
    played.jobs.time.advance(30)
    steps = reconciler.reconcile(played.errand().key).steps
    assert not any(isinstance(one, RequestPod) for one in steps)


def test_a_job_of_others_with_the_name_fails_the_run(played: PlayedErrands) -> None:
    template = {"spec": {"containers": [container("other")]}}
    meta = {"name": "app-1", "namespace": NAMESPACE}
    played.create({"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": {"template": template}})
    played.create(errand_object())
    played.settle()
    assert (reason(played), played.made_jobs()) == ("NameTaken", ["app-1"])


def test_an_errand_of_the_same_name_starts_from_the_beginning(played: PlayedErrands) -> None:
    played.create(errand_object())
    played.settle()
    # The garbage collector has not got to the pod yet.
    pod = played.pod()
    played.cluster.delete(*ERRAND, "app", NAMESPACE)
    for name in ("uid", "resourceVersion", "creationTimestamp"):
        pod["metadata"].pop(name)
    played.cluster.seed({**pod, "metadata": {**pod["metadata"], "ownerReferences": [_gone("Errand")]}})
    played.create(errand_object())
    played.cluster.fail_when(
        lambda call: (call.verb, call.ref.kind) == ("create", "Job"), Unreachable("x"), times=1
    )
    with pytest.raises(Unreachable):
        played.reconcile()
    played.settle()
    assert (reason(played), played.made_jobs()) == ("Completed", ["app-1", "app-1"])


def test_a_version_that_goes_with_an_earlier_errand_of_the_name_is_no_output(played: PlayedErrands) -> None:
    played.writes_output(CONTENT)
    played.create(errand_object(output=one_file(versioned=True)))
    played.settle()
    version = played.object("result-v1", ("v1", "Secret"))
    played.cluster.delete(*ERRAND, "app", NAMESPACE)
    for name in ("uid", "resourceVersion", "creationTimestamp"):
        version["metadata"].pop(name)
    # The garbage collector has not got to the version yet.
    version["metadata"]["ownerReferences"] = [_gone("Errand")]
    played.cluster.seed(version)
    played.create(errand_object(output=one_file(versioned=True)))
    with pytest.raises(ClusterError, match="belongs to an earlier Errand shop/app, and is being deleted"):
        played.settle()
    played.cluster.delete("v1", "Secret", "result-v1", NAMESPACE)
    played.settle()
    assert (reason(played), list(played.secrets())) == ("Completed", ["result-v2"])
    [owner] = played.object("result-v2", ("v1", "Secret"))["metadata"]["ownerReferences"]
    assert owner["uid"] == played.errand().uid


@pytest.mark.parametrize("kind", ["Secret", "Pod"])
def test_the_status_says_why_an_output_is_not_collected_yet(played: PlayedErrands, kind: str) -> None:
    played.writes_output(CONTENT)
    refusal = api_error("do it", 403, {"reason": "Forbidden", "message": "exceeded quota: small"})
    times = 3
    played.cluster.fail_when(
        lambda call: (
            (call.verb, call.ref.kind) in {("apply", "Secret"), ("exec", "Pod")} and call.ref.kind == kind
        ),
        refusal,
        times=times,
    )
    played.create(errand_object(output=one_file()))
    for _time in range(times):
        with pytest.raises(Forbidden):
            played.settle()
        status = played.errand().status
        assert status.phase is ErrandPhase.RUNNING
        assert status.message.startswith("its output can't be collected yet, and is tried again: ")
        assert "exceeded quota: small" in status.message
        assert "geheim" not in repr(played.object())
    played.settle()
    assert (reason(played), played.errand().status.message) == ("Completed", "")
    assert played.secrets() == {"result": {"password": "geheim-4711"}}


def test_a_read_at_the_limit_of_size_fails_the_run_and_is_not_tried_again(played: PlayedErrands) -> None:
    played.writes_output(CONTENT)
    too_large = ExecOutputTooLarge("run it", 9)
    played.cluster.fail_when(lambda call: call.verb == "exec", too_large, times=1)
    played.create(errand_object(output=one_file()))
    played.settle()
    assert (reason(played), played.jobs.reads, played.secrets()) == ("OutputTooLarge", 0, {})
    # Its holding container was released, so nothing of it goes on.
    assert played.pod()["status"]["phase"] == "Succeeded"


@pytest.mark.parametrize("seconds", [0.0, 5.0])
def test_a_namespace_whose_node_does_not_answer_in_time_is_slow(
    played: PlayedErrands, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    monkeypatch.setattr(output_collector, "READ_SECONDS", seconds)
    slow = SlowNamespaces()
    played.writes_output(CONTENT)
    played.create(errand_object(output=one_file()))
    played.cluster.fail_when(lambda call: call.verb == "exec", Unreachable("no answer"))
    with pytest.raises(Unreachable):
        played.settle()
    reconciler = Reconciler(played.cluster, read_index(played.cluster), slow=slow)
    with pytest.raises(Unreachable):
        reconciler.reconcile(played.errand().key)
    assert (slow.group(played.errand().key) is not None) is (seconds == 0)


def test_a_namespace_whose_output_takes_long_to_be_written_is_slow(
    played: PlayedErrands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output_collector, "READ_SECONDS", 0.3)
    slow = SlowNamespaces()
    played.writes_output(b'{"a": "{}", "b": "{}", "c": "{}", "d": "{}"}')
    played.create(errand_object(output=one_file(persistenceMethod="fan-out")))
    delayed = HookedCluster(
        played.cluster, before=lambda _number, call: time.sleep(0.1) if call.kind == "Secret" else None
    )
    for _round in range(4):
        Reconciler(delayed, read_index(played.cluster), slow=slow).reconcile(played.errand().key)
        played.jobs.tick()
    assert len(played.secrets()) == 4
    assert slow.group(played.errand().key) == (NAMESPACE, True)


def test_all_files_of_a_run_have_a_limit_together(
    played: PlayedErrands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output_collector, "LARGEST_OUTPUT", 1000)
    files = {f"{number}.json": {"name": f"result-{number}"} for number in range(3)}
    contents = dict.fromkeys(files, b'{"a": "%s"}' % (b"x" * 400))
    played.jobs.runs["main"] = ContainerRun(0, contents)
    played.create(errand_object(output={"outputMap": {"main": files}}))
    played.settle()
    assert (reason(played), played.secrets()) == ("OutputTooLarge", {})


def test_the_files_of_all_containers_have_a_limit_together(
    played: PlayedErrands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output_collector, "LARGEST_OUTPUT", 1000)
    containers = ["main", "side"]
    for name in containers:
        played.jobs.runs[name] = ContainerRun(0, {"output.json": b'{"a": "%s"}' % (b"x" * 800)})
    outputs = {name: {"output.json": {"name": f"result-{name}"}} for name in containers}
    played.create(
        errand_object(containers=[container(name) for name in containers], output={"outputMap": outputs})
    )
    played.settle()
    assert (reason(played), played.secrets()) == ("OutputTooLarge", {})


def test_versions_of_others_are_named_on_one_line(played: PlayedErrands) -> None:
    labels = {f"quarks.cloudfoundry.org/secret-{name}": value for name, value in VERSION_1.items()}
    meta = {"name": "result-v1", "namespace": NAMESPACE, "labels": labels}
    played.create({"apiVersion": "v1", "kind": "Secret", "metadata": meta})
    played.writes_output(CONTENT)
    played.create(errand_object(output=one_file(versioned=True, keep=1)))
    played.settle()
    assert played.errand().status.message == (
        "Its output: versions in namespace shop that others have created stay: result-v1. If nothing needs"
        " them, delete them: kubectl -n shop delete secret result-v1"
    )


def test_another_number_in_the_same_cause_is_no_news(played: PlayedErrands) -> None:
    played.writes_output(CONTENT)
    for port in (4711, 4712):
        refusal = Unreachable(f"read tcp 10.0.0.1:{port}->10.0.0.2:10250: i/o timeout")
        played.cluster.fail_when(lambda call: call.verb == "exec", refusal, times=1)
    played.create(errand_object(output=one_file()))
    versions = []
    for _port in range(2):
        with pytest.raises(Unreachable):
            played.settle()
        versions.append(played.errand().resource_version)
    assert versions[0] == versions[1]
    assert "i/o timeout" in played.errand().status.message


def test_a_warning_about_ignored_fields_stays_in_the_status(played: PlayedErrands) -> None:
    played.writes_output(CONTENT)
    messages: list[str] = []

    def look(_number: int, _call: Call) -> None:
        messages.append(str(condition(played, "Accepted").get("message")))

    played.seen = HookedCluster(played.cluster, before=look)
    played.create(errand_object(output=one_file(), job={"backoffLimit": 4}))
    played.settle()
    begun = next(number for number, text in enumerate(messages) if "backoffLimit is 4" in text)
    assert len(messages) > begun + 5
    assert [text for text in messages[begun:] if "backoffLimit is 4" not in text] == []


def _gone(kind: str) -> dict[str, str]:
    return {"apiVersion": "lifecycle.kyma-project.io/v1", "kind": kind, "name": "app", "uid": "gone"}


# Errands that depend on others.


def test_an_errand_that_reads_the_versions_of_another_runs_once_for_each(played: PlayedErrands) -> None:
    played.writes_output(b'{"a": "1"}')
    played.jobs.runs["reader"] = DONE
    reader = reading(("Secret", "result-v1"))
    reader["name"] = "reader"
    played.create(errand_object("b", containers=[reader], reruns=True))
    played.settle("b")
    assert played.errand("b").status.phase is ErrandPhase.WAITING
    played.create(errand_object("a", output=one_file(versioned=True)))
    played.settle("a", "b")
    assert played.made_jobs() == ["a-1", "b-1"]
    played.writes_output(b'{"a": "2"}')
    for request in ("same", "again"):
        played.patch({"metadata": {"annotations": {RUN_REQUEST: request}}}, "a")
        played.settle("a", "b")
    assert played.made_jobs() == ["a-1", "b-1", "a-2", "b-2", "a-3"]


def test_errands_that_read_each_other_are_named_and_do_not_run_for_ever(played: PlayedErrands) -> None:
    for name, other in (("a", "b"), ("b", "a")):
        main = container(name, envFrom=[{"secretRef": {"name": f"{other}-out-v1", "optional": True}}])
        output = {"outputMap": {name: {"output.json": {"name": f"{name}-out", "versioned": True}}}}
        played.create(errand_object(name, containers=[main], output=output, reruns=True))
    for number in range(4):
        content = b'{"a": "%d"}' % number
        played.jobs.runs.update(
            a=ContainerRun(0, {"output.json": content}), b=ContainerRun(0, {"output.json": content})
        )
        played.settle("a", "b")
    assert sorted(played.made_jobs()) == ["a-1", "b-1"]
    texts = [one["message"] for one in played.errand("a").status.conditions if one["type"] == "Cyclic"]
    assert len(texts) == 1
    assert "a -> b -> a" in texts[0]


# Messages.


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (None, "OutputMissing"),
        (b'{"geheim-wort": "geheim-wort"', "OutputInvalid"),
        (b'{"geheim-wort": 47114711}', "OutputInvalid"),
        (b'{"a": "' + b"geheim-wort" * 190_000 + b'"}', "OutputTooLarge"),
        (b'{"a": "geheim-wort \\ud800"}', "OutputInvalid"),
    ],
)
def test_output_that_makes_no_secret_is_shown_nowhere(
    played: PlayedErrands, content: bytes | None, expected: str
) -> None:
    played.writes_output(content)
    played.create(errand_object(output={**one_file(), "writeOnFailure": True}))
    played.settle()
    assert (reason(played), played.secrets(), strategy(played)) == (expected, {}, Strategy.DONE)
    shown: list[Any] = [played.object(), *played.outcomes, played.events()]
    shown += [*played.cluster.list(*JOB, NAMESPACE).items, *played.cluster.list(*POD, NAMESPACE).items]
    assert not any(text in repr(shown) for text in ("geheim", "-wort", "47114711"))


def test_status_and_events_of_a_run(played: PlayedErrands) -> None:
    played.create(errand_object(output=one_file()))
    played.writes_output(CONTENT)
    played.settle()
    assert played.events() == [("Started", "run 1 (Once)"), ("Succeeded", "run 1")]
    [entry] = played.errand().status.history
    assert (entry["run"], entry["why"], entry["secrets"]) == (1, "Once", ["result"])
    assert played.outcomes[-1]["secrets"] == ["result"]
    assert played.reconciler().reconcile(ErrandKey(NAMESPACE, "app")).steps == ()
