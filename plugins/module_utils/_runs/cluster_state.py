# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of a cluster and the hops of its way, for every output: pure.

``kyma_result``, the table over clusters, the last lines and the report have it from here.
:mod:`~.hop_progress` adds what a task has done, and :mod:`~.hop_lines` says what was written: no other module
has a sentence about that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .._cluster.errors import Unreachable as UnreachableError
from .._result_codec import INTERNAL, from_result, one_of, result_fields, returned_as
from .outcomes import CANCELLED, FAILED, NOT_STARTED, SUCCEEDED
from .records.cluster_hold import ClusterHeld
from .records.record_schema import DEPLOY

UNCHANGED, PLANNED, RUNNING = "unchanged", "planned", "running"
HELD, UNREACHABLE, REFUSED, LOST = ClusterHeld.state, UnreachableError.state, "refused", "lost"
UNKNOWN = "unknown"
"""A newer version of the collection has recorded it."""
WAITING = "waiting"
"""The gate of the cluster's ring is closed."""
REASONED_STATES = (FAILED, REFUSED, LOST, UNKNOWN, CANCELLED, UNREACHABLE, HELD, WAITING, NOT_STARTED)
"""States that have a reason, in the order in which a person should read them."""
STATES = (*REASONED_STATES, RUNNING, PLANNED, SUCCEEDED, UNCHANGED)
OUT_STATES = (HELD, UNREACHABLE)
"""States of a cluster to which nothing can be deployed now, which is no failure of the release."""
UNENDED_STATES = (PLANNED, RUNNING)
"""States that the next task of the same deployment replaces."""
ENDED_STATES = (*REASONED_STATES, SUCCEEDED)

NOT_BEGUN_YET = "its deployment has not begun yet"
NEVER_BEGAN = "ansible-playbook ended before its deployment began"
NEVER_RAN = "ansible-playbook ended before the run began"
NEVER_ENDED = "ansible-playbook ended before the run did"
NO_REASON = "no reason is recorded"

COUNTED = ("create", "change", "replace", "delete", "migrations")
"""What a result counts: objects by what happens to them, and migrations that run."""
Changes = Mapping[str, int]
NO_CHANGES: Changes = dict.fromkeys(COUNTED, 0)


@dataclass(frozen=True)
class Hop:
    """One release on the way of a call of the playbook, which may be the only one.

    Attributes:
        previous: The release before the hop; empty for none or unknown.
        version: The release that the hop leads to; empty for unknown.
        state: As that of the cluster. A hop that was not reached is not started. Before its turn it has the
            state that the plan predicts.
        seconds: How long its plan and its run took.
        run: The name of its run; empty if none has begun, so that nothing was written.
        planned: What its plan counts; null if it was not planned.
        written: What its run has written; null if a run has begun and its end is not known. Then the record
            of the run has it.
        failures: The reasons for its state, the first one first.
    """

    previous: str = field(default="", metadata=returned_as("from"))
    version: str = field(default="", metadata=returned_as("to"))
    state: str = field(default=NOT_STARTED, metadata=one_of(STATES))
    seconds: float = 0.0
    run: str = ""
    planned: Changes | None = None
    written: Changes | None = None
    failures: tuple[str, ...] = ()

    def as_result(self) -> dict[str, Any]:
        """The hop in ``kyma_result``: without a run nothing was written."""
        return {**result_fields(self), **({} if self.run else {"written": {**NO_CHANGES}})}


