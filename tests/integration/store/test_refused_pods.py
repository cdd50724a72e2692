# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pods that the API server refuses to the controllers: what the task does, and what the list shows later."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest

from tests.support.eventually import eventually
from tests.support.extent import cases
from tests.support.store_user import User

from .test_stored_jobs import BACKUP, ONCE, WEB

pytestmark = [pytest.mark.cluster, pytest.mark.night]

Cause: TypeAlias = Callable[["User", bool], None]
"""Makes the API server refuse the pods of a namespace, or allow them again."""
HOOK = ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration")
RESTRICTED = {"pod-security.kubernetes.io/enforce": "restricted"}


def pod_security(user: User, is_refused: bool) -> None:
    labels = RESTRICTED if is_refused else dict.fromkeys(RESTRICTED)
    user.admin.patch("v1", "Namespace", user.namespace, None, {"metadata": {"labels": labels}})


def webhook(user: User, is_refused: bool) -> None:
    """One that does not answer."""
    if not is_refused:
        user.admin.delete(*HOOK, user.namespace)
        return
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    hook = {
        "name": "pods.example.com",
        "clientConfig": {"url": "https://127.0.0.1:1/"},
        "rules": [rule],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": user.namespace}},
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    obj = {"apiVersion": HOOK[0], "kind": HOOK[1], "metadata": {"name": user.namespace}, "webhooks": [hook]}
    user.admin.apply(obj, force=True)
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "probe", "namespace": user.namespace},
        "spec": {"containers": [{"name": "a", "image": "a"}]},
    }
    eventually(lambda: is_denied(user, pod))


def is_denied(user: User, pod: dict[str, Any]) -> bool:
    try:
        user.admin.create(pod, dry_run=True)
    except Exception as error:
        return "failed calling webhook" in str(error)
    return False


def service_account(user: User, is_refused: bool) -> None:
    if not is_refused:
        metadata = {"name": "reporter", "namespace": user.namespace}
        user.admin.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})


CAUSES: dict[str, tuple[Cause, str]] = {
    "pod security": (pod_security, 'violates PodSecurity "restricted:latest"'),
    "webhook": (webhook, 'failed calling webhook "pods.example.com"'),
    "service account": (service_account, 'serviceaccount "reporter" not found'),
}


def job_for(cause: Cause, job: dict[str, Any]) -> dict[str, Any]:
    if cause is not service_account:
        return job
    return {**job, "pod": {"spec": {"serviceAccountName": "reporter"}}}


@pytest.mark.parametrize(
    ("name", "job", "on_failure"),
    cases(
        [
            ("pod security", WEB, "rollback"),
            ("webhook", ONCE, "keep"),
            ("service account", WEB, "keep"),
        ],
        [(name, job, way) for name in CAUSES for job in (WEB, ONCE) for way in ("rollback", "keep")],
    ),
)
def test_a_new_job_with_refused_pods_is_rolled_back_or_stays(
    deployer: User, name: str, job: dict[str, Any], on_failure: str
) -> None:
    cause, words = CAUSES[name]
    job = job_for(cause, job)
    is_kept = on_failure == "keep" or cause is service_account
    cause(deployer, True)
    try:
        done = deployer.jobs(jobs=[job], on_failure=on_failure)
        assert words in done.message
        (row,) = done.result["jobs"]
        assert (row["action"], row["reason"], row["changed"]) == (
            "refused",
            "PodsRefused",
            is_kept,
        )
        if not is_kept:
            assert (deployer.definitions(), deployer.runtime(job["name"])) == ([], [])
        else:
            (definition,) = deployer.definitions()
            assert definition["status"]["reason"] == "PodsRefused"
            assert words in deployer.listed()[job["name"]]["message"]
            again = deployer.jobs(jobs=[job], on_failure=on_failure)
            assert (words in again.message, again.result["changed"], again.writes) == (True, False, [])
    finally:
        cause(deployer, False)
    if is_kept and job["type"] == "continuous":
        # Controllers wait longer and longer before they try again.
        deployer.jobs(name=job["name"], state="restarted").succeeded()
    eventually(lambda: not deployer.jobs(jobs=[job]).result.get("failed"), 60)
    eventually(lambda: deployer.listed()[job["name"]]["state"] in ("running", "finished"), 60)
    listed = deployer.listed()[job["name"]]
    assert (listed["reason"], listed["message"]) == ("", "")


def test_a_change_whose_pods_are_refused_is_rolled_back(deployer: User) -> None:
    """Of an image, of a type, of a Deployment that is replaced, and of a one-off job that has run."""
    labels = {"app": "web"}
    workload = {"spec": {"selector": {"matchLabels": labels}}}
    deployer.jobs(jobs=[WEB, BACKUP, ONCE]).succeeded()
    deployer.record_ends([WEB, BACKUP, ONCE])
    before = {name: deployer.forms(name) for name in ("web", "backup")}
    specs = {one["metadata"]["name"]: one["spec"] for one in deployer.definitions()}
    pod_security(deployer, True)
    for job in (
        {**WEB, "image": "nginx:2"},
        {**WEB, "workload": workload, "pod": {"metadata": {"labels": labels}}},
        {**ONCE, "command": "false"},
        {**WEB, "name": "backup"},
    ):
        done = deployer.jobs(jobs=[job])
        assert "The change was rolled back: the job is as it was before" in done.message
        # The Job of a run that has ended is not created again.
        is_changed = job["name"] == "once"
        assert (done.result["jobs"][0]["reason"], done.result["changed"]) == ("PodsRefused", is_changed)
        assert {one["metadata"]["name"]: one["spec"] for one in deployer.definitions()} == specs
        assert {name: deployer.forms(name) for name in ("web", "backup")} == before
    assert deployer.runtime("once") == []
    pod_security(deployer, False)
    deployer.jobs(jobs=[WEB, BACKUP, ONCE]).succeeded()
    assert deployer.runtime("once") == []
    deployer.jobs(jobs=[WEB, BACKUP, ONCE]).unchanged()


def test_a_refusal_after_the_task_shows_in_the_list(deployer: User) -> None:
    deployer.jobs(jobs=[WEB, BACKUP]).succeeded()
    pod_security(deployer, True)
    pods = deployer.admin.list("v1", "Pod", deployer.namespace).items
    for pod in pods:
        deployer.admin.delete("v1", "Pod", pod["metadata"]["name"], deployer.namespace)
    eventually(lambda: deployer.listed()["web"]["reason"] == "PodsRefused")
    assert "violates PodSecurity" in deployer.listed()["web"]["message"]
    repeated = deployer.jobs(jobs=[WEB]).succeeded()
    assert (repeated.result["jobs"][0]["reason"], repeated.result["changed"]) == ("PodsRefused", False)
    # The run of a schedule.
    refused = deployer.jobs(name="backup", state="restarted")
    assert "violates PodSecurity" in refused.message
    assert deployer.listed()["backup"]["reason"] == "PodsRefused"


def test_a_change_that_removes_the_cause_is_no_refusal(deployer: User) -> None:
    """What Kubernetes said about the pods before does not count."""
    refused = {**WEB, "pod": {"spec": {"serviceAccountName": "reporter"}}}
    assert deployer.jobs(jobs=[refused], on_failure="keep").result["failed"]
    assert deployer.jobs(jobs=[WEB]).succeeded().actions == {"web": "updated"}
    eventually(lambda: deployer.listed()["web"]["state"] == "running")
    assert deployer.listed()["web"]["reason"] == ""
