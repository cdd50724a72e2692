# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a rollout over several clusters has to know of one of them, besides its plan."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from ..._cluster.cluster import API_VERSION, Cluster
from ..._cluster.errors import Forbidden
from ..._result_codec import to_result
from ..._runs.cluster_state import LOST
from ..._runs.open_run import is_open, lost_runs
from ..._runs.records.approvals import find_approvals
from ..._runs.records.run_record import begin_of, run_status
from .release_plan import Plan


def rollout_facts(cluster: Cluster, plan: Plan, release_digest: str) -> dict[str, Any]:
    """The facts about a cluster for the decision which clusters are deployed next.

    Args:
        cluster: the live one.
        plan: of the deployment to it.
        release_digest: of the release that the plan leads to.
    """
    installation = plan.installation
    approvals, problem = find_approvals(cluster)
    return {
        "release_digest": release_digest,
        "installed_digest": installation.release_digest,
        "since": installation.release_since,
        "begun": installation.rollout._asdict(),
        "run": _last_run(cluster, installation.last_run),
        "now": cluster.server_time(),
        "healthy_since": plan.health.since,
        "approvals": to_result(approvals),
        "approvals_problem": problem,
    }


def _last_run(cluster: Cluster, name: str) -> dict[str, str]:
    """The last run; empty if there is none, its record is gone, or the user may not read it."""
    run = None
    with suppress(Forbidden):
        run = cluster.get(API_VERSION, "KymaRun", name) if name else None
    if run is None:
        return {}
    is_lost = is_open(run) and name in lost_runs(cluster, [run])
    state = LOST if is_lost else str(run_status(run)["state"])
    return {"name": name, "state": state, "release_digest": begin_of(run).release_digest}
