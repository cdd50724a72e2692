# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The next action for a person, by how a cluster and its runs have ended: pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ...module_utils._objects.health.named_pods import pod_commands
from ...module_utils._runs.cluster_state import RUNNING
from ...module_utils._runs.outcomes import FAILED, NOT_STARTED
from ...module_utils._text import counted
from .._last_lines.playbook_summary import NEXT_STEPS, NextStep, next_step_text
from .model import ClusterReport, Failure, RunReport

IDS_VARIABLE = "kyma_migration_ids"
UNDO_RUN_VARIABLE = "kyma_undo_run"
MOST_PODS = 3
"""More commands would hide the steps after them."""


def next_steps(cluster: ClusterReport) -> list[NextStep]:
    """The next actions on a cluster, with complete commands; empty if none is necessary."""
    target, note = replace(cluster.commands, note=""), cluster.commands.note
    return [
        NextStep(f"{one.text} ({note})" if note and one.command else one.text, target.complete(one.command))
        for one in _steps(cluster)
    ]


def _steps(cluster: ClusterReport) -> Iterator[NextStep]:
    # Errands that fail leave the state of the cluster as it is.
    for command in (command for run in cluster.runs for command in run.logs):
        yield NextStep("Read the log of the failed errand:", command)
    # The state of the cluster may come from no run, or from an earlier run than the last one.
    last = next((run for run in reversed(cluster.runs) if run.state == cluster.state), None)
    if cluster.state == FAILED and last:
        yield from _after_failure(last)
        yield NextStep(
            "Then run the same playbook again. It continues from there, and does not repeat finished work."
        )
    elif cluster.state == RUNNING and last:
        yield NextStep("The run has not ended. Write this report again later.")
        yield NextStep("Or stop the run:", "ansible-playbook kyma.lifecycle.cancel_kyma")
    elif cluster.state in NEXT_STEPS and cluster.state != NOT_STARTED:
        text = next_step_text([cluster.end])
        yield NextStep(f"{text[0].upper()}{text[1:]}.")


def _corrections(failures: Sequence[Failure]) -> Iterator[NextStep]:
    failed = [one for one in failures if one.state == FAILED]
    ties = (
        f" Without {cause}, {', '.join(later.subjects)} can't start."
        for later in failures
        if later.state == NOT_STARTED and (cause := _cause_of(later, failed))
    )
    yield NextStep(f"Correct {'each' if len(failed) > 1 else 'the'} failure above.{''.join(ties)}")
    pods = [(one, *named) for one in failed for named in pod_commands(one.text)]
    for failure, name, (first, *logs) in pods[:MOST_PODS]:
        yield NextStep(" of ".join([f"Check pod {name}", *failure.subjects[:1]]) + ":", first)
        yield from (NextStep("Read its log:", one) for one in logs)
    if (more := len(pods) - MOST_PODS) > 0:
        yield NextStep(f"The failures above name {counted(more, 'more pod')}.")


def _cause_of(later: Failure, failed: Sequence[Failure]) -> str:
    """The failed part that is named by the reason of a part which did not start; empty for none."""
    words = re.split(r"[\s,]+", later.text)
    return next((part for one in failed for part in one.subjects if part.split(" ")[-1] in words), "")


def _after_failure(run: RunReport) -> Iterator[NextStep]:
    yield from _corrections(run.failures)
    if run.name:
        yield NextStep("The record has the details:", f"kubectl get kymaruns {run.name} -o yaml")
    bad = [one.id for one in run.migrations if one.error and one.state not in ("done", "warned")]
    if bad:
        ids = ",".join(f'"{one}"' for one in bad)
        command = f"ansible-playbook kyma.lifecycle.migrations -e '{{\"{IDS_VARIABLE}\": [{ids}]}}'"
        yield NextStep("Ask the failed migrations whether they are still needed:", command)
    if run.name and run.has_migration_writes:
        yield NextStep(
            "To take back what the migrations of this run wrote:",
            f"ansible-playbook kyma.lifecycle.undo_migrations -e {UNDO_RUN_VARIABLE}={run.name}",
        )
