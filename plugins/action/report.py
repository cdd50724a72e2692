# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs kyma.lifecycle.report on the controller."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ansible import constants as C
from ansible import context
from ansible.plugins.action import ActionBase

from ..module_utils._carrier.task import Result
from ..module_utils._errors import LifecycleError
from ..module_utils._runs.cluster_state import NOT_BEGUN_YET, ClusterState
from ..plugin_utils._carrier.cluster_log import CLUSTER_LOG
from ..plugin_utils._carrier.command_target import PLACEHOLDER, CommandTarget
from ..plugin_utils._carrier.role_options import is_in_own_role
from ..plugin_utils._carrier.task_target import task_target
from ..plugin_utils._report.gathered import GatheredCluster, GatheredClusters
from ..plugin_utils._report.model import ClusterReport
from ..plugin_utils._report.page import render_report
from ..plugin_utils._report.playbook_start import PLAYBOOK_START
from ..plugin_utils._report.records import read_cluster
from ..plugin_utils._report.report_file import read_report, write_report

ARGUMENT_SPEC: dict[str, dict[str, Any]] = {
    "path": {"type": "path", "required": True},
    "results": {"type": "list", "elements": "dict", "required": True},
    "cluster": {"type": "str", "default": ""},
    "title": {"type": "str", "default": ""},
    "scope": {"type": "str", "choices": ["all", "playbook"], "default": "all"},
}
LEFT = "its tasks ended before its deployment began; the output of Ansible says why"


class ActionModule(ActionBase):
    """The action plugin of the module of the same name."""

    argument_spec = ARGUMENT_SPEC
    _supports_check_mode = True
    _requires_connection = False
    TRANSFERS_FILES = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> Result:
        """See ActionBase."""
        super().run(tmp, task_vars)
        _outcome, params = self.validate_argument_spec(argument_spec=self.argument_spec)
        try:
            return self._report(params, task_vars or {})
        except LifecycleError as error:
            return {"failed": True, "msg": str(error)}

    def _report(self, params: dict[str, Any], task_vars: dict[str, Any]) -> Result:
        host = str(task_vars["inventory_hostname"])
        own = GatheredCluster(host, params["cluster"] or host, params["results"], self._target(task_vars))
        path = Path(params["path"]).absolute()
        gathered = GatheredClusters(Path(C.DEFAULT_LOCAL_TMP), path)
        with gathered.locked():
            gathered.add(own)
            clusters = reported_clusters(gathered.read(), task_vars, params["scope"])
            before, after = read_report(path), render_report(clusters, params["title"])
            if before != after and not self._task.check_mode:
                write_report(path, after)
        return {
            "changed": before != after,
            "path": str(path),
            "clusters": {cluster.name: cluster.state for cluster in clusters},
            **(_diff(path, before or "", after) if self._task.diff and before != after else {}),
        }

    def _target(self, task_vars: dict[str, Any]) -> CommandTarget:
        """What commands in the report need to reach the host's cluster."""
        names = {"kubeconfig": "kyma_kubeconfig", "context": "kyma_context"}
        written = {option: task_vars[name] for option, name in names.items() if task_vars.get(name)}
        params = {option: self._templar.template(value) for option, value in written.items()}
        is_local = getattr(self._connection, "transport", "local") == "local"
        target = task_target(params, task_vars, self._loader, is_local=is_local)
        if params or is_in_own_role(self._task):
            return target
        # The tasks with the results had options of their own, which are not known here.
        return replace(target, kubeconfig="", context=PLACEHOLDER, variables={"kyma_context": PLACEHOLDER})


def reported_clusters(
    gathered: list[GatheredCluster], task_vars: dict[str, Any], scope: str
) -> list[ClusterReport]:
    """The content of the report: the clusters so far, in the play's order, then its hosts without a result.

    Args:
        gathered: the results of tasks so far.
        task_vars: variables of the task; they list the hosts of the play.
        scope: which runs, as in the module's option.
    """
    since = PLAYBOOK_START if scope == "playbook" else None
    hosts = list(task_vars.get("ansible_play_hosts_all") or ())
    reachable = frozenset(task_vars.get("ansible_play_hosts") or ())
    known = {one.cluster: one for one in CLUSTER_LOG.states(is_over=False)}
    now = datetime.now(UTC)
    order = {host: number for number, host in enumerate(hosts)}
    ordered = sorted(gathered, key=lambda one: (order.get(one.host, len(order)), one.cluster))
    silent = [host for host in hosts if host not in {one.host for one in gathered}]
    return [
        *(
            replace(read_cluster(one.cluster, one.results, now=now, since=since), commands=one.commands)
            for one in ordered
        ),
        *(_silent_cluster(host, known.get(host), has_left=host not in reachable) for host in silent),
    ]


def _silent_cluster(host: str, state: ClusterState | None, *, has_left: bool) -> ClusterReport:
    """A host whose tasks for the report have not ended: what the tasks of its deployment say."""
    state = state or ClusterState(host, reason=NOT_BEGUN_YET)
    reason = LEFT if has_left and state.reason == NOT_BEGUN_YET else state.reason
    # No task has read the variables of its connection.
    commands = CommandTarget(host=host, inventory=tuple(context.CLIARGS.get("inventory") or ()))
    return ClusterReport(host, state.state, first_reason=reason, seconds=state.seconds, commands=commands)


def _diff(path: Path, before: str, after: str) -> Result:
    largest = C.MAX_FILE_SIZE_FOR_DIFF
    if max(len(before), len(after)) > largest:
        return {"diff": {"dst_larger" if len(before) > largest else "src_larger": largest}}
    return {"diff": {"before": before, "after": after, "before_header": str(path), "after_header": str(path)}}
