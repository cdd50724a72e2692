# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When to run a rollout again, and what it needs before that: pure."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import tzinfo

from ...module_utils._runs.cluster_state import UNCHANGED
from ...module_utils._runs.hop_lines import NOTHING_WRITTEN
from ...module_utils._runs.outcomes import SUCCEEDED
from ...module_utils._text import MOST_NAMES, short_list
from ...module_utils._timestamp import timestamp
from .._last_lines.playbook_summary import NextStep
from .local_time import local_time
from .model import DONE, EMPTY, OPEN, Rollout

APPROVE = "kyma.lifecycle.approve_ring"
AGAIN = "run the same command again"
FOR_REAL = "run the same command without --check"
DEPLOY = "run kyma.lifecycle.deploy_kyma"
"""After a playbook that decides and deploys nothing."""


@dataclass(frozen=True)
class Call:
    """The call of ``ansible-playbook`` that has decided.

    Attributes:
        next_call: what to do for the next decision: :data:`AGAIN`, :data:`FOR_REAL` or :data:`DEPLOY`.
        undeployed: the clusters to which it deploys nothing.
        inventory: its inventories.
        files: of its variables, as ``-e`` takes them.
    """

    next_call: str = AGAIN
    undeployed: Collection[str] = ()
    inventory: Sequence[str] = ()
    files: Sequence[str] = ()


def rollout_steps(rollout: Rollout, call: Call, zone: tzinfo | None = None) -> list[NextStep]:
    """The next steps of a rollout, for the last lines of a playbook; one if it is complete.

    Args:
        rollout: as decided last.
        call: that has decided.
        zone: of the times; None for the one of this machine.
    """
    if {ring.state for ring in rollout.rings} - {EMPTY} == {DONE}:
        return [NextStep(f"the rollout of Kyma {rollout.version} is complete{_exceptions(rollout)}")]
    return list(_steps(rollout, call, zone))


def _exceptions(rollout: Rollout) -> str:
    clusters = (one for ring in rollout.rings for one in ring.clusters)
    others = [one.name for one in clusters if one.state not in (UNCHANGED, SUCCEEDED)]
    return f", except for {short_list(others, MOST_NAMES)}" if others else ""


def _steps(rollout: Rollout, call: Call, zone: tzinfo | None) -> Iterator[NextStep]:
    for ring in rollout.rings:
        if ring.needs_approval and call.next_call == DEPLOY:
            yield NextStep(f"next: once ring {ring.name} is approved, {DEPLOY}")
        elif ring.needs_approval:
            text = f"next: approve ring {ring.name} with the variables of this call, then {call.next_call}"
            yield NextStep(text, _approval(ring.name, rollout.release_digest, call))
    if {*call.undeployed} & {*rollout.deploy}:
        first = f"{NOTHING_WRITTEN}; " if call.next_call == FOR_REAL else ""
        yield NextStep(f"next: {first}{call.next_call} now: {_may_start(rollout)}")
    elif rollout.next_at:
        when = f"{local_time(rollout.next_at, zone)} ({timestamp(rollout.next_at)})"
        yield NextStep(f"next: {call.next_call} from {when}, {_reason(rollout)}")


def _approval(ring: str, release_digest: str, call: Call) -> str:
    options = [*(word for one in call.inventory for word in ("-i", one)), APPROVE]
    given = [*call.files, f"kyma_ring={ring}", f"kyma_release_digest={release_digest}", "kyma_reason=WHY"]
    options += [word for one in given for word in ("-e", one)]
    return shlex.join(["ansible-playbook", *options])


def _may_start(rollout: Rollout) -> str:
    names = [ring.name for ring in rollout.rings if {one.name for one in ring.clusters} & {*rollout.deploy}]
    return f"{', '.join(names)} may start"


def _reason(rollout: Rollout) -> str:
    opening = [ring.name for ring in rollout.rings if ring.opens_at and ring.opens_at == rollout.next_at]
    if opening:
        return f"when {opening[0]} may start"
    soaking = [ring.name for ring in rollout.rings if ring.state == OPEN and ring.soak]
    return f"when the soak of {soaking[-1]} is over" if soaking else "when more may be done"