@dataclass(frozen=True)
class ClusterState:
    """The deployment to one cluster, after one task or after all: the part of ``kyma_result`` that is shown.

    Attributes:
        cluster: The name of the cluster's host in the inventory.
        previous: The release that the cluster had; empty for none or unknown.
        version: The release that was to be deployed; empty for unknown.
        state: The state of the cluster, in all outputs. ``running`` while the role is at work, or a task in
            the background. ``refused``: the plan has a blocker. ``lost``: the record of the run is running,
            and its lease has expired; only a reader of records sees that. ``unknown``: a newer version of
            the collection has recorded it. ``waiting``: the gate of the cluster's ring is closed; reserved
            for rings.
        seconds: How long the plan and the run took. The durations of kind ``plan`` and ``phase`` add up to
            it.
        failures: The causes first; what never started in the last sentence.
        run: The name of the run; empty if none has begun.
        hops: The releases on the way of this call of ansible-playbook, in their order; one for an upgrade
            without hops. All outputs say from this value what was written.
        ends_with_playbook: whether nothing continues it after the end of ``ansible-playbook``.
    """

    cluster: str
    previous: str = ""
    version: str = ""
    state: str = field(default=NOT_STARTED, metadata=one_of(STATES))
    seconds: float = 0.0
    failures: tuple[str, ...] = ()
    run: str = ""
    hops: tuple[Hop, ...] = field(default=(), compare=False)
    ends_with_playbook: bool = field(default=False, metadata=INTERNAL)

    @property
    def reason(self) -> str:
        """The first reason for a state that has one; otherwise empty."""
        return next(iter(self.failures), "")

    @property
    def has_begun(self) -> bool:
        """Whether a run has begun, so that something may have been written."""
        return any(hop.run for hop in self.hops) if self.hops else bool(self.run)


def state_of_task(result: Mapping[str, Any], *, is_needed: bool = False) -> str:
    """The state of a cluster after a task.

    Args:
        result: of the task. Its ``state`` counts if a cluster can have it, and if it has a reason where the
            task has failed.
        is_needed: whether the plan of a task without a state has something to do.
    """
    state = str(result.get("state") or "")
    if result.get("unreachable"):
        return UNREACHABLE
    if result.get("failed"):
        return state if state in REASONED_STATES else FAILED
    if state in STATES:
        return state
    if result.get("ansible_job_id"):
        # It works in the background.
        return RUNNING
    return PLANNED if is_needed else UNCHANGED


def attempt_of_result(result: Mapping[str, Any], cluster: str = "") -> ClusterState:
    """The attempt that a ``kyma_result`` describes, or the failed result of another task.

    Args:
        result: of the task.
        cluster: the name of its host, if the result has none.
    """
    attempt, state = from_result(ClusterState, result), state_of_task(result)
    failures = attempt.failures or (str(result.get("msg") or NO_REASON),)
    return replace(
        attempt,
        cluster=attempt.cluster or cluster,
        state=state,
        failures=failures if state in REASONED_STATES else (),
    )


def attempt_of_run(run: Mapping[str, Any]) -> ClusterState:
    """The attempt that a recorded run was.

    Args:
        run: as ``run_info`` returns it. Its state says whether it is lost.
    """
    state, named = str(run.get("state") or ""), {**run, "run": run.get("name")}
    if state in STATES:
        given = {**named, "msg": run.get("message") or run.get("note")}
    else:
        which = (
            f"the state {state}, which this version of the collection does not know" if state else "no state"
        )
        given = {**named, "state": UNKNOWN, "failures": [f"its record has {which}"]}
    if run.get("action", DEPLOY) != DEPLOY:
        return attempt_of_result(given)
    written = changes_in(run.get("components") or (), run.get("migrations") or ())
    hop = {"from": run.get("previous"), "to": run.get("version"), "written": written}
    return attempt_of_result({**given, "hops": [{**given, **hop}]})


