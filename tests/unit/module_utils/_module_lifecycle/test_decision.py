# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What happens to a module, by what is wanted, recorded, running and allowed: one table."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._module_lifecycle.decision import (
    ADOPT,
    DELETE,
    INSTALL,
    KEEP,
    LEAVE,
    REFUSE,
    UNMANAGE,
    UPGRADE,
    WAIT,
    ModuleDecision,
    ModuleFacts,
    decide,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.modules import (
    ABSENT,
    CREATE_AND_DELETE,
    DELETING,
    ERROR,
    GIVEN_UP,
    IGNORE,
    INSTALLED,
    MANAGED,
    NOT_INSTALLED,
    READY,
    UNMANAGED,
    WARNING,
    ModuleRecord,
)

NOT_RECORDED: dict[str, Any] = {}
BY_HAND = {"is_running": True, "running": "1.0.0"}
OURS = {**BY_HAND, "record": ModuleRecord("nats", installed_version="1.0.0"), "has_inventory": True}
GIVEN_UP_BEFORE = {**BY_HAND, "record": ModuleRecord("nats", state=UNMANAGED)}
BEING_DELETED = {
    **OURS,
    "record": ModuleRecord(
        "nats", state=ABSENT, installed_version="1.0.0", deletion_since="2026-11-24T10:00:00Z"
    ),
}
OPERATOR_LOST = {**OURS, "is_running": False}

CUT_OFF = {"record": ModuleRecord("nats"), "has_inventory": True}

SAME: dict[str, Any] = {"target": "1.0.0", "is_same": True}
NEWER = {"target": "2.0.0"}
OLDER = {"target": "0.9.0", "is_older": True}
INCOMPARABLE = {"target": "2.0.0", "is_older": None}
UNKNOWN_TARGET = {"target_problem": "there is no channel fats"}
LATER = {**NEWER, "window": "Saturday"}


def decided(desired_state: str, *some: dict[str, Any], policy: str = CREATE_AND_DELETE) -> ModuleDecision:
    facts = ModuleFacts("nats", desired_state, policy)
    for more in some:
        facts = replace(facts, **more)
    return decide(facts)


@pytest.mark.parametrize(
    ("before", "offered", "action", "state", "version"),
    [
        (NOT_RECORDED, NEWER, INSTALL, READY, "2.0.0"),
        # A first installation disturbs nobody.
        (NOT_RECORDED, LATER, INSTALL, READY, "2.0.0"),
        (NOT_RECORDED, UNKNOWN_TARGET, REFUSE, ERROR, ""),
        (BY_HAND, SAME, ADOPT, READY, "1.0.0"),
        (BY_HAND, NEWER, UPGRADE, READY, "2.0.0"),
        (BY_HAND, OLDER, REFUSE, ERROR, ""),
        (BY_HAND, INCOMPARABLE, REFUSE, ERROR, ""),
        # Of what was installed by hand nothing tells what its version consists of.
        (BY_HAND, LATER, WAIT, WARNING, ""),
        (GIVEN_UP_BEFORE, SAME, ADOPT, READY, "1.0.0"),
        (GIVEN_UP_BEFORE, OLDER, REFUSE, ERROR, ""),
        (OURS, SAME, KEEP, READY, "1.0.0"),
        (OURS, NEWER, UPGRADE, READY, "2.0.0"),
        (OURS, LATER, WAIT, WARNING, "1.0.0"),
        (OURS, OLDER, REFUSE, ERROR, ""),
        (OURS, UNKNOWN_TARGET, REFUSE, ERROR, ""),
        (OPERATOR_LOST, SAME, KEEP, READY, "1.0.0"),
        (OPERATOR_LOST, OLDER, REFUSE, ERROR, ""),
        # What was installed is put back meanwhile.
        (OPERATOR_LOST, LATER, WAIT, WARNING, "1.0.0"),
        # A first installation that was cut off before the operator came.
        (CUT_OFF, NEWER, INSTALL, READY, "2.0.0"),
        (BEING_DELETED, SAME, KEEP, READY, "1.0.0"),
        (BEING_DELETED, NEWER, UPGRADE, READY, "2.0.0"),
    ],
)
def test_a_managed_module(
    before: dict[str, Any], offered: dict[str, Any], action: str, state: str, version: str
) -> None:
    decision = decided(MANAGED, before, offered)
    assert (decision.action, decision.state, decision.version) == (action, state, version)
    assert decision.takes_back == (before is BEING_DELETED)
    assert bool(decision.message) == (state != READY)


@pytest.mark.parametrize(
    ("before", "action", "state"),
    [
        (NOT_RECORDED, LEAVE, NOT_INSTALLED),
        # Its name may be misspelt.
        (UNKNOWN_TARGET, REFUSE, ERROR),
        ({**BY_HAND, **UNKNOWN_TARGET}, LEAVE, INSTALLED),
        (BY_HAND, LEAVE, INSTALLED),
        (GIVEN_UP_BEFORE, LEAVE, GIVEN_UP),
        ({**GIVEN_UP_BEFORE, **UNKNOWN_TARGET}, LEAVE, GIVEN_UP),
        (OURS, UNMANAGE, GIVEN_UP),
        (BEING_DELETED, UNMANAGE, GIVEN_UP),
    ],
)
def test_an_unmanaged_module(before: dict[str, Any], action: str, state: str) -> None:
    decision = decided(UNMANAGED, before)
    assert (decision.action, decision.state) == (action, state)


