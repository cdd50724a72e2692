# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All proofs for a migration, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from .attempt_record import attempt_migration
from .case import Case
from .proofs_of_check import (
    changes_no_reads,
    check_is_cheap,
    check_only_reads,
    ends_not_needed,
    evidence_is_stable,
    stands_bare_objects,
    valid,
)
from .proofs_of_faults import survives_being_killed, survives_errors
from .proofs_of_others import deletes_by_uid, loses_no_update, spares_bystanders
from .proofs_of_run import (
    can_be_rehearsed,
    can_be_undone,
    has_patience_with_deletions,
    preserves_lasting_objects,
    reaches_after,
    remembers_nothing,
    repeats_nothing,
)
from .proofs_of_surroundings import (
    check_stands_an_empty_cluster,
    check_uses_the_cluster_alone,
    decides_without_release,
    keeps_secrets,
    leaves_release_alone,
)
from .recorded_cluster import describe_call


@dataclass(frozen=True)
class Proof:
    """One proof.

    Attributes:
        name: what it proves, as the heading of its problems.
        problems: returns the problems.
        basic: whether the other proofs are meaningless if it fails.
    """

    name: str
    problems: Callable[[Case], Iterator[str]]
    basic: bool = False


PROOFS = (
    Proof("its class is complete", valid, basic=True),
    Proof("check only reads", check_only_reads, basic=True),
    Proof("run leads to `after`", reaches_after, basic=True),
    Proof("check is cheap", check_is_cheap),
    Proof("check returns the same twice", evidence_is_stable),
    Proof("check changes nothing that it reads", changes_no_reads),
    Proof("check uses the cluster alone", check_uses_the_cluster_alone),
    Proof("it decides without ctx.release", decides_without_release),
    Proof("check works on an empty cluster", check_stands_an_empty_cluster),
    Proof("it works on objects without annotations and labels", stands_bare_objects),
    Proof("objects in `stays` are never replaced", preserves_lasting_objects),
    Proof("check returns not_needed after run", ends_not_needed),
    Proof("a second run changes nothing", repeats_nothing),
    Proof("it waits for deletions to end", has_patience_with_deletions),
    Proof("killed and run again, it succeeds", survives_being_killed),
    Proof("after an error and run again, it succeeds", survives_errors),
    Proof("it loses no update of others", loses_no_update),
    Proof("it changes no other objects", spares_bystanders),
    Proof("it deletes only what it has read", deletes_by_uid),
    Proof("it shows no values of Secrets", keeps_secrets),
    Proof("it does not change the release", leaves_release_alone),
    Proof("it keeps no state in the process", remembers_nothing),
    Proof("it can be rehearsed", can_be_rehearsed),
    Proof("it can be undone", can_be_undone),
)


def problems_at_rest(case: Case, verdict: str, names: Sequence[str] = ()) -> Iterator[str]:
    """The problems if a verdict other than needed is expected; see ``assert_not_needed``."""
    attempt = attempt_migration(case.migration, case.start(), case.around)
    calls = attempt.recording.calls
    if attempt.error:
        yield attempt.error
        return
    if attempt.verdict != verdict:
        yield f"check has to say {verdict}, and said {attempt.reason}"
        return
    evidence = attempt.verdicts[0].evidence
    yield from (f"its evidence has to name {name!r}: {evidence!r}" for name in names if name not in evidence)
    for call in calls:
        if call.writes:
            yield f"check made this request, and may only read: {describe_call(call)}"
    if len(calls) > case.max_requests:
        listed = ", ".join(describe_call(call) for call in calls[:10])
        yield f"check made {len(calls)} requests, and {case.max_requests} are allowed ({listed})"
