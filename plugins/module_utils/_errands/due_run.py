# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which run of an errand is due, and why: pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .._jobs.configuration import ConfigurationEntry
from .errand_model import AUTOMATIC, Errand, RunReason, Strategy
from .errand_view import ErrandView


def due_reason(view: ErrandView) -> RunReason | None:
    """The reason why a run is due; None if no run is due."""
    reason = triggered_run(view.errand)
    if reason or view.cycle or not may_rerun_on_change(view.errand):
        return reason
    return RunReason.CONFIGURATION_CHANGED if view.configuration and view.configuration.changed else None


def triggered_run(errand: Errand) -> RunReason | None:
    """The trigger of a run that is due by the author's wish; None if no run is due.

    The status records what has run, never the strategy alone. ``once`` and a ``now`` that an applier declares
    run once for each template, no matter how often they are set again.
    """
    status, spec = errand.status, errand.spec
    if spec.strategy is Strategy.ONCE and status.once_digest != spec.template_digest:
        return RunReason.ONCE
    if spec.strategy is Strategy.NOW and not has_run_now(errand):
        return RunReason.NOW
    if errand.request and errand.request != status.request:
        return RunReason.REQUESTED
    return None


def has_run_now(errand: Errand) -> bool:
    """Whether a ``now`` in the spec has been answered with a run."""
    run = errand.status.run
    if run is None:
        return False
    if run.generation == errand.generation:
        return True
    return errand.strategy_owner.is_declared and run.template_digest == errand.spec.template_digest


def may_rerun_on_change(errand: Errand) -> bool:
    """Whether a change of its configuration would run an errand again."""
    spec, run = errand.spec, errand.status.run
    return spec.reruns_on_change and spec.strategy in AUTOMATIC and run is not None and not run.is_open


def needs_configuration(errand: Errand) -> bool:
    """Whether the decision on an errand depends on its ConfigMaps and Secrets."""
    if errand.status.open_run:
        return not errand.status.open_run.job_uid
    return triggered_run(errand) is not None or may_rerun_on_change(errand)


def configuration_changes(
    recorded: Mapping[tuple[str, str], ConfigurationEntry], entries: Sequence[ConfigurationEntry]
) -> list[str]:
    """The differences from the configuration of the last run, each in a clause.

    Args:
        recorded: the configuration of that run, by kind and name.
        entries: as they are now.
    """
    changes = []
    for entry in entries:
        before = recorded.get((entry.kind, entry.name))
        if before is None or (before.resolved_name, before.digest) != (entry.resolved_name, entry.digest):
            changes.append(f"{entry.kind} {entry.resolved_name}")
    return changes
