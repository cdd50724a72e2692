# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a person has to know when ``ansible-playbook`` ends, for each output that shows it: pure.

Clusters with the same reason share an entry. The names of their pods may differ.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ...module_utils._cluster.own_objects import ENDED_BY
from ...module_utils._objects.health.named_pods import pod_commands, without_random_names
from ...module_utils._runs.cluster_state import (
    HELD,
    LOST,
    PLANNED,
    REASONED_STATES,
    REFUSED,
    UNREACHABLE,
    WAITING,
    ClusterState,
)
from ...module_utils._runs.hop_lines import NOTHING_WRITTEN, stopping_hop
from ...module_utils._runs.outcomes import CANCELLED, FAILED, NEVER_STARTED, NOT_STARTED
from ...module_utils._text import MOST_NAMES, short_list

RECORD = "kubectl describe kymaruns"
AGAIN = "run the same playbook again"
NEXT_STEPS = {
    FAILED: f"correct what failed, then {AGAIN}: it continues",
    REFUSED: f"correct the blockers, then {AGAIN}",
    LOST: f"{AGAIN} to continue",
    CANCELLED: f"{AGAIN} to continue",
    UNREACHABLE: f"check the connection, then {AGAIN}",
    HELD: f"ask the person who holds the cluster, then {AGAIN}",
    WAITING: f"{AGAIN} after the ring before it is deployed",
    NOT_STARTED: f"{AGAIN} for what was not started",
    PLANNED: "run the playbook without --check to apply the plan",
}
"""What to do now, by the state of clusters."""
_SUBJECT = re.compile(r"(?:component|migration|module) \S+(?=: )")
_HINT = re.compile(r"`((?:ansible(?:-playbook)?|kubectl) [^`]+)`")
"""A command in a message, which reaches the cluster already."""
BELOW = "the command below"


def _unchanged(_cluster: str, command: str) -> str:
    return command


@dataclass(frozen=True)
class Reason:
    """A reason for the state of clusters that does not follow from another reason.

    Attributes:
        text: what failed, on which object, and why.
        state: of the clusters; one of :data:`~.cluster_state.STATES`.
        clusters: that have this reason.
        subjects: what it is about, such as ``component logging``; empty if the text has it.
        pod: the first one that it names, as namespace and name; empty for none.
        command: shows more of this pod, on the first cluster; without a pod, the one of the text; or empty.
    """

    text: str
    state: str
    clusters: tuple[str, ...]
    subjects: tuple[str, ...] = ()
    pod: str = ""
    command: str = ""


@dataclass(frozen=True)
class NextStep:
    """One action: a sentence, and the command for it; empty for none."""

    text: str
    command: str = ""


@dataclass(frozen=True)
class PlaybookSummary:
    """The end of a playbook.

    Attributes:
        clusters: their states.
        reasons: those of failed clusters first, and of each cluster in the order of their times.
        never_started: what never started because of a reason, in the same way.
        next_steps: what to do now, the most urgent first.
        record: the command that shows the record of the first run that did not succeed; empty for none.
        report: the file with the report; empty for none.
        rollout: when to run a rollout over rings again, or what it needs; empty without rings.
    """

    clusters: tuple[ClusterState, ...]
    reasons: tuple[Reason, ...] = ()
    never_started: tuple[Reason, ...] = ()
    next_steps: tuple[str, ...] = ()
    record: str = ""
    report: str = ""
    rollout: tuple[NextStep, ...] = ()


