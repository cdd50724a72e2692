# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which verdicts a check may return, and whether those of the plan hold in the run: pure.

For migrations *before* their component, or before everything, a run must find the verdict and evidence of its
plan. Migrations after a component depend on what the run has written and on what controllers did with it. No
rehearsal can predict that completely.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .._errors import LifecycleError
from ..migration import Migration, Phase, Verdict
from .results import BLOCKED, NEEDED, NOT_NEEDED, PredictedVerdict, PredictedVerdicts

LONGEST_EVIDENCE = 1000
"""Characters of an evidence that are recorded and compared, so that the size of records is bounded."""
PROVISIONAL = "provisional"
"""The predicted verdict of a migration whose verdict may differ in the run."""


def verdict_from(answer: object) -> Verdict:
    """The answer of a check; LifecycleError if it is no verdict."""
    if isinstance(answer, Verdict) and answer.state in (NEEDED, NOT_NEEDED, BLOCKED):
        return answer
    raise LifecycleError(f"its check returned {answer!r} instead of needed, not_needed or blocked")


def predicted_verdicts(migrations: Iterable[Mapping[str, Any]]) -> dict[str, PredictedVerdict]:
    """The predictions that a run must meet, from a plan's result."""
    return {
        one["id"]: PredictedVerdict(
            PROVISIONAL if one.get("depends_on") or one.get("unverified") else one["verdict"],
            one["evidence"][:LONGEST_EVIDENCE],
        )
        for one in migrations
        if one["phase"] == Phase.PRE
    }


def with_unplanned(
    predicted: PredictedVerdicts, migrations: Iterable[type[Migration]]
) -> dict[str, PredictedVerdict]:
    """The predictions, with empty ones added for migrations that the plan did not know.

    Args:
        predicted: the predictions that a run must meet, by id.
        migrations: all migrations that may run in it.
    """
    before = [one.id() for one in migrations if one.phase == Phase.PRE]
    return {**dict.fromkeys(before, PredictedVerdict()), **predicted}


def deviation(predicted: PredictedVerdict | None, verdict: str, evidence: str) -> str:
    """Why a migration must not run, because the plan no longer holds; empty if it may run.

    A migration that is no longer needed writes nothing: the cluster already has the result of the plan.

    Args:
        predicted: the plan's prediction; None if there is no plan.
        verdict, evidence: what its check says now.
    """
    if predicted is None or verdict == NOT_NEEDED or predicted.verdict == PROVISIONAL:
        return ""
    if not predicted.verdict:
        return (
            f"it was not planned, and now it is {verdict} ({evidence[:LONGEST_EVIDENCE]}); it was not"
            " run: run the playbook again, and let the plan know the folder of this migration, too"
            " (kyma_migration_paths)"
        )
    then, now = predicted, PredictedVerdict(verdict, evidence[:LONGEST_EVIDENCE])
    if then == now:
        return ""
    return (
        f"the plan no longer holds: it was planned as {then.verdict} ({then.evidence}), and now it is"
        f" {now.verdict} ({now.evidence}); it was not run: run the playbook again to plan again"
    )


def already_done_warning(predicted: PredictedVerdict | None, verdict: str, evidence: str) -> str:
    """A warning if another client, or an earlier task, already did the work; usually empty."""
    if predicted is None or verdict != NOT_NEEDED or predicted.verdict in (NOT_NEEDED, PROVISIONAL, ""):
        return ""
    return (
        f"it was planned as {predicted.verdict} ({predicted.evidence}), and is not needed any more"
        f" ({evidence}): it has been done since"
    )
