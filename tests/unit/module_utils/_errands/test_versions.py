# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Versions of Secrets over the runs of errands: which are deleted, who owns them, and their numbers."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Forbidden
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_index import ERRAND
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_model import (
    RUN_REQUEST,
    status_fields,
)

from tests.support.hooked_cluster import HookedCluster
from tests.support.played_errands import NAMESPACE, PlayedErrands, errand_object, one_file
from tests.support.secret_users import USERS, user_of

SECRET = ("v1", "Secret")


@pytest.fixture
def played() -> PlayedErrands:
    return PlayedErrands()


def run(played: PlayedErrands, value: str, name: str = "app") -> None:
    """Run an errand again, whose output has this value."""
    played.writes_output(b'{"a": "%s"}' % value.encode())
    played.patch({"metadata": {"annotations": {RUN_REQUEST: f"{value}-{len(played.made_jobs())}"}}}, name)
    played.settle(name)


def declare(
    played: PlayedErrands, name: str = "app", output: dict[str, Any] | None = None, **of: Any
) -> None:
    output = {**one_file(versioned=True, **of), **(output or {})}
    played.create(errand_object(name, strategy="manual", output=output))


def names(played: PlayedErrands) -> list[str]:
    return sorted(played.secrets())


def outcome(played: PlayedErrands, name: str = "app") -> tuple[str, str]:
    ended = played.errand(name).status.run.outcome
    assert ended is not None
    return ended.reason, ended.message


def owners(played: PlayedErrands, secret: str) -> list[str]:
    return [one["name"] for one in played.object(secret, SECRET)["metadata"].get("ownerReferences") or ()]


# What is deleted.


@pytest.mark.parametrize("place", USERS)
def test_a_version_stays_that_an_object_of_kubernetes_uses(played: PlayedErrands, place: str) -> None:
    declare(played, keep=1)
    run(played, "1")
    run(played, "2")
    assert names(played) == ["result-v2"]
    played.create(user_of(place, "result-v2", NAMESPACE))
    run(played, "3")
    run(played, "4")
    assert names(played) == ["result-v2", "result-v4"]
    assert outcome(played) == ("Completed", "")


def test_each_deleted_version_is_an_event_and_in_the_history_and_in_the_outcome(
    played: PlayedErrands,
) -> None:
    declare(played, keep=1)
    run(played, "1")
    assert [one for one in played.events() if one[0] == "VersionsDeleted"] == []
    run(played, "2")
    [event] = [one for one in played.events() if one[0] == "VersionsDeleted"]
    assert "Secret result-v1" in event[1]
    status = status_fields(played.errand().status)
    assert status["run"]["output"]["pruned"] == ["result-v1"]
    assert [one.get("pruned") for one in status["history"]] == [["result-v1"], None]
    assert [one["pruned"] for one in played.outcomes if one["state"] == "succeeded"] == [[], ["result-v1"]]


def test_check_mode_names_what_a_run_will_delete(played: PlayedErrands) -> None:
    declare(played, keep=1)
    run(played, "1")
    played.writes_output(b'{"a": "2"}')
    played.patch({"metadata": {"annotations": {RUN_REQUEST: "again"}}})
    key = played.errand().key

    def texts() -> list[str]:
        from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_steps import step_text
        from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.reconciler import rehearse_all

        done, failed = rehearse_all(played.reconciler(), [key])
        assert failed == []
        return [step_text(step) for one in done for step in one.steps]

    shown: list[str] = []
    for _round in range(10):
        shown += texts()
        played.reconcile()
        played.jobs.tick()
    [line] = {one for one in shown if one.startswith("read the output")}
    assert "result-v1" in line


def test_no_version_that_is_younger_is_deleted(played: PlayedErrands) -> None:
    declare(played, keep=1, keepSeconds=3600)
    run(played, "1")
    run(played, "2")
    assert names(played) == ["result-v1", "result-v2"]
    old = played.object("result-v1", SECRET)
    old["metadata"]["creationTimestamp"] = "2020-01-01T00:00:00Z"
    played.cluster.seed(old)
    run(played, "3")
    assert names(played) == ["result-v2", "result-v3"]