def summarize(
    ends: Sequence[ClusterState],
    complete: Callable[[str, str], str] = _unchanged,
    report: str = "",
    rollout: Sequence[NextStep] = (),
    notes: Mapping[str, str] | None = None,
) -> PlaybookSummary:
    """The summary of a playbook.

    Args:
        ends: the states of its clusters, in the order of the inventory.
        complete: returns a command so that it reaches a cluster, whose name is the first argument.
        report: the file with the report; empty for none.
        rollout: the next steps of a rollout over rings.
        notes: what a person has to know before using a command, by cluster.
    """
    bad = sorted(
        (one for one in ends if one.state in REASONED_STATES),
        key=lambda one: REASONED_STATES.index(one.state),
    )
    stops = [(end, stopping_hop(end.hops)) for end in ends if end.state == PLANNED]
    foreseen = [replace(end, failures=stop.failures) for end, stop in stops if stop and stop.failures]
    merged: dict[object, Reason] = {}
    for reason in (one for end in (*bad, *foreseen) for one in _reasons_of(end)):
        key = (reason.state, reason.subjects, without_random_names(reason.text))
        earlier = merged.get(key)
        merged[key] = replace(earlier, clusters=earlier.clusters + reason.clusters) if earlier else reason
    reasons = [
        replace(one, command=complete(one.clusters[0], one.command)) if one.pod else one
        for one in merged.values()
    ]
    record = next((one for one in bad if _last_run(one)), None)
    return PlaybookSummary(
        tuple(ends),
        tuple(one for one in reasons if not _is_never_started(one)),
        tuple(one for one in reasons if _is_never_started(one)),
        tuple(_next_steps(ends, bad, notes or {}, is_rollout=bool(rollout))),
        complete(record.cluster, f"{RECORD} {_last_run(record)}") if record else "",
        report,
        tuple(rollout),
    )


def _last_run(end: ClusterState) -> str:
    """The run that did not succeed, or the last one of work that is no release; empty for none."""
    stop = stopping_hop(end.hops)
    return stop.run if stop else end.run


def next_step_text(ends: Sequence[ClusterState], *, are_all: bool = True) -> str:
    """What to do now for clusters with the same state.

    Args:
        ends: the states of these clusters.
        are_all: whether the playbook has no others. Otherwise, what was not written is said by name.
    """
    state = ends[0].state
    has_begun = any(one.has_begun for one in ends)
    reasons = [text for one in ends for text in one.failures]
    if state in (FAILED, LOST, CANCELLED) and any(ENDED_BY in text for text in reasons):
        # What the server denies, no run continues.
        return f"run the command that ends the denial, then {AGAIN}"
    if state == FAILED and not has_begun:
        # No run has begun that could continue.
        return f"correct what failed, then {AGAIN}"
    step = NEXT_STEPS[state]
    if state == REFUSED and has_begun:
        return f"{step}: it continues"
    if state == PLANNED and any(stopping_hop(one.hops) for one in ends):
        step = f"correct what stops the way, or {step} as far as it leads"
    if has_begun or state not in (REFUSED, PLANNED):
        return step
    names = "" if are_all else f" to {short_list([one.cluster for one in ends], MOST_NAMES)}"
    return f"{NOTHING_WRITTEN}{names}; {step}"


def _reasons_of(end: ClusterState) -> Iterable[Reason]:
    # A component that was cancelled follows from the cancellation.
    texts = [one for one in end.failures if f": {CANCELLED}, " not in one] or [end.reason]
    subjects: dict[str, list[str]] = {}
    for text in texts:
        subject = _SUBJECT.match(text)
        rest = text[subject.end() + 2 :] if subject else text
        subjects.setdefault(rest, []).extend([subject[0]] if subject else [])
    for text, names in subjects.items():
        # The last command shows the log, if the pod has one that says why it failed.
        pod, commands = next(iter(pod_commands(text)), ("", [""]))
        if not pod and (hint := _HINT.search(text)):
            # Within a text it could be cut or wrapped, and not be pasted.
            text, commands = _HINT.sub(BELOW, text, count=1), [hint[1]]
        yield Reason(text, end.state, (end.cluster,), tuple(names), pod, commands[-1])


def _is_never_started(reason: Reason) -> bool:
    return reason.text.startswith(NEVER_STARTED)


def _next_steps(
    ends: Sequence[ClusterState], bad: Sequence[ClusterState], notes: Mapping[str, str], *, is_rollout: bool
) -> Iterator[str]:
    # The steps of the rollout say for what a ring waits, until when, and which may start.
    states = {one.state for one in ends} - ({WAITING, PLANNED} if is_rollout else set())
    needed = [state for state in NEXT_STEPS if state in states]
    for state in needed:
        # A cluster that was not started needs what the others need.
        if state != NOT_STARTED or len(needed) == 1:
            group = [one for one in ends if one.state == state]
            yield next_step_text(group, are_all=len(group) == len(ends))
    yield from dict.fromkeys(notes[one.cluster] for one in bad if notes.get(one.cluster))
