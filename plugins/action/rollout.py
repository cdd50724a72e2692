# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs kyma.lifecycle.rollout on the controller: it decides from the plans of all hosts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from ansible import context
from ansible.plugins.action import ActionBase

from ..module_utils._carrier.task import Result
from ..module_utils._errors import LifecycleError
from ..module_utils._result_codec import to_result
from ..module_utils._timestamp import precise_timestamp
from ..plugin_utils._carrier.carrier import TaskVars
from ..plugin_utils._carrier.cluster_log import CLUSTER_LOG
from ..plugin_utils._carrier.paths import SearchPath, folders_of_named_files
from ..plugin_utils._carrier.role_options import role_options, variable_of
from ..plugin_utils._carrier.screen.console import print_line
from ..plugin_utils._rollout.facts import facts_after, facts_later, facts_of
from ..plugin_utils._rollout.fleet_variables import (
    refuse_file,
    refuse_other_rings,
    refuse_variables,
)
from ..plugin_utils._rollout.gate import broken_clusters, decide, rings_to_check
from ..plugin_utils._rollout.model import GO, CheckVerdict, ClusterFacts, GatedRun, RingOptions, Rollout
from ..plugin_utils._rollout.ring_check import ask_check, check_question, find_check
from ..plugin_utils._rollout.ring_options import read_rings
from ..plugin_utils._rollout.ring_turn import failures_left, failures_of, ring_batches

RAW_OPTIONS = (
    "ring_soak",
    "ring_minimum",
    "ring_max_failures",
    "ring_approve",
    "ring_parallel",
    "ring_not_before",
    "ring_check",
)
"""The options with a value for all rings, or one for each."""
ARGUMENT_SPEC: dict[str, dict[str, Any]] = {
    "step": {"type": "str", "choices": ["rings", "decision", "end"], "default": "decision"},
    "rings": {"type": "list", "elements": "str", "default": []},
    **{name: {"type": "raw"} for name in RAW_OPTIONS},
}
ROLE = "kyma"
RING_VARIABLES = {option: variable_of(option, ROLE) for option in ("rings", *RAW_OPTIONS)}
"""The variables of rings, by option."""
RINGS_FILE = "__kyma_rings_file"
"""The variable of the playbook with the file beside the inventory, see ``playbooks/deployment/vars``."""
REPORT_FILES = ("kyma_report", "kyma_summary", "kyma_junit")
ROLLOUT, RESULT, OUTSIDE = "kyma_rollout", "kyma_result", "__kyma_plans"
"""The variables with the rollout, the result of a host, and the plans of clusters outside of ``--limit``."""


class ActionModule(ActionBase):
    """The action plugin of the module of the same name."""

    argument_spec = ARGUMENT_SPEC
    _supports_check_mode = True
    _requires_connection = False
    TRANSFERS_FILES = False

    def run(self, tmp: str | None = None, task_vars: TaskVars | None = None) -> Result:
        """See ActionBase."""
        super().run(tmp, task_vars)
        known = task_vars or {}
        own = role_options(self._task, self.argument_spec, known, self._templar.template)
        self._task.args = {**self._task.args, **own}
        _outcome, params = self.validate_argument_spec(argument_spec=self.argument_spec)
        try:
            fleet = _Fleet(params, known)
            if file := self._rings_file(known):
                refuse_file(file, self._loader.load_from_file(file), RING_VARIABLES.values())
            steps = {"rings": fleet.check_rings, "decision": fleet.decide, "end": fleet.end}
            return steps[params["step"]]()
        except LifecycleError as error:
            return {"failed": True, "msg": str(error)}

    def _rings_file(self, task_vars: TaskVars) -> str:
        """The file beside the inventory with variables of rings; empty if there is none."""
        file = str(self._templar.template(task_vars.get(RINGS_FILE, "")))
        return file if Path(file).is_absolute() else ""


