# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps by which an errand progresses. Each may be repeated: it does nothing that is done already."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from .._cluster.cluster import GROUP, Object
from .._custom_resources.events import EventNote
from .errand_model import ErrandStatus, Strategy
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
    """

    pod: Object
    output: RecordedOutput


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
