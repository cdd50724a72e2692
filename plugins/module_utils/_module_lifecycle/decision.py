# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decides what happens to one module, from what is wanted, recorded, running and allowed."""

from __future__ import annotations

from dataclasses import dataclass

from .._klm.klm_steps import KlmGoal
from .._runs.records.modules import (
    ABSENT,
    DELETING,
    ERROR,
    GIVEN_UP,
    IGNORE,
    INSTALLED,
    MANAGED,
    NOT_INSTALLED,
    READY,
    SKIP_LABEL,
    UNMANAGED,
    WARNING,
    ModuleRecord,
)

INSTALL, UPGRADE, ADOPT, KEEP = "install", "upgrade", "adopt", "keep"
REFUSE, WAIT, UNMANAGE, DELETE, LEAVE = "refuse", "wait", "unmanage", "delete", "leave"
"""What can happen to a module."""
LOOKED_AFTER = (INSTALL, UPGRADE, ADOPT, KEEP, WAIT)
"""Actions for modules whose objects are compared with their manifest, and applied if they differ."""


@dataclass(frozen=True)
class ModuleFacts:
    """The facts about a module for its decision.

    Attributes:
        name: of the module.
        desired_state: ``managed``, ``unmanaged`` or ``absent``; empty if neither the user nor the catalog
            says.
        policy: what happens to it when it is absent.
        target: the version of the catalog for what is desired; empty if it has none.
        target_problem: why it has none, in a sentence.
        record: the recorded state; None if the cluster has no record.
        has_inventory: whether the objects of the module are recorded.
        is_running: whether a manager of the module exists.
        running: the version that counts: of the manager, else the recorded version. Empty if both are
            unknown.
        running_problem: why the version of an existing manager is not known, in a sentence.
        is_older: whether the target is older than the version that counts; None if they can't be compared.
        is_same: whether both are the same version.
        other_owner: why another tool manages the module, and what to do, in words; mostly empty.
        is_mandatory: whether the cluster has to have it.
        restriction: why the module is not for this cluster; mostly empty.
        window: the next maintenance window if the upgrade has to wait for it; else empty.
        ignoring_deletes: whether the policy ``ignore`` deletes the module once no resource of its kinds
            exists.
    """

    name: str
    desired_state: str
    policy: str
    target: str = ""
    target_problem: str = ""
    record: ModuleRecord | None = None
    has_inventory: bool = False
    is_running: bool = False
    running: str = ""
    running_problem: str = ""
    is_older: bool | None = False
    is_same: bool = False
    other_owner: str = ""
    is_mandatory: bool = False
    restriction: str = ""
    window: str = ""
    ignoring_deletes: bool = False


@dataclass(frozen=True)
class ModuleDecision:
    """The action for a module, and its report.

    Attributes:
        action: one of the actions above.
        state: the reported state of the module if its manager does not decide it.
        message: why, and what to do, in a sentence; empty if nothing needs to be said.
        version: of the manifest that its objects are compared with; empty if they are left unchanged.
        takes_back: whether a deletion that has begun is cancelled.
        is_skipped: whether a person has marked the module to be left alone.
        goal: what Kyma's lifecycle manager (KLM) is asked for, of a module that it manages; else None.
        notes: what the user has to know besides, each in a sentence.
    """

    action: str
    state: str
    message: str = ""
    version: str = ""
    takes_back: bool = False
    is_skipped: bool = False
    goal: KlmGoal | None = None
    notes: tuple[str, ...] = ()


def decide(facts: ModuleFacts) -> ModuleDecision:
    """What happens to a module."""
    is_given_up = facts.desired_state == UNMANAGED and facts.record is not None
    if facts.other_owner and not is_given_up:
        return ModuleDecision(REFUSE, ERROR, facts.other_owner)
    if facts.is_mandatory and facts.desired_state in (ABSENT, UNMANAGED):
        return ModuleDecision(
            REFUSE,
            ERROR,
            f"module {facts.name}: it is mandatory in the catalog, so it can't be {facts.desired_state}."
            " Remove the entry, or first remove the module from the catalog",
        )
    skipped = decide_skipped(facts)
    if skipped is not None:
        return skipped
    if facts.desired_state == MANAGED:
        return _decide_managed(facts)
    if facts.desired_state == UNMANAGED:
        return _decide_unmanaged(facts)
    if facts.desired_state == ABSENT:
        return _decide_absent(facts)
    return ModuleDecision(LEAVE, facts.record.status.state if facts.record else "")


