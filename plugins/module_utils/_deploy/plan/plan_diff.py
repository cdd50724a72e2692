# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that a plan would write, as Ansible prints it. Pure."""

from __future__ import annotations

from ..._objects.apply.diff import diff_of
from .execution_order import steps_in_order
from .release_plan import Plan

_HEADERS = ("before_header", "after_header")


def diff_of_plan(plan: Plan) -> list[dict[str, str]]:
    """Everything that would be written, as an Ansible diff; the part of later hops is provisional.

    It is in the order of the run, so that several writes of an object follow from state to state.
    """
    diffs: list[dict[str, str]] = []
    for change in (change for step in steps_in_order(plan) for change in step.changes):
        diff = diff_of(change.before, change.after, status=change.status)
        if change.lasting:
            diff["after_header"] += " (can't be undone)"
        diffs.append(diff)
    for later in plan.later:
        for one in diff_of_plan(later):
            headers = {key: f"{one[key]} ({later.version}, provisional)" for key in _HEADERS}
            diffs.append({**one, **headers})
    return diffs
