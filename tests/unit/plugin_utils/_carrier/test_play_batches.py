# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which hosts had their turn before a host, and what their failures mean for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from ansible import context
from ansible.executor.playbook_executor import PlaybookExecutor
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.play_batches import (
    HostTurn,
    host_turn,
    play_batches,
)

HOSTS = [f"c{number}" for number in range(10)]


def turn(
    host: str,
    failed: Sequence[str] = (),
    limit: float = 100,
    out: Sequence[str] = (),
    more: Mapping[str, Any] | None = None,
    **keywords: Any,
) -> HostTurn:
    """The turn of a host in a play of all hosts, with more variables and these keywords."""
    play = {
        "serial": [],
        "order": None,
        "strategy": "linear",
        "max_fail_percentage": None,
        "any_errors_fatal": False,
        **keywords,
    }
    variables = {
        "inventory_hostname": host,
        "ansible_play_hosts_all": HOSTS,
        "ansible_play_hosts": [one for one in HOSTS if one not in failed],
        "ansible_play_batch": [one for one in HOSTS[:2] if one not in failed],
        **(more or {}),
    }
    return host_turn(SimpleNamespace(**play), variables, limit, lambda value: value, lambda: out)


class _Inventory:
    """Hosts in the inventory's order."""

    def get_hosts(self, _pattern: str, order: str | None) -> list[str]:
        return sorted(HOSTS, reverse=True) if order == "reverse_sorted" else list(HOSTS)


@pytest.mark.parametrize("order", [None, "inventory", "reverse_sorted"])
@pytest.mark.parametrize(
    "serial", [[], [1], ["3"], [1, "25%", "100%"], ["30%"], [0], [2, -1], ["1%"], [1, 5], [100]]
)
def test_batches_are_those_of_ansible(serial: list[str | int], order: str | None) -> None:
    executor = PlaybookExecutor.__new__(PlaybookExecutor)
    executor._inventory = _Inventory()
    play = SimpleNamespace(hosts="all", order=order, serial=serial)
    assert play_batches(HOSTS, serial, order) == executor._get_serialized_batches(play)


def test_a_random_order_hides_the_batches() -> None:
    assert play_batches(HOSTS, [3], "shuffle") is None
    whole = play_batches(HOSTS, [], "shuffle")
    assert whole is not None
    assert sorted(whole[0]) == HOSTS


@pytest.mark.parametrize(
    ("host", "failed", "limit", "is_refused"),
    [
        ("c0", [], 0, False),
        ("c2", [], 0, False),
        ("c2", ["c0"], 0, True),
        ("c2", ["c0"], 49.9, True),
        ("c2", ["c0"], 50, False),
        ("c2", ["c0", "c1"], 99, True),
        ("c2", ["c0", "c1"], 100, False),
        # Each batch counts for itself: two of four are too many, though they are two of six that were before.
        ("c8", ["c2", "c3"], 49, True),
        ("c8", ["c2", "c7"], 30, False),
        # Nor does it matter who failed in the batch of the host itself, or comes later.
        ("c2", ["c3", "c4"], 0, False),
        ("c0", ["c1"], 0, False),
    ],
)
def test_too_many_failures_of_an_earlier_batch_are_refused(
    host: str, failed: list[str], limit: float, *, is_refused: bool
) -> None:
    refusal = turn(host, failed, limit, serial=[2, 4], strategy="host_pinned").refusal()
    assert bool(refusal) is is_refused
    if is_refused:
        assert all(one in refusal for one in failed)
        assert f"allows {limit:g} %" in refusal


def test_clusters_that_are_out_have_not_failed() -> None:
    assert not turn("c2", ["c0", "c1"], 0, ["c0", "c1"], serial=[2]).refusal()
    refusal = turn("c2", ["c0", "c1"], 0, ["c0"], serial=[2]).refusal()
    assert "1 of 2 clusters of an earlier batch failed (c1)" in refusal


def test_the_strictest_limit_counts() -> None:
    assert not turn("c1", ["c0"], 100, serial=[1]).refusal()
    assert "allows 20 %" in turn("c1", ["c0"], 50, serial=[1], max_fail_percentage=20.0).refusal()
    assert "allows 10 %" in turn("c1", ["c0"], 10, serial=[1], max_fail_percentage=20.0).refusal()
    assert "allows 0 %" in turn("c1", ["c0"], 10, serial=[1], any_errors_fatal="yes").refusal()


def test_a_shuffled_order_with_batches_is_refused_before_the_start() -> None:
    assert "order: shuffle" in turn("c0", [], 50, serial=[1], order="shuffle").refusal()
    assert not turn("c0", [], 100, serial=[1], order="shuffle").refusal()
    assert not turn("c0", [], 0, order="shuffle").refusal()


@pytest.mark.parametrize(
    ("strategy", "failed", "is_warned"),
    [
        ("linear", [], True),
        ("ansible.builtin.linear", [], True),
        ("debug", [], True),
        ("linear", ["c1"], False),
        ("free", [], False),
        ("ansible.builtin.free", [], False),
        ("host_pinned", [], False),
        ("ansible.builtin.host_pinned", [], False),
    ],
)
def test_several_clusters_in_lockstep_are_warned_of(
    strategy: str, failed: list[str], *, is_warned: bool
) -> None:
    warnings = turn("c0", failed, strategy=strategy).warnings()
    assert [("host_pinned" in warning, "2 clusters" in warning) for warning in warnings] == (
        [(True, True)] if is_warned else []
    )


def test_batches_of_hosts_that_are_left_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = {"kyma_serial": [1]}
    assert not turn("c0", serial=[1], more=sizes).refusal()
    monkeypatch.setattr(context, "CLIARGS", {"subset": "c0,c1"})
    refusal = turn("c0", serial=[1], more=sizes).refusal()
    assert "with --limit, kyma_serial counts only the hosts that are left" in refusal
    assert "first batch: c0. Name groups as rings (kyma_rings)" in refusal
    # All at once, or nothing is written.
    assert not turn("c0", serial=["100%"], more=sizes).refusal()
    checked = turn("c0", serial=[1], strategy="free", more={**sizes, "ansible_check_mode": True})
    assert not checked.refusal()
    assert "kyma_serial counts only" in checked.warnings()[0]


def test_a_play_with_batches_of_its_own_is_warned_of_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context, "CLIARGS", {"subset": "all"})
    own = turn("c0", serial=[1], strategy="free")
    assert not own.refusal()
    assert "with --limit, serial counts only the hosts that are left" in own.warnings()[0]
