# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The facts of a cluster, from the results of its tasks. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from ...module_utils._errors import MOST_REASONS, LifecycleError
from ...module_utils._result_codec import from_result
from ...module_utils._runs.cluster_state import (
    NEVER_RAN,
    PLANNED,
    RUNNING,
    UNCHANGED,
    WAITING,
    attempt_of_result,
)
from ...module_utils._runs.outcomes import FAILED, SUCCEEDED
from ...module_utils._text import one_line, short_list
from .model import ApprovalFacts, ClusterFacts, GatedRun, RunFacts

NO_PLAN = "there is no plan of it: its tasks were skipped, or Ansible could not begin them"
SHOWN_DIGITS = 12


def facts_of(cluster: str, result: Mapping[str, Any] | None) -> ClusterFacts:
    """What a fresh plan says of a cluster.

    Args:
        cluster: the name of its host.
        result: its ``kyma_result`` after the plan, with the key ``rollout``; or the failed result of another
            task; None if there is none.
    """
    if not result:
        return ClusterFacts(cluster, FAILED, NO_PLAN)
    attempt = attempt_of_result(result, cluster)
    plan, rollout = result.get("plan") or {}, result.get("rollout") or {}
    hops = [plan, *(plan.get("later") or ())]
    facts = from_result(ClusterFacts, rollout)
    run = facts.run
    if run.release_digest and run.release_digest in [hop.get("release_digest") for hop in hops]:
        # A run of a release on the way is one of the rollout.
        run = replace(run, release_digest=facts.release_digest)
    return replace(
        facts,
        cluster=cluster,
        state=attempt.state,
        reason=one_line(attempt.reason),
        previous=attempt.previous,
        version=str(hops[-1].get("version") or attempt.version),
        unhealthy=_unhealthy(plan.get("unhealthy")),
        run=run,
        has_begun=bool(result.get("run")),
        approvals=tuple(map(_approval, rollout.get("approvals") or ())),
        approvals_problem=one_line(facts.approvals_problem),
    )


def release_of(facts: Iterable[ClusterFacts]) -> tuple[str, str]:
    """The version and the digest of the release of all clusters; empty if no plan knows it.

    Raises:
        LifecycleError: the clusters are to get different releases.
    """
    clusters: dict[tuple[str, str], list[str]] = {}
    for one in facts:
        if one.release_digest:
            clusters.setdefault((one.version, one.release_digest), []).append(one.cluster)
    if len({digest for _version, digest in clusters}) > 1:
        named = "; ".join(
            f"{version} (digest {digest[:SHOWN_DIGITS]}): {short_list(names, MOST_REASONS)}"
            for (version, digest), names in clusters.items()
        )
        raise LifecycleError(
            f"the clusters are to get {len(clusters)} releases, and a rollout has one: {named}. Give all"
            " hosts of rings (kyma_rings) the same release."
        )
    return next(iter(clusters), ("", ""))


def _unhealthy(listed: object) -> tuple[str, ...] | None:
    if not isinstance(listed, list):
        return None
    return tuple(one_line(f"{one.get('object')}: {one.get('reason')}") for one in listed)


def _approval(written: Mapping[str, Any]) -> ApprovalFacts:
    approval = from_result(ApprovalFacts, written)
    # An end that can't be read has passed.
    end = approval.until or (datetime.min.replace(tzinfo=UTC) if written.get("until") else None)
    return replace(approval, until=end)


def facts_after(facts: ClusterFacts, run: str, gate: GatedRun, now: datetime) -> ClusterFacts:
    """The facts of a cluster that has been deployed to.

    Args:
        facts: from the result of its last task.
        run: the name of its run; empty if none has begun.
        gate: by which it was deployed.
        now: by the controller's clock, as the result has no other.
    """
    digest = gate.release_digest
    facts = replace(facts, release_digest=digest, gated_run=gate if run else facts.gated_run)
    if facts.state == WAITING:
        # Its ring has stopped before its turn.
        return replace(facts, state=PLANNED, now=facts.now or now)
    if facts.state in (PLANNED, RUNNING):
        # Ansible has ended its tasks, and said why.
        facts = replace(facts, state=FAILED, reason=NEVER_RAN)
    if facts.state not in (SUCCEEDED, UNCHANGED):
        ended = RunFacts(run, facts.state, digest) if run else facts.run
        return replace(facts, run=ended)
    return replace(
        facts,
        state=UNCHANGED,
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
