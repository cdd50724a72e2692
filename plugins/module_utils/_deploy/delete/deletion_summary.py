# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The messages of a deletion that has ended. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from ..._components.migrations.undo_leftovers import MIGRATIONS
from ..._runs.outcomes import SUCCEEDED, ComponentOutcome
from ..._text import counted


def deletion_message(outcomes: Sequence[ComponentOutcome], cancelled_by: str) -> str:
    """What is not deleted, and what to do about it; empty if everything is deleted."""
    failed = [f"{one.name} {one.state}: {one.error}" for one in outcomes if one.state != SUCCEEDED]
    staying = [warning for one in outcomes for warning in one.warnings]
    if failed and cancelled_by:
        title = (
            f"not everything is deleted, because it was cancelled by {cancelled_by}; run it again to "
            f"continue:"
        )
    elif failed:
        title = "not everything is deleted; correct what holds it and run the playbook again:"
    elif staying:
        title = "deleted, but for:"
    else:
        return ""
    return "\n".join([title, *(failed or staying)])


def deletion_summary(outcomes: Sequence[ComponentOutcome], seconds: float, *, rehearsed: bool) -> list[str]:
    """The lines that say what was deleted of each component, or would be."""
    count = sum(outcome.deleted for outcome in outcomes)
    rows = [one for one in outcomes if one.deleted or one.changed or one.state != SUCCEEDED or one.warnings]
    if not rows:
        return ["nothing to delete"]
    width = max(len(outcome.name) for outcome in rows)
    objects = counted(count, "object")
    lines = [f"{objects} would be deleted:" if rehearsed else f"{objects} deleted in {seconds:.1f} s:"]
    for outcome in rows:
        end = "" if outcome.state == SUCCEEDED else f", {outcome.state}"
        what, count = ("undo", outcome.changed) if outcome.name == MIGRATIONS else ("delete", outcome.deleted)
        lines.append(f"  {what:9} {outcome.name:{width}}  {counted(count, 'object')}{end}")
        lines += [f"              note: {warning}" for warning in outcome.warnings]
    return lines
