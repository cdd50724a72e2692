# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The order of writes: what comes next with a module, from what is there. One row for each situation."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._klm.klm_module import (
    KlmModule,
    Operator,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._klm.klm_steps import (
    AWAIT,
    DONE,
    FAIL,
    MANAGE,
    RELEASE,
    REMOVE,
    TAKE_OUT,
    UNMANAGE,
    WRITE,
    KlmGoal,
    final_entry,
    next_klm_step,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._klm.kyma_resource import (
    KlmStatus,
)

CHANNELS = {"regular": "1.0.0", "fast": "2.0.0"}
POLICY = {"customResourcePolicy": "CreateAndDelete"}
FAST = {"name": "keda", "channel": "fast", "managed": True, **POLICY}
GIVEN_UP = {**FAST, "managed": False}
REGULAR = {**FAST, "channel": "regular"}
UNKNOWN = {**FAST, "channel": "nope"}
READY = KlmStatus("Ready", "2.0.0", "fast", has_template=True)
LET_GO = KlmStatus("Unmanaged", "2.0.0", "fast")
DELETING = KlmStatus("Deleting", "2.0.0", "fast", has_template=True)
LOST = KlmStatus("Error", message="no versions found for channel: nope in module keda")
SKEWED = KlmStatus("Warning", "2.0.0", "fast", "module template update not allowed", has_template=True)
OURS, FREE = Operator(exists=True, version="2.0.0", is_klms=True), Operator(exists=True, version="2.0.0")


def module(entry: Any, status: KlmStatus | None, operator: Operator = OURS, **more: Any) -> KlmModule:
    facts = {"channels": CHANNELS, **more}
    return KlmModule("keda", "regular", entry=entry, status=status, operator=operator, **facts)


@pytest.mark.parametrize(
    ("goal", "present", "action", "entry"),
    [
        # KLM manages it.
        (KlmGoal(MANAGE, FAST), module(None, None), WRITE, FAST),
        (KlmGoal(MANAGE, FAST), module(REGULAR, READY), WRITE, FAST),
        (KlmGoal(MANAGE, FAST), module(GIVEN_UP, LET_GO), WRITE, FAST),
        (KlmGoal(MANAGE, FAST), module(None, DELETING), WRITE, FAST),
        (KlmGoal(MANAGE, FAST), module(FAST, None), AWAIT, None),
        (KlmGoal(MANAGE, FAST), module(FAST, READY), DONE, None),
        # KLM leaves it alone. It does so only while it finds it.
        (KlmGoal(UNMANAGE), module(FAST, READY), WRITE, GIVEN_UP),
        (KlmGoal(UNMANAGE), module(GIVEN_UP, READY), AWAIT, None),
        (KlmGoal(UNMANAGE), module(GIVEN_UP, LET_GO, OURS), AWAIT, None),
        (KlmGoal(UNMANAGE), module(GIVEN_UP, LET_GO, FREE), DONE, None),
        (KlmGoal(UNMANAGE), module(UNKNOWN, LOST), WRITE, FAST),
        (KlmGoal(UNMANAGE), module(REGULAR, SKEWED), WRITE, FAST),
        (KlmGoal(UNMANAGE), module(REGULAR, READY), WRITE, FAST),
        (KlmGoal(UNMANAGE), module({**UNKNOWN, "managed": False}, LOST), WRITE, GIVEN_UP),
        (KlmGoal(UNMANAGE), module(FAST, LOST), AWAIT, None),
        (KlmGoal(UNMANAGE), module(UNKNOWN, LOST, channels={"regular": "1.0.0"}), FAIL, None),
        # It stays, and its entry goes: never both in one write.
        (KlmGoal(RELEASE), module(FAST, READY), WRITE, GIVEN_UP),
        (KlmGoal(RELEASE), module(GIVEN_UP, READY), AWAIT, None),
        (KlmGoal(RELEASE), module(GIVEN_UP, LET_GO, OURS), AWAIT, None),
        (KlmGoal(RELEASE), module(GIVEN_UP, LET_GO, FREE), TAKE_OUT, None),
        (KlmGoal(RELEASE), module(UNKNOWN, LOST), WRITE, FAST),
        (KlmGoal(RELEASE), module(None, LET_GO, FREE), AWAIT, None),
        (KlmGoal(RELEASE), module(None, None, FREE), DONE, None),
        # KLM deletes it. One that it does not find would be forgotten.
        (KlmGoal(REMOVE), module(FAST, READY), TAKE_OUT, None),
        (KlmGoal(REMOVE), module(UNKNOWN, LOST), WRITE, FAST),
        (KlmGoal(REMOVE), module(FAST, LOST), AWAIT, None),
        (KlmGoal(REMOVE), module(UNKNOWN, LOST, channels={}), FAIL, None),
        (KlmGoal(REMOVE), module(None, DELETING), AWAIT, None),
        (KlmGoal(REMOVE), module(None, None, OURS), AWAIT, None),
        (KlmGoal(REMOVE), module(None, DELETING, Operator()), AWAIT, None),
        (KlmGoal(REMOVE), module(None, None, Operator()), DONE, None),
    ],
)
def test_the_next_step_follows_from_what_is_there(
    goal: KlmGoal, present: KlmModule, action: str, entry: Any
) -> None:
    step = next_klm_step(goal, present)
    assert (step.action, step.entry) == (action, entry)
    assert step.is_over is (action in (DONE, FAIL))
    assert step.message or action in (WRITE, TAKE_OUT, DONE)


def test_the_last_good_channel_of_the_record_comes_first() -> None:
    channels = {**CHANNELS, "experimental": "3.0.0"}
    lost = module(UNKNOWN, LOST, channels=channels, recorded_channel="experimental")
    assert next_klm_step(KlmGoal(REMOVE), lost).entry == {**FAST, "channel": "experimental"}


@pytest.mark.parametrize(
    ("goal", "entry"),
    [
        (KlmGoal(MANAGE, FAST), FAST),
        (KlmGoal(UNMANAGE), {**REGULAR, "managed": False}),
        (KlmGoal(RELEASE), None),
        (KlmGoal(REMOVE), None),
    ],
)
def test_a_plan_shows_the_entry_at_the_end(goal: KlmGoal, entry: Any) -> None:
    assert final_entry(goal, module(REGULAR, READY)) == entry
