# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Problems of a migration that must not change a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .attempt_record import attempt_migration
from .case import Case
from .recorded_cluster import describe_call


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
