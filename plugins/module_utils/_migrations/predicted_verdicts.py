# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a plan has said of migrations, and whether that is still so when they act: pure.

A run is held to what its plan said of migrations *before* their component, or before everything: verdict and
evidence. Those after a component look at what the run itself has brought and controllers have made of it,
which no rehearsal can know in full.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..migration import Migration, Phase
from .results import NOT_NEEDED

LONGEST_EVIDENCE = 1000
"""Characters of an evidence that are kept and compared: a record must not grow with what it tells of."""
_UNPLANNED: Mapping[str, str] = {"verdict": "", "evidence": ""}


def predicted_verdicts(migrations: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    """What a run is held to, of the migrations of a plan's result."""
    return {
        one["id"]: {"verdict": one["verdict"], "evidence": one["evidence"][:LONGEST_EVIDENCE]}
        for one in migrations
        if one["phase"] == Phase.PRE
    }


def with_unplanned(
    predicted: Mapping[str, Mapping[str, str]], migrations: Iterable[type[Migration]]
) -> dict[str, Mapping[str, str]]:
    """The same, and that nothing was said of those which the plan did not know.

    Args:
        predicted: what a run is held to, by id.
        migrations: all that may run in it.
    """
    before = [one.id() for one in migrations if one.phase == Phase.PRE]
    return {**dict.fromkeys(before, _UNPLANNED), **predicted}


def deviation(predicted: Mapping[str, str] | None, verdict: str, evidence: str) -> str:
    """Why a migration must not act as the plan no longer holds; empty where it may.

    What is not needed any more writes nothing: whoever has done it, the cluster is where the plan leads.

    Args:
        predicted: what the plan said of it; None where there is no plan.
        verdict, evidence: what its check says now.
    """
    if predicted is None or verdict == NOT_NEEDED:
        return ""
    if not predicted["verdict"]:
        return (
            f"it was not planned, and now it is {verdict} ({evidence[:LONGEST_EVIDENCE]}); nothing of it was"
            " written: run the playbook again, and let the plan know the folder of this migration, too"
            " (kyma_migration_paths)"
        )
    then, now = (predicted["verdict"], predicted["evidence"]), (verdict, evidence[:LONGEST_EVIDENCE])
    if then == now:
        return ""
    return (
        f"the plan no longer holds: it was planned as {then[0]} ({then[1]}), and now it is"
        f" {now[0]} ({now[1]}); nothing of it was written: run the playbook again to plan again"
    )


def already_done_warning(predicted: Mapping[str, str] | None, verdict: str, evidence: str) -> str:
    """What a person should know where somebody, or an earlier task, was quicker; mostly empty."""
    if predicted is None or verdict != NOT_NEEDED or predicted["verdict"] in (NOT_NEEDED, ""):
        return ""
    return (
        f"it was planned as {predicted['verdict']} ({predicted['evidence']}), and is not needed any more"
        f" ({evidence}): it has been done since"
    )