class _Fleet:
    """All hosts of the inventory, as the task of one of them sees them.

    Args:
        params: validated options of the task.
        task_vars: Ansible's variables for the task.
    """

    def __init__(self, params: Mapping[str, Any], task_vars: TaskVars) -> None:
        self._params = params
        self._vars = task_vars
        self._hosts: Sequence[str] = task_vars["ansible_play_hosts_all"]
        self._now = datetime.now(UTC)
        self._folders = SearchPath([*folders_of_named_files(task_vars), "."]).folders
        self._check_mode = bool(task_vars.get("ansible_check_mode"))
        self._known: dict[str, Mapping[str, Any]] = {}

    @cached_property
    def _rings(self) -> list[RingOptions]:
        return read_rings(self._params, self._vars["groups"], self._hosts)

    def check_rings(self) -> Result:
        """Validate the variables, and share the clusters outside of ``--limit`` among the hosts."""
        refuse_other_rings({host: self._vars["hostvars"][host] for host in self._hosts})
        rings = self._rings
        everyone = dict.fromkeys([*self._hosts, *(host for ring in rings for host in ring.hosts)])
        refuse_variables({host: self._raw(host) for host in everyone}, RING_VARIABLES)
        for ring in rings:
            if ring.check:
                find_check(ring.check, self._folders)
        outside = self._outside()
        shares = {host: outside[index :: len(self._hosts)] for index, host in enumerate(self._hosts)}
        return {
            "changed": False,
            "outside": {host: share for host, share in shares.items() if share},
            "warnings": list(self._warnings()),
        }

    def _outside(self) -> list[str]:
        """The hosts outside of ``--limit`` of all rings up to the last one that is deployed."""
        limit = set(self._hosts)
        last = max((number for number, ring in enumerate(self._rings) if limit & set(ring.hosts)), default=-1)
        return [host for ring in self._rings[: last + 1] for host in ring.hosts if host not in limit]

    def _warnings(self) -> Iterator[str]:
        forks = int(context.CLIARGS.get("forks") or 5)
        for ring in self._rings:
            if ring.parallel > forks:
                yield (
                    f"ring_parallel (kyma_ring_parallel) of the ring {ring.name} is {ring.parallel}, and"
                    f" Ansible works on {forks} hosts at a time. Set --forks to {ring.parallel} or more"
                )
        if any(self._raw(host).get("kyma_modules") for host in self._hosts):
            yield (
                "a rollout in rings does not manage modules (kyma_modules). Do that afterwards:\n"
                "  ansible-playbook kyma.lifecycle.modules"
            )

    def decide(self) -> Result:
        """Decide what may be deployed now, and show it."""
        facts = self._facts()
        checks = self._ask_checks(facts)
        rollout = self._decided(facts, checks)
        CLUSTER_LOG.show_rollout(to_result(rollout))
        failed = broken_clusters(self._rings, facts, self._now)
        return {
            **_result(rollout),
            "decided_at": precise_timestamp(self._now),
            "hosts": {
                host: ring.name for ring in self._rings for host in ring.hosts if host in rollout.deploy
            },
            "batches": ring_batches(self._rings, rollout.deploy),
            "failures_left": failures_left(self._rings, rollout, failed),
            "checks": {ring: asdict(verdict) for ring, verdict in checks.items()},
            "failures": {},
            "reporting": [],
            "ending": [],
        }

    def _decided(self, facts: Mapping[str, ClusterFacts], checks: Mapping[str, CheckVerdict]) -> Rollout:
        return decide(self._rings, facts, self._now, limit=self._hosts, checks=checks)

    def _ask_checks(self, facts: Mapping[str, ClusterFacts]) -> dict[str, CheckVerdict]:
        """The verdicts of the checks of all rings that wait for nothing else."""
        names = rings_to_check(self._rings, facts, self._now, limit=self._hosts)
        draft = self._decided(facts, {})
        verdicts = {}
        for ring in self._rings:
            if ring.name in names:
                check = find_check(ring.check, self._folders)
                verdict = verdicts[ring.name] = ask_check(check, check_question(draft, ring.name))
                print_line(f"the check of the ring {ring.name}: {verdict.state}: {verdict.line}")
        return verdicts

    def end(self) -> Result:
        """Decide again about what has been deployed, and name the hosts that fail."""
        before = self._vars[ROLLOUT]
        elapsed = self._now - datetime.fromisoformat(before["decided_at"])
        facts = {host: facts_later(one, elapsed) for host, one in self._facts().items()}
        if not self._check_mode:
            for host in before["deploy"]:
                result = self._raw(host)[RESULT]
                run = str(result.get("run") or "")
                # A plan that fails does not say which version it was for.
                known = {**result, "version": result.get("version") or before["version"]}
                gate = GatedRun(before["hosts"][host], before["release_digest"])
                facts[host] = facts_after(facts_of(host, known), run, gate, self._now)
        # A ring that was not asked yet is asked by the next call.
        checks = {ring.name: CheckVerdict(GO) for ring in self._rings}
        checks |= {ring: CheckVerdict(**verdict) for ring, verdict in before["checks"].items()}
        rollout = self._decided(facts, checks)
        CLUSTER_LOG.show_rollout(to_result(rollout))
        failures = failures_of(rollout, self._hosts)
        others = [host for host in self._hosts if host not in failures]
        return {
            **before,
            **_result(rollout),
            "deploy": before["deploy"],
            "failures": failures,
            "ending": [*failures, *others[:1]] if failures else [],
            "reporting": self._hosts if self._is_reported else [],
        }

    @property
    def _is_reported(self) -> bool:
        """Whether a host names a file for the report."""
        return any(self._raw(host).get(name) for host in self._hosts for name in REPORT_FILES)

    def _facts(self) -> dict[str, ClusterFacts]:
        """What the plans say of each cluster, also of those outside of ``--limit``."""
        facts = {}
        for host in self._hosts:
            known = self._raw(host)
            facts[host] = facts_of(host, known.get(RESULT))
            for one in (known.get(OUTSIDE) or {}).get("results") or ():
                facts[one["__kyma_cluster"]] = facts_of(one["__kyma_cluster"], one)
        return facts

    def _raw(self, host: str) -> Mapping[str, Any]:
        """The variables of a host, as written."""
        if host not in self._known:
            self._known[host] = self._vars["hostvars"].raw_get(host)
        return self._known[host]


def _result(rollout: Rollout) -> Result:
    """A rollout as a result of a task, which is no failure of the task."""
    return {**to_result(rollout), "is_failed": rollout.failed, "failed": False, "changed": False}
