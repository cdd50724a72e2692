# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the account of the job store can't do without: each right of the shipped role, taken away alone.

A task that lacks one of them is refused before its first write, and names it.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import GROUP
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.switches import (
    JOB_STORE,
    STORE_NAME,
    StoreSwitches,
    write_switches,
)

from tests.support.single_rights import RBAC, LimitedUser, SingleRight, one_by_one, single_rights
from tests.support.store_user import Done, User

from .conftest import ROLES
from .test_imports import by_hand
from .test_stored_jobs import JOBS

pytestmark = pytest.mark.cluster

ROLE = yaml.safe_load((ROLES / "manager.yaml").read_text())
RIGHTS = single_rights(ROLE["rules"])
DEFINITIONS = ("oneoffjobs", "scheduledjobs", "continuousjobs")
STATUSES = tuple(f"{one}/status" for one in DEFINITIONS)
RUNTIME = ("jobs", "cronjobs", "deployments", "services")

FOR_CHANGES = [one for one in RIGHTS if one.resource in (*DEFINITIONS, *STATUSES, *RUNTIME, "jobcounters")]
FOR_IMPORTS = [
    one for one in RIGHTS if one.verb != "delete" and one.resource in (*DEFINITIONS, *STATUSES, "jobcounters")
]
FOR_SWITCHES = [one for one in RIGHTS if one.resource == "jobstores"]
WITHOUT_THEM = [one for one in RIGHTS if one not in FOR_CHANGES and one not in FOR_SWITCHES]
"""Rights for the reasons of refused pods, and for the custom resources of Toolforge."""

DELETION = SingleRight("delete", "apps", "deployments")
STATUS = SingleRight("patch", GROUP, "continuousjobs/status")


@pytest.fixture(scope="module")
def limited(admin: User) -> Iterator[LimitedUser]:
    user = LimitedUser(admin.admin, f"store-{secrets.token_hex(4)}", RIGHTS)
    yield user
    for kind in ("ClusterRoleBinding", "ClusterRole"):
        admin.admin.delete(f"{RBAC}/v1", kind, user.name)


@pytest.fixture(scope="module")
def rolled_out(admin: User) -> Iterator[User]:
    """An administrator in a namespace in which each job runs."""
    with user_of_new_namespace(admin) as user:
        user.jobs(jobs=JOBS).succeeded()
        user.record_ends(JOBS)
        yield user


@pytest.fixture(scope="module")
def with_unknown_job(admin: User) -> Iterator[User]:
    """An administrator in a namespace with a job that has no definition."""
    with user_of_new_namespace(admin) as user:
        by_hand(user, "old")
        yield user


@contextmanager
def user_of_new_namespace(admin: User) -> Iterator[User]:
    name = f"store-{secrets.token_hex(4)}"
    admin.admin.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    try:
        yield replace(admin, namespace=name)
    finally:
        admin.admin.delete("v1", "Namespace", name)


def assert_refused(done: Done, right: SingleRight, namespace: str) -> None:
    assert right.is_named_in(done.message, namespace), done.message
    assert done.writes == []


def changed_jobs() -> list[dict[str, Any]]:
    """A change of each job, which it can only get by another object."""
    return [{**one, "image": "busybox:1.36"} for one in JOBS]


@pytest.mark.parametrize("right", one_by_one([DELETION], FOR_CHANGES), ids="-".join)
def test_without_a_single_right_no_job_is_changed(
    rolled_out: User, limited: LimitedUser, right: SingleRight
) -> None:
    def state() -> object:
        return rolled_out.definitions(), [rolled_out.forms(one["name"]) for one in JOBS]

    before = state()
    limited.grant_all_but(right)
    changed = rolled_out.jobs(jobs=changed_jobs(), impersonate_user=limited.name)
    assert_refused(changed, right, rolled_out.namespace)
    names = [{"name": one["name"]} for one in JOBS]
    deleted = rolled_out.jobs(jobs=names, state="absent", impersonate_user=limited.name)
    assert_refused(deleted, right, rolled_out.namespace)
    assert state() == before


@pytest.mark.parametrize("right", one_by_one([STATUS], FOR_IMPORTS), ids="-".join)
def test_without_a_single_right_no_job_is_imported(
    with_unknown_job: User, limited: LimitedUser, right: SingleRight
) -> None:
    limited.grant_all_but(right)
    imported = with_unknown_job.imported(impersonate_user=limited.name)
    assert_refused(imported, right, with_unknown_job.namespace)
    assert with_unknown_job.definitions() == []


@pytest.mark.parametrize("right", one_by_one(FOR_SWITCHES[-1:], FOR_SWITCHES), ids="-".join)
def test_without_a_single_right_no_switch_is_set(
    admin: User, limited: LimitedUser, right: SingleRight
) -> None:
    write_switches(admin.admin, StoreSwitches())
    if right.verb == "create":
        admin.admin.delete(*JOB_STORE.address, STORE_NAME)
    before = admin.admin.get(*JOB_STORE.address, STORE_NAME)
    limited.grant_all_but(right)
    refused = admin.store(unknown_jobs="ignore", force=True, impersonate_user=limited.name)
    assert right.is_named_in(refused.message, "")
    assert admin.admin.get(*JOB_STORE.address, STORE_NAME) == before


def test_all_else_can_be_missing(deployer: User, admin: User, limited: LimitedUser) -> None:
    """Together these rights are the whole role, so each one was tried."""
    assert {*FOR_CHANGES, *FOR_SWITCHES, *WITHOUT_THEM} == {*RIGHTS}
    limited.grant_all_but(*WITHOUT_THEM)
    user = replace(admin, namespace=deployer.namespace)
    for jobs in (JOBS, changed_jobs()):
        done = user.jobs(jobs=jobs, impersonate_user=limited.name).succeeded()
        assert {one["changed"] for one in done.result["jobs"]} == {True}
    by_hand(user, "old")
    assert user.imported(impersonate_user=limited.name).succeeded().result["changed"]
    user.imported(impersonate_user=limited.name).unchanged()