def cluster_state(cluster: str, attempts: Iterable[ClusterState], *, is_over: bool) -> ClusterState:
    """The state of a cluster after several tasks, releases on the way, and runs.

    Args:
        cluster: the name of its host.
        attempts: in the order in which they were made.
        is_over: whether ``ansible-playbook`` ends, so that nothing follows.
    """
    releases: list[ClusterState] = []
    for attempt in attempts:
        _add(releases, attempt)
    if not releases:
        return ClusterState(cluster, failures=(NEVER_BEGAN if is_over else NOT_BEGUN_YET,))
    last = releases[-1]
    if last.state == UNCHANGED:
        # After a run, a plan with nothing to do adds nothing.
        last = next((one for one in reversed(releases) if one.state == SUCCEEDED), last)
    hops = next((one.hops for one in reversed(releases) if one.hops), ())
    versions = [*(hop.version for hop in hops[-1:]), *(one.version for one in reversed(releases))]
    merged = replace(
        last,
        cluster=cluster,
        previous=releases[0].previous,
        version=next(filter(None, versions), ""),
        run=next((one.run for one in reversed(releases) if one.run), ""),
        seconds=round(sum(one.seconds for one in releases if one is last or one.state != UNCHANGED), 3),
        hops=hops,
    )
    return _with_rest(merged, is_over=is_over)


def _with_rest(merged: ClusterState, *, is_over: bool) -> ClusterState:
    """The state of a cluster, given also the hops that no run has ended."""
    ended = count_ended(merged.hops)
    rest = merged.hops[ended:]
    state, failures = merged.state, merged.failures
    if state == SUCCEEDED and rest and rest[0].state != UNCHANGED:
        # A release on the way is deployed, and the next one has not begun.
        state, failures = (CANCELLED, (NEVER_RAN,)) if is_over else (RUNNING, ())
    elif is_over and merged.ends_with_playbook and state in UNENDED_STATES:
        state, failures = (CANCELLED, (NEVER_ENDED,)) if state == RUNNING else (NOT_STARTED, (NEVER_RAN,))
    if rest and state in REASONED_STATES and rest[0].state != state:
        rest = with_end((replace(rest[0], state=state if rest[0].run else NOT_STARTED), *rest[1:]))
    return replace(merged, state=state, failures=failures, hops=(*merged.hops[:ended], *rest))


def count_ended(hops: Sequence[Hop]) -> int:
    """How many hops of a way a run has ended, well or not."""
    return sum(1 for hop in hops if hop.run and hop.state not in UNENDED_STATES)


def with_end(hops: Sequence[Hop]) -> tuple[Hop, ...]:
    """Hops from the one on that was worked on last: if it has ended badly, the others are not started."""
    if not hops or hops[0].state not in REASONED_STATES:
        return (*hops,)
    return (hops[0], *(replace(hop, state=NOT_STARTED, failures=()) for hop in hops[1:]))


def is_out(attempts: Sequence[ClusterState]) -> bool:
    """Whether a cluster is held, or has not answered from the start.

    A cluster that stops answering after its run has begun has failed: the release may be the cause.

    Args:
        attempts: in the order in which they were made.
    """
    states = [attempt.state for attempt in attempts]
    return states[-1:] == [HELD] or (states[-1:] == [UNREACHABLE] and RUNNING not in states)


def _add(releases: list[ClusterState], attempt: ClusterState) -> None:
    """Add an attempt: for the release that is being deployed, or for the next release after that."""
    if not releases or releases[-1].state not in UNENDED_STATES:
        releases.append(attempt)
        return
    before = releases[-1]
    releases[-1] = replace(
        attempt,
        previous=attempt.previous or before.previous,
        version=attempt.version or before.version,
        run=attempt.run or before.run,
        seconds=attempt.seconds or before.seconds,
        hops=attempt.hops or before.hops,
    )


def changes_in(
    components: Iterable[Mapping[str, Any]], migrations: Iterable[Mapping[str, Any]]
) -> dict[str, int]:
    """What a run has changed: objects of its components, and migrations that have written.

    Args:
        components, migrations: their outcomes, from the record of the run.
    """
    keys = {"create": "created", "change": "changed", "replace": "replaced", "delete": "deleted"}
    known = list(components)
    counts = {key: sum(int(one.get(done) or 0) for one in known) for key, done in keys.items()}
    return {**counts, "migrations": sum(1 for one in migrations if one.get("wrote"))}
