# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds as plain values: what is a hold, when it ends, and what a user may not ask for."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._errors import LifecycleError
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.cluster_hold import (
    Hold,
    hold_problem,
    new_hold,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.hold_records import hold_from
from ansible_collections.kyma.lifecycle.plugins.module_utils._timestamp import parse_time

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def test_a_hold_ends_at_its_time() -> None:
    assert Hold(until="2026-11-21T12:00:01Z").is_in_force(NOW)
    assert not Hold(until="2026-11-21T12:00:00Z").is_in_force(NOW)
    assert Hold(until="when I am back").is_in_force(NOW)
    assert parse_time("2026-11-21") == datetime(2026, 11, 21, tzinfo=UTC)


def test_a_hold_that_a_person_wrote_with_kubectl_is_read() -> None:
    record = {"metadata": {"name": "kyma"}}
    assert hold_from({**record, "spec": {"reason": "x", "other": 1}}) == Hold(reason="x")
    assert hold_from({**record, "spec": {}}) == Hold()
    assert hold_from(None) is None


@pytest.mark.parametrize("until", ["yesterday", "2001-01-01", "2026-11-21T12:00:00Z"])
def test_an_end_that_is_not_in_the_future_is_refused(until: str) -> None:
    message = f"cannot hold the cluster: until is {until}, which is not a time in the future"
    with pytest.raises(LifecycleError, match=message):
        new_hold("alice", "an audit", until, NOW)


@pytest.mark.parametrize("reason", ["", " \n"])
def test_a_hold_without_a_reason_is_refused(reason: str) -> None:
    with pytest.raises(LifecycleError, match="reason is empty"):
        new_hold("alice", reason, "", NOW)


def test_a_new_hold_equals_what_is_read_back() -> None:
    hold = new_hold("alice", "an audit,\n  see the ticket\n", "2026-11-22 08:00:00+02:00", NOW)
    assert hold == Hold("alice", "an audit, see the ticket", "2026-11-21T12:00:00Z", "2026-11-22T06:00:00Z")


def test_a_refusal_names_the_hold_and_the_command_that_ends_it() -> None:
    problem = hold_problem(Hold("alice", "an audit"), NOW)
    assert problem.startswith("the cluster is held by alice: an audit (")
    assert "ansible localhost -m kyma.lifecycle.hold -a state=absent" in problem
    assert hold_problem(Hold(until="2026-11-21T12:00:00Z"), NOW) == hold_problem(None, NOW) == ""
