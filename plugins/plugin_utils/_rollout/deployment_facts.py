# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The facts of clusters after this call has deployed, without a further plan. Pure."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from ...module_utils._runs.cluster_state import NEVER_RAN, PLANNED, RUNNING, UNCHANGED, WAITING
from ...module_utils._runs.outcomes import FAILED, SUCCEEDED
from .model import ClusterFacts, RunFacts


def facts_after(facts: ClusterFacts, run: str, digest: str, now: datetime) -> ClusterFacts:
    """The facts of a cluster that has been deployed to.

    Args:
        facts: from the result of its last task.
        run: the name of its run; empty if none has begun.
        digest: of the release that was deployed.
        now: by the controller's clock, as the result has no other.
    """
    if facts.state == WAITING:
        # Its ring has stopped before its turn.
        return replace(facts, state=PLANNED, release_digest=digest)
    if facts.state in (PLANNED, RUNNING):
        # Ansible has ended its tasks, and said why.
        facts = replace(facts, state=FAILED, reason=NEVER_RAN)
    if facts.state not in (SUCCEEDED, UNCHANGED):
        ended = RunFacts(run, facts.state, digest) if run else facts.run
        return replace(facts, release_digest=digest, run=ended)
    return replace(
        facts,
        state=UNCHANGED,
        release_digest=digest,
        installed_digest=digest,
        since=facts.since or now,
        now=facts.now or now,
        unhealthy=facts.unhealthy or (),
        run=RunFacts(run, SUCCEEDED, digest) if run else facts.run,
    )


def facts_later(facts: ClusterFacts, elapsed: timedelta) -> ClusterFacts:
    """The facts of a cluster to which nothing was deployed. Its clock has gone on, and so has its soak.

    Args:
        facts: from its plan.
        elapsed: the time since the first decision.
    """
    return replace(facts, now=facts.now + elapsed) if facts.now else facts
