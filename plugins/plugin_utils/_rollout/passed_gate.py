# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A gate that another job has decided and passed on: whether a cluster may begin by it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ...module_utils._carrier.task import Result
from ...module_utils._carrier.task_call import failed_result
from ...module_utils._runs.cluster_state import REFUSED
from ...module_utils._text import MOST_NAMES, short_list, shown_value
from ...module_utils._timestamp import parse_time, timestamp
from .facts import SHOWN_DIGITS, facts_of
from .model import ClusterFacts
from .ring_options import read_duration

REFUSED_PLAN_KEYS = ("seconds", "started_at", "finished_at", "durations", "warnings", "rollout")
"""What the result of a refused plan has of the plan."""
REMEDY = "Run the playbook rollout_gate again, in an unsliced job with all hosts, and pass on what it sets."


@dataclass(frozen=True)
class PassedGate:
    """The variables of a job that begins by a gate.

    Attributes:
        verdict: the value of ``kyma_gate``: what ``rollout_gate`` sets.
        max_age: the value of ``kyma_gate_max_age``.
        has_serial: whether ``kyma_serial`` is set.
    """

    verdict: Any
    max_age: object
    has_serial: bool = False

    def refusal(self) -> str:
        """Why no cluster may begin, before anything is known of it; empty if one may."""
        if self.has_serial:
            return (
                "nothing has begun here: kyma_serial is set together with gate_required (kyma_gate_required)."
                " In a sliced job it counts only the hosts of the slice, so clusters that should wait for"
                " others begin at once. Leave out kyma_serial, and name groups as rings (kyma_rings) for the"
                " gate."
            )
        try:
            read_duration(self.max_age)
        except ValueError as error:
            return f"gate_max_age (kyma_gate_max_age) is {shown_value(self.max_age)}, and must be {error}"
        if not self.verdict:
            return (
                "nothing has begun here: gate_required (kyma_gate_required) is set, and there is no gate"
                f" (kyma_gate) for this job. {REMEDY}"
            )
        known = self.verdict if isinstance(self.verdict, Mapping) else {}
        if not isinstance(known.get("hosts"), Mapping):
            shown = shown_value(self.verdict)
            return f"nothing has begun here: gate (kyma_gate) is {shown}, which is no gate. {REMEDY}"
        return ""

    def reasons(self, cluster: ClusterFacts) -> Iterator[str]:
        """Why a cluster may not begin; none if it may.

        Args:
            cluster: with what is to be deployed, and the time by its clock.
        """
        digest, hosts = str(self.verdict.get("release_digest") or ""), list(map(str, self.verdict["hosts"]))
        if digest != cluster.release_digest or not digest:
            version = self.verdict.get("version") or "of unknown version"
            decided, planned = (one[:SHOWN_DIGITS] or "none" for one in (digest, cluster.release_digest))
            yield (
                f"it was decided for another release: Kyma {version} with the digest {decided}, and Kyma"
                f" {cluster.version} to deploy has the digest {planned}"
            )
        if cluster.cluster not in hosts:
            yield f"it only names {short_list(hosts, MOST_NAMES)}" if hosts else "it names no cluster"
        decided_at = parse_time(self.verdict.get("at"))
        if decided_at is None or cluster.now is None:
            yield "its age is unknown"
        elif abs((cluster.now - decided_at).total_seconds()) > read_duration(self.max_age):
            yield (
                f"it was decided at {timestamp(decided_at)}, it is {timestamp(cluster.now)} by the clock of"
                f" the cluster, and gate_max_age (kyma_gate_max_age) is {self.max_age}"
            )


def plan_by_gate(plan: Callable[[], Result], gate: PassedGate, host: str) -> Result:
    """The result of a plan. It is refused if it has something to do that the gate does not let begin.

    Args:
        plan: makes the plan.
        gate: that another job has decided.
        host: of the cluster.
    """
    if refusal := gate.refusal():
        return {**failed_result(refusal), "state": REFUSED}
    result = plan()
    if result.get("failed") or not result.get("changed"):
        return result
    known = result.get("plan") or {}
    releases = {key: str(known.get(key) or "") for key in ("previous", "version")}
    reasons = "; ".join(gate.reasons(facts_of(host, {**result, **releases})))
    if not reasons:
        return result
    closed = f"the gate (kyma_gate) does not let {host} begin: {reasons}. {REMEDY}"
    planned = {key: value for key, value in result.items() if key in REFUSED_PLAN_KEYS}
    refused = {**failed_result(closed), "state": REFUSED, "blockers": [closed], "failures": [closed]}
    return {**planned, **releases, **refused}
