# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps by which an errand progresses. Each may be repeated: it does nothing that is done already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from .._cluster.cluster import GROUP, Object
from .._custom_resources.events import EventNote
from .errand_model import ErrandPhase, ErrandStatus, Strategy
from .holding_container import RecordedOutput


@dataclass(frozen=True)
class WriteStatus:
    """Write the status, if the errand is unchanged since it was read: a later writer loses."""

    status: ErrandStatus
    event: EventNote | None = None


@dataclass(frozen=True)
class CreateJob:
    """Create the Job of a run that is recorded in the status."""

    job: Object


@dataclass(frozen=True)
class CollectOutput:
    """Read the output, write its Secrets, and record them in the status.

    Attributes:
        pod: the pod that has the output.
        output: what happens to it.
        surplus: the Secrets of old versions that are deleted then; only in check mode.
    """

    pod: Object
    output: RecordedOutput
    surplus: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReleaseHolders:
    """Let holding containers end."""

    pod: str
    containers: tuple[str, ...]


@dataclass(frozen=True)
class RenewHold:
    """Renew the time of holding containers."""

    pod: str
    containers: tuple[str, ...]


@dataclass(frozen=True)
class SetStrategy:
    """Set the strategy, if the errand is unchanged since it was read."""

    strategy: Strategy


@dataclass(frozen=True)
class DisownStrategy:
    """Give up ownership of the strategy, so that a server-side applier that sets it again has no conflict."""


@dataclass(frozen=True)
class AdoptPod:
    """Add the errand as an owner of a pod, so that the pod stays after its Job is deleted."""

    pod: Object


STOP_DEADLINE = 1
"""``activeDeadlineSeconds`` of a Job that is stopped."""


@dataclass(frozen=True)
class StopJob:
    """End the active pods of a Job; the Job stays, as failed."""

    name: str
    uid: str


QUOTA_ANNOTATION = f"{GROUP}/quota-grown"
"""On Jobs: when a quota got more room, as the Job controller was informed of it."""


@dataclass(frozen=True)
class RequestPod:
    """Have the Job controller create the pod of a Job now.

    Attributes:
        name, uid: of the Job.
        mark: when a quota got more room.
    """

    name: str
    uid: str
    mark: str


@dataclass(frozen=True)
class DeleteJob:
    """Delete a Job, with the pods that have no other owner."""

    name: str
    uid: str


Step: TypeAlias = (
    "WriteStatus | CreateJob | CollectOutput | ReleaseHolders | RenewHold | SetStrategy | DisownStrategy"
    " | AdoptPod | StopJob | RequestPod | DeleteJob"
)

SIGNALS = (ReleaseHolders, RenewHold)
"""Steps of which nothing can be seen in the cluster's objects at once."""


@dataclass(frozen=True)
class Decision:
    """The steps to execute now.

    Attributes:
        steps: in their order. If another writer was quicker than a step, the rest is skipped.
        recheck_seconds: after how many seconds to reconcile again even without a change; None for never.
    """

    steps: tuple[Step, ...] = ()
    recheck_seconds: float | None = None


def changes_anything(steps: Sequence[Step]) -> bool:
    """Whether steps change what others see. Renewals for holding containers may repeat each time."""
    return any(not isinstance(step, SIGNALS) for step in steps)


def step_text(step: Step) -> str:
    """A step in words, in the imperative."""
    match step:
        case WriteStatus(status):
            return _status_text(status)
        case CreateJob(job):
            return f"create Job {job['metadata']['name']}"
        case CollectOutput(pod, _output, surplus):
            text = f"read the output of Pod {pod['metadata']['name']}, and write its Secrets"
            return text + (f". If it has changed, delete Secret {', '.join(surplus)}" if surplus else "")
        case ReleaseHolders(pod, containers):
            return f"release {', '.join(containers)} of Pod {pod}"
        case RenewHold(pod, containers):
            return f"extend the hold of {', '.join(containers)} of Pod {pod}"
        case SetStrategy(strategy):
            return f"set trigger.strategy to {strategy}"
        case DisownStrategy():
            return "let server-side appliers set trigger.strategy"
        case AdoptPod(pod):
            return f"make the errand the owner of Pod {pod['metadata']['name']}"
        case StopJob(name):
            return f"stop Job {name}"
        case RequestPod(name):
            return f"request the pod of Job {name} again"
        case DeleteJob(name):
            return f"delete Job {name}"


def _status_text(status: ErrandStatus) -> str:
    run = status.run
    text = f"record phase {status.phase}"
    if run and status.phase in (ErrandPhase.RUNNING, ErrandPhase.SUCCEEDED, ErrandPhase.FAILED):
        text += f" of run {run.number}"
    return f"{text}: {status.message}" if status.message else text
