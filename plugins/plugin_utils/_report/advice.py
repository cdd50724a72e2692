# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The next action for a person, by how a cluster and its runs have ended: pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ...module_utils._runs.cluster_state import HELD, REFUSED, RUNNING, UNREACHABLE
from ...module_utils._runs.outcomes import CANCELLED, FAILED
from .model import ClusterReport, RunReport

IDS_VARIABLE = "kyma_migration_ids"
UNDO_RUN_VARIABLE = "kyma_undo_run"


@dataclass(frozen=True)
class Step:
    """One action: a sentence, and the command for it, or empty."""

    text: str
    command: str = ""


def next_steps(cluster: ClusterReport) -> list[Step]:
    """The next actions on a cluster, with complete commands; empty if none is necessary."""
    target, note = replace(cluster.commands, note=""), cluster.commands.note
    return [
        Step(f"{one.text} ({note})" if note and one.command else one.text, target.complete(one.command))
        for one in _steps(cluster)
    ]


def _steps(cluster: ClusterReport) -> Iterator[Step]:
    again = "Then run the same playbook again. It continues from there, and does not repeat finished work."
    if cluster.state == UNREACHABLE:
        yield Step("Check the connection to the cluster. Then run the same playbook again for it.")
        return
    if cluster.state == HELD:
        yield Step("Ask the person who holds the cluster. After the hold ends, run the same playbook again.")
        return
    if cluster.state in (FAILED, REFUSED) and not cluster.runs:
        yield Step("Nothing was written. Correct what the message says, then run the same playbook again.")
        return
    if not cluster.runs:
        return
    # Errands that fail leave the state of the cluster as it is.
    for command in (command for run in cluster.runs for command in run.logs):
        yield Step("Read the log of the failed errand:", command)
    # The state of the cluster may come from an earlier run than the last one.
    last = next((run for run in reversed(cluster.runs) if run.state == cluster.state), cluster.runs[-1])
    if last.state == FAILED:
        yield from _after_failure(last)
        yield Step(again)
    elif last.state == CANCELLED:
        yield Step("The run was cancelled. Run the same playbook again to continue.")
    elif last.state == RUNNING:
        yield Step("The run has not ended. Write this report again later.")
        yield Step("Or stop the run:", "ansible-playbook kyma.lifecycle.cancel_kyma")


def _after_failure(run: RunReport) -> Iterator[Step]:
    yield Step("Correct the first failure above. Later ones may only follow from it.")
    if run.name:
        yield Step(
            "The record has the details:", f"kubectl get runs.lifecycle.kyma-project.io {run.name} -o yaml"
        )
    bad = [one.id for one in run.migrations if one.error and one.state not in ("done", "warned")]
    if bad:
        ids = ",".join(f'"{one}"' for one in bad)
        command = f"ansible-playbook kyma.lifecycle.migrations -e '{{\"{IDS_VARIABLE}\": [{ids}]}}'"
        yield Step("Ask the failed migrations whether they are still needed:", command)
    if run.name and run.has_migration_writes:
        yield Step(
            "To take back what the migrations of this run wrote:",
            f"ansible-playbook kyma.lifecycle.undo_migrations -e {UNDO_RUN_VARIABLE}={run.name}",
        )
