# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The next step with a module of Kyma's lifecycle manager (KLM), from what is there. Pure.

The order is in no record: a run that was cut off anywhere goes on from what the next run finds.
"""

from __future__ import annotations

from typing import NamedTuple

from .._runs.records.modules import DELETING, ERROR, GIVEN_UP, NOT_INSTALLED, PROCESSING
from .klm_entry import in_channel, is_written, merged_entry, unmanaged_entry
from .klm_module import KlmModule
from .klm_state import NOTHING_SEEN, Sightings, assess_module
from .kyma_resource import Entry

MANAGE, UNMANAGE, REMOVE, RELEASE = "manage", "unmanage", "remove", "release"
"""What is desired: KLM manages it; KLM leaves it alone; KLM deletes it; or it stays, and its entry goes."""
WRITE, TAKE_OUT, AWAIT, DONE, FAIL = "write", "take out", "await", "done", "fail"
"""A step: write the entry, take it out of the Kyma resource, wait, or the end."""


class KlmGoal(NamedTuple):
    """What is desired of a module.

    Attributes:
        kind: one of the goals above.
        entry: of a module that KLM is to manage.
    """

    kind: str
    entry: Entry | None = None


class KlmStep(NamedTuple):
    """The next step.

    Attributes:
        action: one of the steps above.
        state: that the module is in.
        message: why, in a sentence.
        entry: to write.
    """

    action: str
    state: str
    message: str = ""
    entry: Entry | None = None

    @property
    def is_over(self) -> bool:
        return self.action in (DONE, FAIL)


def next_klm_step(goal: KlmGoal, module: KlmModule, seen: Sightings = NOTHING_SEEN) -> KlmStep:
    """The next step towards a goal.

    Args:
        goal: what is desired.
        module: as it is now.
        seen: how long it has been so.
    """
    if goal.kind == MANAGE and goal.entry is not None:
        return _towards_managed(goal.entry, module, seen)
    if goal.kind == UNMANAGE:
        return _towards_unmanaged(module, GIVEN_UP)
    if goal.kind == RELEASE:
        return _towards_released(module)
    return _towards_removed(module)


def final_entry(goal: KlmGoal, module: KlmModule) -> Entry | None:
    """The entry of a module once a goal is reached, with the keys of others; None if it has none."""
    if goal.kind in (REMOVE, RELEASE):
        return None
    desired = goal.entry if goal.entry is not None else unmanaged_entry(module)
    return merged_entry(module, desired)


def _towards_managed(entry: Entry, module: KlmModule, seen: Sightings) -> KlmStep:
    if not is_written(module, entry):
        return KlmStep(WRITE, PROCESSING, entry=entry)
    state = assess_module(module, entry, seen)
    action = AWAIT if not state.is_done else FAIL if state.is_failure else DONE
    return KlmStep(action, state.state, state.message)


def _towards_unmanaged(module: KlmModule, state: str) -> KlmStep:
    """KLM lets a module go only if it finds it, and goes down after that if its channel is older."""
    if module.is_unmanaged:
        return KlmStep(DONE, state)
    is_older = module.goes_down(module.channels.get(module.channel, ""))
    if module.is_lookup_error or (is_older and not module.is_given_up):
        return _mended(module, "KLM lets no module go")
    if not module.is_given_up:
        return KlmStep(WRITE, PROCESSING, entry=unmanaged_entry(module))
    return KlmStep(AWAIT, PROCESSING, "KLM has not let it go yet")


def _towards_released(module: KlmModule) -> KlmStep:
    """Never unmanaged and taken out in one write: KLM would delete the module."""
    if module.entry is None:
        if module.status is None:
            return KlmStep(DONE, GIVEN_UP, "its operator and its resources stay as they are")
        return KlmStep(AWAIT, DELETING, "KLM still reports it")
    step = _towards_unmanaged(module, GIVEN_UP)
    return KlmStep(TAKE_OUT, DELETING) if step.action == DONE else step


def _towards_removed(module: KlmModule) -> KlmStep:
    if module.entry is not None:
        if module.is_lookup_error:
            return _mended(module, "KLM forgets a module whose entry goes, and leaves its objects behind,")
        return KlmStep(TAKE_OUT, DELETING)
    if module.status is None and not module.operator.exists:
        return KlmStep(DONE, NOT_INSTALLED)
    return KlmStep(AWAIT, DELETING, "KLM is deleting it")


def _mended(module: KlmModule, why: str) -> KlmStep:
    """Put a channel in place in which KLM finds the module, and wait until it does."""
    channel, said = module.safe_channel(), module.status.message if module.status else ""
    if not channel:
        return KlmStep(
            FAIL,
            ERROR,
            f"{why} while it does not find it ({said}), and no channel has {module.running} or newer."
            f" {module.describe_channels()}. Ask who runs KLM for one",
        )
    if module.channel != channel:
        return KlmStep(WRITE, PROCESSING, entry=in_channel(module, channel))
    return KlmStep(AWAIT, PROCESSING, f"KLM does not find it yet: {said}")
