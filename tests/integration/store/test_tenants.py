# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What tenants may do, what quotas refuse, and how many requests a list takes, on a real API server."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Forbidden
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models import defaults
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.core_job import JobType
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.storage.definition import (
    DEFINITION_KINDS,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._store import job_state
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.snapshot import read_snapshot
from ansible_collections.kyma.lifecycle.plugins.module_utils._threads import map_in_threads

from tests.support.eventually import eventually
from tests.support.extent import IS_FULL
from tests.support.kubectl import kubectl
from tests.support.store_user import Done, User

from .test_imports import by_hand
from .test_stored_jobs import BACKUP, JOBS, ONCE, WEB

pytestmark = pytest.mark.cluster

NAMESPACES, JOBS_EACH = 300 if IS_FULL else 50, 10


def test_a_tenant_reads_definitions_and_writes_none(deployer: User, tenant: User) -> None:
    """Case 6."""
    deployer.jobs(jobs=JOBS).succeeded()
    api, namespace = tenant.connection(), tenant.namespace
    # The roles of the store are aggregated by a controller.
    eventually(lambda: is_allowed(lambda: api.list(*DEFINITION_KINDS[JobType.ONE_OFF], namespace)))
    before = deployer.definitions()
    for job in JOBS:
        kind, name = DEFINITION_KINDS[JobType(job["type"])], job["name"]
        (definition,) = api.list(*kind, namespace).items
        assert (api.get(*kind, name, namespace) or {})["spec"] == definition["spec"]
        new = {**definition, "metadata": {"name": "new", "namespace": namespace}}
        attempts: list[Callable[[], Any]] = [
            lambda new=new: api.create(new),
            lambda kind=kind, name=name: api.patch(*kind, name, namespace, {"spec": {"image": "mine"}}),
            lambda kind=kind, name=name: api.patch(
                *kind, name, namespace, {"status": {"message": "mine"}}, subresource="status"
            ),
            lambda kind=kind, name=name: api.delete(*kind, name, namespace),
        ]
        assert [is_allowed(attempt) for attempt in attempts] == [False] * 4
    assert deployer.definitions() == before


def is_allowed(attempt: Callable[[], Any]) -> bool:
    try:
        attempt()
    except Forbidden:
        return False
    return True


def test_a_tenant_lists_jobs_by_the_module_and_changes_none(deployer: User, tenant: User) -> None:
    deployer.jobs(jobs=JOBS).succeeded()
    eventually(
        lambda: {one["state"] for one in deployer.listed().values()} == {"finished", "scheduled", "running"}
    )
    eventually(lambda: is_allowed(lambda: read_snapshot(tenant.connection(), (tenant.namespace,))))
    assert tenant.listed() == deployer.listed()
    (warning,) = tenant.info().result["warnings"]
    assert "The switches of the job store are unknown" in warning
    before = deployer.definitions()
    for refused in (
        tenant.jobs(name="web", type="continuous", image="mine"),
        tenant.jobs(name="new", type="one-off", image="mine"),
        tenant.jobs(name="web", state="absent"),
    ):
        assert "lacks rights" in refused.message
    assert deployer.definitions() == before
    assert deployer.listed().keys() == {"once", "backup", "web"}


def test_kubectl_prints_the_columns(deployer: User, tenant: User) -> None:
    deployer.jobs(jobs=JOBS).succeeded()
    eventually(lambda: is_allowed(lambda: read_snapshot(tenant.connection(), (tenant.namespace,))))
    assert printed(tenant, "get", "scj") == [
        ["NAME", "SCHEDULE", "SUSPEND", "READY", "REASON"],
        ["backup", "@daily", "True"],
    ]
    assert printed(tenant, "get", "coj")[1] == ["web", "8080", "True"]
    assert printed(tenant, "get", "ooj")[1][:2] == ["once", "1"]
    assert ["scheduledjob.lifecycle.kyma-project.io/backup", "@daily"] in [
        row[:2] for row in printed(tenant, "get", "kyma-lifecycle") if row
    ]


def printed(user: User, *arguments: str) -> list[list[str]]:
    """The words of each line that kubectl prints, without the age."""
    # kubectl ends with 1 where a category has kinds that the user may not read.
    text = kubectl(user.kubeconfig, *arguments, namespace=user.namespace, fine=(0, 1))
    return [line.split()[:-1] for line in text.splitlines()]


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job["name"])
@pytest.mark.parametrize("on_failure", ["rollback", "keep"])
def test_a_quota_that_refuses_the_job(deployer: User, on_failure: str, job: dict[str, Any]) -> None:
    """Case 7."""
    counted = {
        "once": "count/jobs.batch",
        "backup": "count/cronjobs.batch",
        # The Deployment is there by then.
        "web": "count/services",
    }
    deployer.set_quota({counted[job["name"]]: "0"})
    rehearsed = deployer.rehearse(jobs=[job], on_failure=on_failure)
    refused = deployer.jobs(jobs=[job], on_failure=on_failure)
    assert "exceeded quota" in refused.message
    assert rehearsed.result == refused.result
    assert refused.result["jobs"][0]["reason"] == "OutOfQuota"
    assert refused.result["changed"] is (on_failure == "keep")
    if on_failure == "rollback":
        assert (deployer.definitions(), deployer.runtime(job["name"])) == ([], [])
    else:
        listed = deployer.listed()[job["name"]]
        assert (listed["reason"], "exceeded quota" in listed["message"]) == ("OutOfQuota", True)
    deployer.set_quota({counted[job["name"]]: "5"})
    retry(deployer, job)
    assert deployer.listed()[job["name"]]["reason"] == ""
    deployer.record_ends([job])
    deployer.jobs(jobs=[job]).unchanged()