KINDS = {place.partition(",")[0] for place in USERS} - {"Job", "Pod"}
"""The kinds with a place for a Secret, without those that no errand runs without listing."""


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_without_the_right_to_read_one_kind_nothing_is_deleted(played: PlayedErrands, kind: str) -> None:
    declare(played, keep=1)
    run(played, "1")
    played.cluster.fail_when(
        lambda call: (call.verb, call.ref.kind) == ("list", kind) and call.ref.kind != "Job",
        Forbidden(f"list {kind}", status=403, api_message="no right"),
    )
    run(played, "2")
    assert names(played) == ["result-v1", "result-v2"]
    assert outcome(played)[0] == "Completed"
    assert f"list {kind}: no right" in outcome(played)[1]


# Who owns them.


def test_two_errands_with_the_same_content_both_own_the_version(played: PlayedErrands) -> None:
    declare(played, "old")
    run(played, "1", "old")
    declare(played, "new")
    run(played, "1", "new")
    assert owners(played, "result-v1") == ["old", "new"]
    assert outcome(played, "new")[0] == "Completed"
    for entry in played.object("result-v1", SECRET)["metadata"]["ownerReferences"]:
        assert "controller" not in entry


def test_other_content_of_a_second_errand_is_refused_unless_it_overwrites(played: PlayedErrands) -> None:
    declare(played, "old")
    run(played, "1", "old")
    declare(played, "new")
    run(played, "2", "new")
    reason, message = outcome(played, "new")
    assert reason == "SecretTaken"
    assert "Errand shop/old" in message
    assert names(played) == ["result-v1"]
    played.patch({"spec": {"output": {"overwrite": True}}}, "new")
    run(played, "2", "new")
    assert outcome(played, "new")[0] == "Completed"
    assert (owners(played, "result-v1"), owners(played, "result-v2")) == (["old"], ["new"])


def test_a_version_that_belongs_to_another_errand_too_is_not_deleted(played: PlayedErrands) -> None:
    declare(played, "old", keep=1)
    run(played, "1", "old")
    declare(played, "new")
    run(played, "1", "new")
    run(played, "2", "old")
    assert names(played) == ["result-v1", "result-v2"]


# Their numbers.


def test_the_number_of_a_deleted_version_is_not_used_again(played: PlayedErrands) -> None:
    declare(played)
    for value in ("1", "2"):
        run(played, value)
    played.cluster.delete(*SECRET, "result-v2", NAMESPACE)
    run(played, "3")
    assert names(played) == ["result-v1", "result-v3"]
    for name in ("result-v1", "result-v3"):
        played.cluster.delete(*SECRET, name, NAMESPACE)
    run(played, "4")
    assert names(played) == ["result-v4"]


def test_a_fan_out_reads_one_list_also_if_others_have_taken_its_names(played: PlayedErrands) -> None:
    declare(played, persistenceMethod="fan-out")
    for part in "abcd":
        metadata = {"name": f"result-{part}-v1", "namespace": NAMESPACE}
        played.create({"apiVersion": "v1", "kind": "Secret", "metadata": metadata})
    played.writes_output(b'{"a": "{}", "b": "{}", "c": "{}", "d": "{}"}')
    played.patch({"spec": {"trigger": {"strategy": "now"}}})
    played.seen = seen = HookedCluster(played.cluster)
    played.settle()
    assert [name for name in names(played) if name.endswith("v2")] == [f"result-{part}-v2" for part in "abcd"]
    lists = [one for one in seen.calls if (one.verb, one.kind) == ("list", "Secret")]
    assert len([one for one in lists if "label_selector" in dict(one.options)]) == 1


def test_the_number_outlives_the_errand(played: PlayedErrands) -> None:
    declare(played)
    run(played, "1")
    played.cluster.delete(*ERRAND, "app", NAMESPACE)
    assert names(played) == []
    declare(played)
    run(played, "2")
    assert names(played) == ["result-v2"]
