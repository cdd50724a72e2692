# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps by which an errand gets on. Each may be repeated: it does nothing that is done already."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from .._cluster.cluster import Object
from .errand import ErrandStatus, Strategy
from .holding_container import NotedOutput


@dataclass(frozen=True)
class EventNote:
    """An Event for people.

    Attributes:
        reason: a word in CamelCase.
        message: a sentence.
        is_warning: whether something went wrong.
    """

    reason: str
    message: str
    is_warning: bool = False


@dataclass(frozen=True)
class WriteStatus:
    """Write the status, if the errand is as it was seen: who is later loses."""

    status: ErrandStatus
    event: EventNote | None = None


@dataclass(frozen=True)
class CreateJob:
    """Create the Job of a run that is noted in the status."""

    job: Object


@dataclass(frozen=True)
class CollectOutput:
    """Read the output, write its Secrets, and note them in the status.

    Attributes:
        pod: that has the output.
        output: what becomes of it.
    """

    pod: Object
    output: NotedOutput


@dataclass(frozen=True)
class ReleaseHolders:
    """Let holding containers end."""

    pod: str
    containers: tuple[str, ...]


@dataclass(frozen=True)
class RenewHold:
    """Let the time of holding containers begin again."""

    pod: str
    containers: tuple[str, ...]


@dataclass(frozen=True)
class SetStrategy:
    """Set the strategy, if the errand is as it was seen."""

    strategy: Strategy


@dataclass(frozen=True)
class DisownStrategy:
    """Own the strategy no longer, so that a server-side applier has no conflict where it sets it again."""


@dataclass(frozen=True)
class AdoptPod:
    """Make the errand an owner of a pod, so that the pod stays without its Job."""

    pod: Object


STOP_DEADLINE = 1
"""``activeDeadlineSeconds`` of a Job that is stopped."""


@dataclass(frozen=True)
class StopJob:
    """End what a Job still runs; the Job stays, as failed."""

    name: str
    uid: str


@dataclass(frozen=True)
class DeleteJob:
    """Delete a Job, with pods that nothing else owns."""

    name: str
    uid: str


Step: TypeAlias = (
    "WriteStatus | CreateJob | CollectOutput | ReleaseHolders | RenewHold | SetStrategy | DisownStrategy"
    " | AdoptPod | StopJob | DeleteJob"
)

SIGNALS = (ReleaseHolders, RenewHold)
"""Steps of which nothing can be seen in the cluster's objects at once."""


@dataclass(frozen=True)
class Decision:
    """What is to be done now.

    Attributes:
        steps: in their order. If one finds that somebody else was quicker, the rest is left.
        recheck_seconds: after how long to look again, though nothing has changed; None for never.
    """

    steps: tuple[Step, ...] = ()
    recheck_seconds: float | None = None