@pytest.mark.parametrize(
    ("before", "policy", "action", "state"),
    [
        (NOT_RECORDED, CREATE_AND_DELETE, LEAVE, NOT_INSTALLED),
        (OURS, CREATE_AND_DELETE, DELETE, DELETING),
        (OURS, IGNORE, UNMANAGE, GIVEN_UP),
        (BEING_DELETED, CREATE_AND_DELETE, DELETE, DELETING),
        # What has begun comes to its end.
        (BEING_DELETED, IGNORE, DELETE, DELETING),
        (BY_HAND, CREATE_AND_DELETE, REFUSE, ERROR),
        # It was refused, or waits for its window, and was never adopted.
        ({**OURS, "has_inventory": False}, CREATE_AND_DELETE, UNMANAGE, GIVEN_UP),
        (GIVEN_UP_BEFORE, CREATE_AND_DELETE, REFUSE, ERROR),
        (GIVEN_UP_BEFORE, IGNORE, LEAVE, GIVEN_UP),
        ({"record": ModuleRecord("nats", state=UNMANAGED)}, CREATE_AND_DELETE, LEAVE, GIVEN_UP),
    ],
)
def test_a_module_that_is_to_go(before: dict[str, Any], policy: str, action: str, state: str) -> None:
    decision = decided(ABSENT, before, policy=policy)
    assert (decision.action, decision.state) == (action, state)


@pytest.mark.parametrize(
    ("offered", "version"),
    [
        (NEWER, "2.0.0"),
        (SAME, "1.0.0"),
        (OLDER, "1.0.0"),
        (INCOMPARABLE, "1.0.0"),
        (UNKNOWN_TARGET, "1.0.0"),
        (LATER, "1.0.0"),
        ({**OLDER, "running": "3.0.0"}, ""),
        ({**NEWER, "restriction": "it is beta"}, ""),
        ({**NEWER, "running": "", "running_problem": "its tag is main"}, ""),
    ],
)
def test_a_blocked_deletion_maintains_a_version_that_may_be_deployed(
    offered: dict[str, Any], version: str
) -> None:
    assert decided(ABSENT, BEING_DELETED, offered).version == version


def test_a_module_that_is_not_requested_stays_unchanged() -> None:
    assert decided("", GIVEN_UP_BEFORE).action == LEAVE
    assert decided("", NOT_RECORDED).action == LEAVE


@pytest.mark.parametrize(
    ("desired_state", "before"),
    [(MANAGED, OURS), (MANAGED, NOT_RECORDED), (ABSENT, OURS), (ABSENT, NOT_RECORDED), (UNMANAGED, BY_HAND)],
)
def test_a_module_of_another_tool_is_refused(desired_state: str, before: dict[str, Any]) -> None:
    decision = decided(desired_state, before, NEWER, {"other_owner": "KLM has it"})
    assert (decision.action, decision.state, decision.message) == (REFUSE, ERROR, "KLM has it")


@pytest.mark.parametrize(("before", "action"), [(OURS, UNMANAGE), (GIVEN_UP_BEFORE, LEAVE)])
def test_a_module_of_another_tool_that_is_ours_too_can_be_given_up(
    before: dict[str, Any], action: str
) -> None:
    decision = decided(UNMANAGED, before, {"other_owner": "KLM has it"})
    assert (decision.action, decision.state) == (action, GIVEN_UP)


@pytest.mark.parametrize("before", [OURS, NOT_RECORDED, BEING_DELETED, GIVEN_UP_BEFORE])
@pytest.mark.parametrize("policy", [CREATE_AND_DELETE, IGNORE])
def test_a_mandatory_module_is_neither_removed_nor_given_up(before: dict[str, Any], policy: str) -> None:
    for desired_state in (ABSENT, UNMANAGED):
        decision = decided(desired_state, before, SAME, {"is_mandatory": True}, policy=policy)
        assert (decision.action, decision.state) == (REFUSE, ERROR)
        assert "mandatory in the catalog" in decision.message
    assert decided(MANAGED, OURS, SAME, {"is_mandatory": True}).action == KEEP


def test_a_restricted_module_is_refused_and_stays_as_it_is() -> None:
    decision = decided(MANAGED, OURS, NEWER, {"restriction": "is beta"})
    assert (decision.action, decision.state, decision.version) == (REFUSE, ERROR, "")
    assert "it is beta" in decision.message


def test_nothing_is_changed_before_the_user_says_which_version_runs() -> None:
    decision = decided(MANAGED, {"is_running": True, "running_problem": "its tag is main"}, NEWER)
    assert decision.action == REFUSE
    assert "its tag is main" in decision.message
    assert "running_version" in decision.message


def test_a_refused_downgrade_says_what_runs_and_what_to_do() -> None:
    message = decided(MANAGED, OURS, OLDER).message
    for words in ("1.0.0 is installed", "0.9.0 is older", "state: absent", "install it again"):
        assert words in message


SKIPPED = {**OURS, "record": replace(OURS["record"], is_skipped=True)}


@pytest.mark.parametrize("desired_state", [MANAGED, UNMANAGED])
def test_a_module_that_is_marked_to_be_skipped_is_left_alone(desired_state: str) -> None:
    decision = decided(desired_state, SKIPPED, NEWER)
    assert decision.action == LEAVE
    assert "skip-reconciliation" in decision.message


def test_a_module_that_is_marked_to_be_skipped_can_be_deleted() -> None:
    assert decided(ABSENT, SKIPPED).action == DELETE


def test_ignoring_a_module_removes_its_operator_only_on_request() -> None:
    assert decided(ABSENT, OURS, policy=IGNORE).action == UNMANAGE
    assert decided(ABSENT, OURS, {"ignoring_deletes": True}, policy=IGNORE).action == DELETE