def decide_skipped(facts: ModuleFacts) -> ModuleDecision | None:
    """The decision on a module that a person has marked to be left alone; None if it is not."""
    if facts.record is None or not facts.record.is_skipped or facts.desired_state not in (MANAGED, UNMANAGED):
        return None
    return ModuleDecision(
        LEAVE,
        WARNING,
        f"its KymaModule has the label {SKIP_LABEL}. Remove the label to go on:"
        f" `kubectl label kymamodules {facts.name} {SKIP_LABEL}-`",
        is_skipped=True,
    )


def _decide_managed(facts: ModuleFacts) -> ModuleDecision:
    name, record = facts.name, facts.record
    if facts.restriction:
        return ModuleDecision(REFUSE, ERROR, f"{name} is not for this cluster: it {facts.restriction}")
    if facts.target_problem:
        return ModuleDecision(REFUSE, ERROR, facts.target_problem)
    if facts.running_problem:
        return ModuleDecision(
            REFUSE,
            ERROR,
            f"the version of {name} that runs is not known: {facts.running_problem}. Nothing is changed until"
            " running_version says which one it is",
        )
    takes_back = bool(record and record.deletion_since)
    is_ours = record is not None and record.is_managed and facts.has_inventory
    if not facts.running:
        return ModuleDecision(INSTALL, READY, version=facts.target, takes_back=takes_back)
    if facts.is_same:
        return ModuleDecision(KEEP if is_ours else ADOPT, READY, version=facts.target, takes_back=takes_back)
    if facts.is_older is None:
        return ModuleDecision(
            REFUSE,
            ERROR,
            f"{name} {facts.running} is installed, and {facts.target} can't be compared with it: at least one"
            " of them is not a semantic version",
        )
    if facts.is_older:
        return ModuleDecision(
            REFUSE,
            ERROR,
            f"{name} {facts.running} is installed, and {facts.target} is older. A module never goes down:"
            " wait for a newer version in the channel, or remove the module (state: absent)"
            " and install it again",
        )
    if facts.window and (facts.is_running or is_ours):
        retained = record.installed_version if is_ours and record else ""
        return ModuleDecision(
            WAIT,
            WARNING,
            f"{name} {facts.target} requires downtime, and waits for the next maintenance window:"
            f" {facts.window}",
            version=retained,
            takes_back=takes_back,
        )
    return ModuleDecision(UPGRADE, READY, version=facts.target, takes_back=takes_back)


def _decide_unmanaged(facts: ModuleFacts) -> ModuleDecision:
    record = facts.record
    if record is not None and record.is_managed:
        return ModuleDecision(UNMANAGE, GIVEN_UP, takes_back=bool(record.deletion_since))
    if record is not None:
        return ModuleDecision(LEAVE, GIVEN_UP)
    if facts.target_problem and not facts.is_running:
        # The name may be misspelt, and a whole list removes the module that is meant.
        return ModuleDecision(REFUSE, ERROR, facts.target_problem)
    return ModuleDecision(LEAVE, INSTALLED if facts.is_running else NOT_INSTALLED)


def _decide_absent(facts: ModuleFacts) -> ModuleDecision:
    name, record = facts.name, facts.record
    if record is not None and record.is_managed:
        if facts.policy == IGNORE and not (record.deletion_since or facts.ignoring_deletes):
            return ModuleDecision(UNMANAGE, GIVEN_UP)
        if facts.is_running and not (facts.has_inventory or record.deletion_since):
            # Others have installed it, and no run has adopted it: nothing of it can be deleted.
            return ModuleDecision(UNMANAGE, GIVEN_UP)
        return ModuleDecision(DELETE, DELETING, version=_version_while_deleting(facts, record))
    if not facts.is_running:
        return ModuleDecision(LEAVE, GIVEN_UP if record else NOT_INSTALLED)
    if record is not None and facts.policy == IGNORE:
        return ModuleDecision(LEAVE, GIVEN_UP)
    how = "is not managed" if record else "was installed by hand"
    return ModuleDecision(
        REFUSE,
        ERROR,
        f"{name} {how}, so which objects belong to it is not recorded, and none is deleted. Set its state to"
        " managed first, and to absent in a second run",
    )


def _version_while_deleting(facts: ModuleFacts, record: ModuleRecord) -> str:
    """The operator's version while something blocks the deletion; empty if it is left unchanged.

    It may need a fix in a newer version. Changes that others made to the operator stay.
    """
    if facts.running_problem or facts.restriction:
        return ""
    if facts.target and facts.is_older is False and not facts.window:
        return facts.target
    return record.installed_version if facts.running == record.installed_version else ""
