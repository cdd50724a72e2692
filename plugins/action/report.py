# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs kyma.lifecycle.report on the controller."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
from ..plugin_utils._report.gathered import GatheredCluster, GatheredClusters
from ..plugin_utils._report.junit import render_junit
from ..plugin_utils._report.markdown import render_markdown
from ..plugin_utils._report.model import ClusterReport, RolloutReport
from ..plugin_utils._report.page import render_report, title_of
from ..plugin_utils._report.playbook_start import PLAYBOOK_START
from ..plugin_utils._report.records import read_cluster
from ..plugin_utils._report.report_file import read_report, write_report

ARGUMENT_SPEC: dict[str, dict[str, Any]] = {
    "path": {"type": "path"},
    "summary": {"type": "path"},
    "junit": {"type": "path"},
    "results": {"type": "list", "elements": "dict", "required": True},
    "cluster": {"type": "str", "default": ""},
    "title": {"type": "str", "default": ""},
    "scope": {"type": "str", "choices": ["all", "playbook"], "default": "all"},
}
VARIABLES = {"path": "kyma_report", "summary": "kyma_summary", "junit": "kyma_junit"}
"""The variables of the role for the files, by option."""
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
        results, name = params["results"], params["cluster"] or host
        own = GatheredCluster(host, name, results, command_target(results, host, task_vars))
        paths = {option: Path(params[option]).absolute() for option in VARIABLES if params[option]}
        if not paths:
            raise LifecycleError("no file is named: set path, summary or junit")
        gathered = GatheredClusters(Path(C.DEFAULT_LOCAL_TMP), *paths.values())
        diffs = []
        with gathered.locked():
            gathered.add(own)
            clusters = reported_clusters(gathered.read(), task_vars, params["scope"])
            rollout = _rollout_report(is_over=not task_vars.get("ansible_check_mode"))
            for option, text in rendered(clusters, params["title"], paths, rollout).items():
                path, named = paths[option], f"{option} ({VARIABLES[option]})"
                before = read_report(path, named)
                if before != text:
                    diffs.append(_diff(path, before or "", text))
                    if not self._task.check_mode:
                        write_report(path, text, named)
            CLUSTER_LOG.write_report(paths)
        return {
            "changed": bool(diffs),
            **{option: str(path) for option, path in paths.items()},
            "clusters": {cluster.name: cluster.state for cluster in clusters},
            **({"diff": diffs} if self._task.diff and diffs else {}),
        }


def _rollout_report(*, is_over: bool) -> RolloutReport | None:
    decided = CLUSTER_LOG.rollout(is_over=False)
    if not decided:
        return None
    return RolloutReport(decided, tuple(CLUSTER_LOG.rollout_steps(is_over=False)), is_over)


def rendered(
    clusters: list[ClusterReport],
    title: str,
    paths: Mapping[str, Path],
    rollout: RolloutReport | None = None,
) -> dict[str, str]:
    """The texts of the files, by the options that name them."""
    named = title or title_of(clusters)
    renderers: dict[str, Callable[[], str]] = {
        "path": lambda: render_report(clusters, title, rollout),
        "summary": lambda: render_markdown(clusters, named, str(paths.get("path", "")), rollout),
        "junit": lambda: render_junit(clusters, named, rollout),
    }
    return {option: renderers[option]() for option in paths}


def command_target(results: list[Result], host: str, task_vars: dict[str, Any]) -> CommandTarget:
    """What commands in the report need to reach the host's cluster."""
    for result in results:
        if target := result.get("command_target"):
            return CommandTarget(**{**target, "inventory": tuple(target["inventory"])})
    # The tasks with the results had options of their own, which are not known here.
    is_listed = host in (task_vars.get("groups") or {}).get("all", ())
    variables = {"kyma_context": PLACEHOLDER}
    return CommandTarget("", PLACEHOLDER, host if is_listed else "", _inventory(), variables)


def _inventory() -> tuple[str, ...]:
    return tuple(context.CLIARGS.get("inventory") or ())


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
    # A host may report on several clusters, by other names than its own.
    deployed = {host: state for host, state in known.items() if state.reason != NOT_BEGUN_YET}
    now = datetime.now(UTC)
    order = {host: number for number, host in enumerate(hosts)}
    ordered = sorted(gathered, key=lambda one: (order.get(one.host, len(order)), one.cluster))
    silent = [host for host in hosts if host not in {one.host for one in gathered}]
    return [
        *(
            replace(
                read_cluster(one.cluster, one.results, now=now, since=since, state=deployed.get(one.cluster)),
                commands=one.commands,
            )
            for one in ordered
        ),
        *(_silent_cluster(host, known.get(host), has_left=host not in reachable) for host in silent),
    ]


def _silent_cluster(host: str, state: ClusterState | None, *, has_left: bool) -> ClusterReport:
    """A host whose tasks for the report have not ended: what the tasks of its deployment say."""
    state = state or ClusterState(host, failures=(NOT_BEGUN_YET,))
    failures = (LEFT,) if has_left and state.reason == NOT_BEGUN_YET else state.failures
    # No task has read the variables of its connection.
    commands = CommandTarget(host=host, inventory=_inventory())
    return ClusterReport(replace(state, failures=failures), commands=commands)


def _diff(path: Path, before: str, after: str) -> Result:
    largest = C.MAX_FILE_SIZE_FOR_DIFF
    if max(len(before), len(after)) > largest:
        return {"dst_larger" if len(before) > largest else "src_larger": largest}
    return {"before": before, "after": after, "before_header": str(path), "after_header": str(path)}
