# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of a decision in words, for people: pure."""

from __future__ import annotations

from collections.abc import Sequence

from ..errand_model import ErrandPhase, ErrandStatus
from ..errand_steps import (
    SIGNALS,
    AdoptPod,
    CollectOutput,
    CreateJob,
    DeleteJob,
    DisownStrategy,
    ReleaseHolders,
    RenewHold,
    RequestPod,
    SetStrategy,
    Step,
    StopJob,
    WriteStatus,
)


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
        case CollectOutput(pod):
            return f"read the output of Pod {pod['metadata']['name']}, and write its Secrets"
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
