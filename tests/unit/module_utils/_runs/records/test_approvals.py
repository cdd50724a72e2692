# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Approvals as plain values: what is one, when it ends, and what a user may not ask for."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import API_VERSION
from ansible_collections.kyma.lifecycle.plugins.module_utils._errors import LifecycleError
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.approvals import (
    APPROVAL,
    Approval,
    approval_record,
    find_approvals,
    new_approval,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
DIGEST = "ab" * 32
PARAMS: dict[str, Any] = {
    "ring": "rest",
    "release_digest": DIGEST,
    "reason": "see CHG-1",
    "until": "",
    "by": "alice",
    "clusters": ["a", "b"],
}


def new(**params: Any) -> Approval:
    return new_approval({**PARAMS, **params}, "jane", NOW)


def test_a_new_approval_equals_what_is_read_back() -> None:
    approval = new(reason="see\n  CHG-1", until="2026-11-22 08:00:00+02:00", clusters=["a", "b", "a"])
    assert (approval.reason, approval.until) == ("see CHG-1", "2026-11-22T06:00:00Z")
    assert approval.clusters == ("a", "b")
    record = approval_record(approval)
    meta = {**record["metadata"], "creationTimestamp": approval.at}
    assert APPROVAL.read({**record, "metadata": meta}) == approval
    assert approval_record(APPROVAL.read({**record, "metadata": meta})) == record


def test_an_approval_ends_at_its_time_and_one_without_a_readable_end_does_not_count() -> None:
    approval = new()
    assert approval.is_in_force(NOW)
    assert replace(approval, until="2026-11-21T12:00:01Z").is_in_force(NOW)
    assert not replace(approval, until="2026-11-21T12:00:00Z").is_in_force(NOW)
    assert not replace(approval, until="when I am back").is_in_force(NOW)


@pytest.mark.parametrize(
    ("params", "problem"),
    [
        ({"reason": " \n"}, "reason is empty"),
        ({"ring": ""}, "ring is empty"),
        ({"release_digest": ""}, "release_digest is ''"),
        ({"release_digest": DIGEST[1:]}, "not a sha256"),
        ({"release_digest": DIGEST.upper()}, "not a sha256"),
        ({"until": "yesterday"}, "until is yesterday, which is not a time in the future"),
        ({"until": "2026-11-21T12:00:00Z"}, "not a time in the future"),
    ],
)
def test_an_invalid_approval_is_refused(params: dict[str, str], problem: str) -> None:
    with pytest.raises(LifecycleError, match=problem):
        new(**params)


def test_a_sentence_names_the_account_and_the_stated_person() -> None:
    text = str(new(until="2026-11-22"))
    assert text == (
        "ring rest is approved for the release abababababab by alice (jane) since 2026-11-21T12:00:00Z"
        " until 2026-11-22T00:00:00Z: see CHG-1"
    )
    assert " by jane since" in str(new(by=""))


def test_a_record_that_a_person_wrote_is_read_on_one_line_without_commands_for_a_terminal() -> None:
    spec = {"ring": "rest", "reason": "a\nb\x1b[31m", "releaseDigest": DIGEST, "clusters": ["a\nb"]}
    approval = APPROVAL.read({"metadata": {"name": "x"}, "spec": spec})
    assert all(part.isprintable() for part in (approval.reason, *approval.clusters))
    assert APPROVAL.read({"metadata": {"name": "x"}}) == Approval("", "", "")


@pytest.mark.parametrize("ring", ["rest", "Rest_of_EU", "ü", "x" * 300])
def test_each_ring_has_a_valid_name_of_its_record(ring: str) -> None:
    name = approval_record(new(ring=ring))["metadata"]["name"]
    assert len(name) <= 253
    assert name.replace("-", "").isalnum()
    assert name == name.lower().strip("-")
    assert name.isascii()


def test_approvals_of_equal_words_and_changed_approvals_have_names_of_their_own() -> None:
    approvals = [new(), new(reason="see CHG-2"), new(until="2026-11-22"), new(ring="a_b"), new(ring="a-b")]
    assert len({approval_record(one)["metadata"]["name"] for one in approvals}) == len(approvals)


def test_a_cluster_without_the_definition_has_no_approvals_and_says_so() -> None:
    cluster = MemoryCluster()
    assert find_approvals(cluster) == ([], "the cluster has no definition of approvals")
    cluster.apply(APPROVAL.definition)
    assert find_approvals(cluster) == ([], "")
    cluster.create(approval_record(new()))
    [approved], problem = find_approvals(cluster)
    assert (replace(approved, at=""), problem) == (replace(new(), at=""), "")
    assert cluster.get(API_VERSION, "KymaApproval", approved.name)
