# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the engine of errands can't do without: each right of its role and of its lease, taken away alone.

An errand does not begin a run that lacks a right, and an engine that can run no errand does not start.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import GROUP, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.connection import connect
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_definition import (
    ENGINE_ROLE,
    ERRAND_KINDS,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.lease import LIFECYCLE_NAMESPACE

from tests.cluster.paths import ROOT
from tests.support.single_rights import RBAC, LimitedUser, SingleRight, one_by_one, single_rights

from .conftest import ERRAND, Author, job_template

pytestmark = pytest.mark.cluster

ENGINE = single_rights(ENGINE_ROLE["rules"])
LEASE = single_rights(
    rule
    for one in yaml.safe_load((ROOT / "examples" / "errands" / "engine.yaml").read_text())["items"]
    for rule in one.get("rules", ())
)
OF_EACH_RUN = ("errands", "errands/status", "errands/finalizers", "jobs", "pods")
READ = ("configmaps", "secrets")

TO_START = [
    *LEASE,
    *(one for one in ENGINE if one.resource in OF_EACH_RUN),
    *(one for one in ENGINE if one.resource in READ and one.verb in ("list", "watch")),
]
EXEC = [one for one in ENGINE if one.resource == "pods/exec"]
OLD_VERSIONS = SingleRight("delete", "", "secrets")
TO_RUN = [
    one
    for one in ENGINE
    if one.resource in (*OF_EACH_RUN, *READ) and one.verb != "watch" and one != OLD_VERSIONS
]
WITHOUT_THEM = [one for one in ENGINE if one not in (*TO_START, *TO_RUN, *EXEC)]
"""Rights for Events, for a quick end of the wait for a quota, and for deleting old versions of Secrets."""

DELETION = SingleRight("delete", "batch", "jobs")
SECRET = SingleRight("patch", "", "secrets")


@pytest.fixture(scope="module")
def limited(kubeconfig: str) -> Iterator[LimitedUser]:
    api = connect({"kubeconfig": kubeconfig}, field_manager="tests")
    ERRAND_KINDS.install(api)
    api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": LIFECYCLE_NAMESPACE}})
    user = LimitedUser(api, f"engine-{secrets.token_hex(4)}", [*ENGINE, *LEASE])
    yield user
    for kind in ("ClusterRoleBinding", "ClusterRole"):
        api.delete(f"{RBAC}/v1", kind, user.name)


def errand_with_everything(author: Author) -> Object:
    """An errand whose run reads a ConfigMap and a Secret, and writes a Secret from its output."""
    for kind, data in (("ConfigMap", {"data": {"a": "b"}}), ("Secret", {"stringData": {"a": "b"}})):
        metadata = {"name": "config", "namespace": author.namespace}
        author.api.apply({"apiVersion": "v1", "kind": kind, "metadata": metadata, **data})
    template = job_template()
    (container,) = template["spec"]["template"]["spec"]["containers"]
    container["envFrom"] = [{"configMapRef": {"name": "config"}}, {"secretRef": {"name": "config"}}]
    return {
        "apiVersion": ERRAND[0],
        "kind": ERRAND[1],
        "metadata": {"name": "backup", "namespace": author.namespace},
        "spec": {
            "trigger": {"strategy": "once"},
            "template": template,
            "output": {"outputMap": {"main": {"output.json": {"name": "out"}}}},
            "updateOnConfigChange": True,
        },
    }


def jobs_of(author: Author) -> list[str]:
    return [one["metadata"]["name"] for one in author.api.list("batch/v1", "Job", author.namespace).items]


@pytest.mark.parametrize("right", one_by_one([SECRET], TO_RUN), ids="-".join)
def test_without_a_single_right_no_run_begins(
    author: Author, limited: LimitedUser, right: SingleRight
) -> None:
    author.api.create(errand_with_everything(author))
    before = author.read("backup")
    limited.grant_all_but(right)
    refused = author.reconcile(impersonate_user=limited.name)
    assert right.is_named_in(refused.message, author.namespace), refused.message
    assert refused.writes == []
    assert (author.read("backup"), jobs_of(author)) == (before, [])


@pytest.mark.parametrize("right", one_by_one(EXEC[-1:], EXEC), ids="-".join)
def test_without_exec_the_errand_is_refused(author: Author, limited: LimitedUser, right: SingleRight) -> None:
    author.api.create(errand_with_everything(author))
    limited.grant_all_but(right)
    author.reconcile(impersonate_user=limited.name).succeeded()
    shown = author.info()["backup"]
    assert shown["phase"] == "Refused"
    assert f"{right.verb} " in shown["message"]
    assert right.resource in shown["message"]
    assert jobs_of(author) == []


@pytest.mark.parametrize("right", one_by_one([DELETION], TO_START), ids="-".join)
def test_without_a_single_right_the_engine_does_not_start(
    author: Author, limited: LimitedUser, right: SingleRight
) -> None:
    author.api.create(errand_with_everything(author))
    limited.grant_all_but(right)
    refused = author.reconcile(watch=True, watch_seconds=20, impersonate_user=limited.name)
    place = LIFECYCLE_NAMESPACE if right in LEASE else author.namespace
    assert right.is_named_in(refused.message, place), refused.message
    assert refused.writes == []
    assert (refused.progress, jobs_of(author)) == ([], [])


def test_all_else_can_be_missing(author: Author, limited: LimitedUser) -> None:
    """Together these rights are the whole role, so each one was tried."""
    author.api.create(errand_with_everything(author))
    limited.grant_all_but(*WITHOUT_THEM)
    rehearsed = author.reconcile(check=True, impersonate_user=limited.name).succeeded()
    assert (rehearsed.result["changed"], rehearsed.writes) == (True, [])
    assert author.reconcile(impersonate_user=limited.name).succeeded().result["changed"]
    assert jobs_of(author) == ["backup-1"]
    watched = author.reconcile(watch=True, watch_seconds=2, impersonate_user=limited.name).succeeded()
    assert any("watching" in line for line in watched.progress)
    assert {one.group for one in WITHOUT_THEM} >= {"apps", "batch", ""}
    assert GROUP not in {one.group for one in WITHOUT_THEM}