def retry(user: User, job: dict[str, Any]) -> None:
    """Declare a job until the API server has noticed that the quota was raised."""
    eventually(lambda: not user.jobs(jobs=[job]).result.get("failed"))
    assert [one["kind"] for one in user.runtime(job["name"])]


def test_a_quota_that_refuses_the_pods(deployer: User) -> None:
    """Case 7."""
    deployer.set_quota({"pods": "0"})
    deployer.jobs(jobs=[ONCE, WEB]).succeeded()

    def reasons() -> dict[str, str]:
        return {name: one["reason"] for name, one in deployer.listed().items()}

    eventually(lambda: reasons() == {"once": "OutOfQuota", "web": "OutOfQuota"})
    assert "exceeded quota" in deployer.listed()["once"]["message"]
    repeated = deployer.jobs(jobs=[ONCE, WEB]).succeeded()
    assert all("OutOfQuota" in line for line in repeated.result["lines"])
    deployer.set_quota({"pods": "5"})
    deployer.jobs(jobs=[{"name": "once"}, {"name": "web"}], state="restarted").succeeded()
    eventually(lambda: reasons() == {"once": "", "web": ""})
    eventually(lambda: deployer.listed()["once"]["state"] == "finished")


def test_a_new_default_makes_jobs_outdated(deployer: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """Case 5."""
    deployer.jobs(jobs=[BACKUP, WEB]).succeeded()
    before = {name: deployer.forms(name) for name in ("backup", "web")}
    newest = defaults.CURRENT_DEFAULTS + 1
    table = {**defaults.DEFAULTS[defaults.CURRENT_DEFAULTS], "memory": "1Gi"}
    monkeypatch.setattr(defaults, "DEFAULTS", MappingProxyType({**defaults.DEFAULTS, newest: table}))
    monkeypatch.setattr(job_state, "CURRENT_DEFAULTS", newest)
    listed = deployer.listed()
    # web sets its memory.
    assert {name: one["outdated"] for name, one in listed.items()} == {"backup": True, "web": False}
    assert {name: one["drift"] for name, one in listed.items()} == {"backup": [], "web": []}
    deployer.imported().unchanged()
    assert {name: deployer.forms(name) for name in before} == before


@pytest.fixture
def namespaces(deployer: User) -> Iterator[list[str]]:
    prefix = f"test-{secrets.token_hex(4)}"
    made = [f"{prefix}-{number}" for number in range(NAMESPACES)]
    api = deployer.admin
    map_in_threads(
        lambda one: api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": one}}), made
    )
    yield made
    map_in_threads(lambda one: api.delete("v1", "Namespace", one), made)


def requests_of(done: Done) -> Counter[str]:
    return Counter(call.verb for call in done.calls if call.verb != "resource")


def test_500_jobs_are_listed_by_one_request_for_each_kind(deployer: User, namespaces: list[str]) -> None:
    """Case 9; 3,000 jobs in 300 namespaces where everything is tried."""
    users = [replace(deployer, namespace=one) for one in namespaces]
    places = [(user, f"job-{number}") for user in users for number in range(JOBS_EACH)]
    map_in_threads(lambda place: by_hand(*place), places)
    imported = deployer.imported(namespaces=[]).succeeded()
    mine = [one for one in imported.result["imported"] if one.split("/")[0] in namespaces]
    assert len(mine) == NAMESPACES * JOBS_EACH
    listed = deployer.info(namespaces=[])
    jobs = [one for one in listed.result["jobs"] if one["namespace"] in namespaces]
    assert len(jobs) == NAMESPACES * JOBS_EACH
    assert not any(one["adoptable"] or one["drift"] for one in jobs)
    # The three kinds of definitions, Job, CronJob, Deployment, Service and the counters; and the switches.
    assert requests_of(listed) == {"list": 8, "get": 1}
