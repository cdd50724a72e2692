# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kit on migrations that have to leave a cluster alone, and on tests that can't be tests."""

from __future__ import annotations

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import Context, Verdict, blocked
from ansible_collections.kyma.lifecycle.plugins.plugin_utils.migration_testing import (
    BadTest,
    Disproved,
    assert_blocked,
    assert_migration,
    assert_none_overdue,
    assert_not_needed,
)

from tests.unit.plugin_utils._migration_testing import badly_written as bad
from tests.unit.plugin_utils._migration_testing.badly_written import AFTER, BEFORE


class Blocked(bad.MoveToken):
    """Nothing will do."""

    def check(self, ctx: Context) -> Verdict:
        ctx.cluster.get("storage.k8s.io/v1", "StorageClass", "fast")
        return blocked("StorageClass fast does not expand")


class Raises(bad.MoveToken):
    """Nothing will do."""

    def check(self, ctx: Context) -> Verdict:
        raise KeyError(ctx.release and "a")


def test_assert_not_needed_accepts_a_migration_without_need() -> None:
    assert_not_needed(bad.MoveToken)
    assert_not_needed(bad.MoveToken, AFTER)


def test_assert_blocked_accepts_a_migration_that_names_its_blocker() -> None:
    assert_blocked(Blocked, BEFORE, names=["StorageClass fast"])


def test_another_verdict() -> None:
    with pytest.raises(Disproved, match="check has to say not_needed, and said needed"):
        assert_not_needed(bad.MoveToken, BEFORE)
    with pytest.raises(Disproved, match="check has to say blocked, and said not_needed"):
        assert_blocked(bad.MoveToken)


def test_evidence_that_does_not_name_what_is_in_the_way() -> None:
    with pytest.raises(Disproved, match="its evidence has to name 'StorageClass slow': 'StorageClass fast"):
        assert_blocked(Blocked, names=["StorageClass slow"])


def test_a_check_that_fails_writes_or_asks_too_much() -> None:
    with pytest.raises(Disproved, match="its check failed: KeyError: 'a'"):
        assert_not_needed(Raises)
    with pytest.raises(Disproved, match="may only read: apply ConfigMap shop/i-was-here"):
        assert_not_needed(bad.WritesInCheck)
    with pytest.raises(Disproved, match="check made 4 requests, and 3 are allowed"):
        assert_not_needed(bad.AsksTooMuch)
    assert_not_needed(bad.AsksTooMuch, max_requests=4)


@pytest.mark.parametrize(
    ("before", "problem"),
    [
        (AFTER, "before and after are the same"),
        ([{"kind": "ConfigMap"}], "object 1 of before lacks apiVersion and metadata.name"),
        ([*BEFORE, *BEFORE], "before has ConfigMap shop/settings twice"),
        (
            [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}],
            "ConfigMap a lives in a namespace, and the test has to say in which",
        ),
        (
            [{"apiVersion": "a.test/v1", "kind": "Offer", "metadata": {"name": "a", "namespace": "shop"}}],
            "Offer shop/a: not every cluster serves Offer in a.test/v1",
        ),
    ],
)
def test_states_that_can_not_be_tested_with(before: list[Object], problem: str) -> None:
    with pytest.raises(BadTest, match=problem):
        assert_migration(bad.MoveToken, before, AFTER)


def test_a_collection_that_is_not_there() -> None:
    with pytest.raises(Disproved, match="a collection's migrations lie in plugins/module_utils"):
        assert_none_overdue("acme.nothing")
