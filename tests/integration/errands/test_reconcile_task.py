# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tasks ``reconcile_errands`` and ``errand_info`` on a real API server."""

from __future__ import annotations

import time
from collections import Counter

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_index import watched_scopes
from ansible_collections.kyma.lifecycle.plugins.module_utils._threads import map_in_threads

from .conftest import ERRAND, NEVER_SCHEDULED, Author, Done, job_template

pytestmark = pytest.mark.cluster

MANY = 200


def errand_named(
    author: Author, name: str, strategy: str, *, labels: Object | None = None, **pod: object
) -> Object:
    spec = {"trigger": {"strategy": strategy}, "template": job_template(**pod)}
    metadata = {"name": name, "namespace": author.namespace, "labels": labels or {}}
    return {"apiVersion": ERRAND[0], "kind": ERRAND[1], "metadata": metadata, "spec": spec}


def until_nothing_is_left(author: Author) -> None:
    """Reconcile until the Jobs of all runs are deleted. In between, there may be nothing to do."""
    end = time.monotonic() + 60
    while (
        author.reconcile().succeeded().result["changed"]
        or author.api.list("batch/v1", "Job", author.namespace).items
    ):
        assert time.monotonic() < end
        time.sleep(0.1)


def step_lists(done: Done) -> dict[str, list[str]]:
    return {row["name"]: row["steps"] for row in done.result["errands"]}


def test_all_are_done_side_by_side_and_a_second_time_nothing_is(author: Author) -> None:
    author.api.create(errand_named(author, "one", "once"))
    author.api.create(errand_named(author, "two", "once"))
    author.api.create(errand_named(author, "idle", "manual"))
    rehearsed = author.reconcile(check=True).succeeded()
    assert (rehearsed.result["changed"], rehearsed.writes) == (True, [])
    assert step_lists(rehearsed) == {
        "idle": ["record phase Idle"],
        "one": ["record phase Running of run 1", "create Job one-1"],
        "two": ["record phase Running of run 1", "create Job two-1"],
    }

    done = author.reconcile().succeeded()
    assert step_lists(done)["one"][:2] == step_lists(rehearsed)["one"]
    assert {row["name"]: row["run"] for row in done.result["errands"]} == {"idle": 0, "one": 1, "two": 1}
    until_nothing_is_left(author)
    author.reconcile().unchanged()
    author.reconcile(check=True).unchanged()
    assert {name: one["phase"] for name, one in author.info().items()} == {
        "idle": "Idle",
        "one": "Succeeded",
        "two": "Succeeded",
    }


def test_a_run_that_failed_fails_the_task_only_if_that_is_asked_for(author: Author) -> None:
    author.api.create(
        errand_named(author, "late", "once", job={"activeDeadlineSeconds": 1}, **NEVER_SCHEDULED)
    )
    author.api.create(errand_named(author, "fine", "once"))
    end, ended = time.monotonic() + 60, list[dict[str, object]]()
    while author.info()["late"]["phase"] != "Failed" or author.info()["fine"]["phase"] != "Succeeded":
        ended += author.reconcile().succeeded().result["durations"]
        assert time.monotonic() < end
    # Each end is reported once, by the call that has recorded it.
    assert sorted((row["kind"], row["name"], row["state"]) for row in ended) == [
        ("errand", f"{author.namespace}/fine", "succeeded"),
        ("errand", f"{author.namespace}/late", "failed"),
    ]
    failed = author.reconcile(fail_on="run")
    assert f"1 of 2 errands failed; all others are done:\n- Errand {author.namespace}/late" in failed.message
    assert failed.result["failures"] == []


def test_one_that_can_not_be_reconciled_stops_no_other_and_is_named(author: Author) -> None:
    quota = {"hard": {"count/jobs.batch": "0"}}
    metadata = {"name": "none", "namespace": author.namespace}
    author.api.create({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": quota})
    end = time.monotonic() + 30
    while not (author.api.get("v1", "ResourceQuota", **metadata) or {}).get("status", {}).get("hard"):
        assert time.monotonic() < end
    author.api.create(errand_named(author, "one", "once"))
    author.api.create(errand_named(author, "idle", "manual"))
    failed = author.reconcile()
    assert f"1 of 2 errands failed; all others are done:\n- Errand {author.namespace}/one: " in failed.message
    assert "exceeded quota" in failed.message
    (failure,) = failed.result["failures"]
    assert (failure["namespace"], failure["name"]) == (author.namespace, "one")
    assert "idle" in step_lists(failed)

    # Its run is noted; the Job is created once there is room.
    author.api.delete("v1", "ResourceQuota", **metadata)
    until_nothing_is_left(author)
    assert author.info()["one"]["run"]["run"] == 1


def test_without_need_two_hundred_errands_take_as_many_requests_as_there_are_kinds(author: Author) -> None:
    map_in_threads(
        lambda number: author.api.create(errand_named(author, f"errand-{number}", "manual")), range(MANY)
    )
    until_nothing_is_left(author)
    done = author.reconcile().unchanged()
    assert len(done.result["errands"]) == MANY
    verbs = Counter(call.verb for call in done.calls if call.verb != "resource")
    # The definition is read, and each kind is listed.
    assert verbs == {"get": 1, "list": len(watched_scopes())}


def test_info_shows_the_runs_and_reads_only(author: Author) -> None:
    author.api.create(errand_named(author, "one", "once", labels={"app": "shop"}))
    author.api.create(errand_named(author, "other", "manual"))
    until_nothing_is_left(author)
    assert author.info(names=["other"]).keys() == {"other"}
    selected = author.info(label_selectors=["app=shop"])
    assert selected.keys() == {"one"}
    one = selected["one"]
    assert (one["phase"], one["trigger"], one["secrets"]) == ("Succeeded", "done", [])
    assert one["history"] == [one["run"]]
    assert (one["run"]["state"], one["run"]["trigger"], one["run"]["exit_code"]) == ("succeeded", "Once", 0)
    assert {condition["type"] for condition in one["conditions"]} == {"Accepted", "Running", "Succeeded"}
    never = author.info(names=["other"])["other"]
    assert (never["phase"], never["run"], never["history"]) == ("Idle", None, [])
