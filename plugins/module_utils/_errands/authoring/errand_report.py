# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report on an errand for people and playbooks: pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..._cluster.cluster import Object
from ..._jobs.run_history import RUNNING, UNKNOWN, entry_report, run_report
from ..._loose_json import number_of
from ..errand_model import ERRAND_LABEL, RUN_LABEL, Errand, ErrandKey, OutputNote, Run, label_value


def errand_report(errand: Errand) -> Object:
    """The report on an errand."""
    status = errand.status
    return {
        "namespace": errand.key.namespace,
        "name": errand.key.name,
        "phase": str(status.phase),
        "message": status.message,
        "trigger": str(errand.spec.strategy),
        "update_on_config_change": errand.spec.reruns_on_change,
        "run": _of_run(status.run) if status.run else None,
        "history": [_of_entry(entry) for entry in status.history],
        "secrets": list(status.run.output.secrets) if status.run and status.run.output else [],
        "conditions": [
            {name: str(one.get(name) or "") for name in ("type", "status", "reason", "message")}
            for one in status.conditions
        ],
    }


def errand_run_report(errand: Errand, number: int) -> Object:
    """The report on one run of an errand."""
    run = errand.status.run
    if run is None or run.number < number:
        return _report(run_report(number, None, RUNNING))
    if run.number == number:
        return _of_run(run)
    for entry in errand.status.history:
        if entry.get("run") == number:
            return _of_entry(entry)
    return _report(run_report(number, None, UNKNOWN))


def _of_run(run: Run) -> Object:
    output = run.output or OutputNote()
    report = run_report(run.number, run.outcome, RUNNING)
    return _report(report, str(run.reason), output.secrets, output.pruned)


def _of_entry(entry: Mapping[str, Any]) -> Object:
    secrets, pruned = ([str(name) for name in entry.get(field) or ()] for field in ("secrets", "pruned"))
    report = _report(entry_report(entry), str(entry.get("why") or ""), secrets, pruned)
    return {**report, "secret_count": number_of(entry.get("secretsCount")) or len(secrets)}


def _report(
    run: Object, trigger: str = "", secrets: Sequence[str] = (), pruned: Sequence[str] = ()
) -> Object:
    names = {"secrets": list(secrets), "pruned": list(pruned)}
    return {**run, "trigger": trigger, **names, "secret_count": len(secrets)}


def log_command(key: ErrandKey, number: int) -> str:
    """The command that shows the log of a run's containers."""
    selector = f"{ERRAND_LABEL}={label_value(key.name)},{RUN_LABEL}={number}"
    return (
        f"kubectl logs --namespace {key.namespace} --selector {selector} --all-containers --prefix --tail=-1"
    )
