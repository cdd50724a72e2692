# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one decision on an errand: from the whole state to the next steps, never from an event. Pure."""

from __future__ import annotations

from dataclasses import replace

from .due_run import due_reason
from .errand_model import Errand, ErrandPhase, Run
from .errand_steps import Decision, Step
from .errand_validation import errand_problems
from .errand_view import ErrandView
from .finished_run import finish_steps, retain_pod
from .new_run import job_of_next_run, start_steps
from .open_errand_run import open_run_decision
from .status_change import NOT_REPEATED_TEXT, ignores_now, write_status

EXEC_REFUSED = (
    "the output is read by exec, and the right to create or get pods/exec is missing in this namespace. Grant"
    " both, or set output.from: terminationMessage"
)


def next_steps(view: ErrandView) -> Decision:
    """The next steps for an errand; none if its state is right.

    No step waits for a container. After the steps, the errand is read again.
    """
    errand = view.errand
    if errand.is_deleting:
        return Decision()
    if errand.status.open_run:
        return open_run_decision(view)
    finishing = finish_steps(view)
    if finishing.steps:
        return finishing
    problems = errand_problems(errand)
    warnings = () if problems else job_of_next_run(view).warnings
    reason = None if problems else due_reason(view)
    if reason and view.may_exec is False:
        problems = [EXEC_REFUSED]
    missing = view.configuration.missing if view.configuration and reason else ()
    if problems or missing or reason is None:
        phase, message = _resting(errand, problems, missing)
        status_write = write_status(
            view,
            problems=problems,
            warnings=warnings,
            phase=phase,
            message=message,
            run=_with_seen_configuration(view),
        )
        return Decision(_as_steps(status_write), finishing.recheck_seconds)
    return Decision((*retain_pod(view), *start_steps(view, reason, warnings)))


def _with_seen_configuration(view: ErrandView) -> Run | None:
    """The last run, with the resourceVersions at which its configuration was last found unchanged."""
    run, seen = view.errand.status.run, view.configuration
    if run is None or seen is None or seen.changed or seen.missing:
        return run
    return replace(run, configuration=seen.entries)


def _as_steps(step: Step | None) -> tuple[Step, ...]:
    return () if step is None else (step,)


def _resting(errand: Errand, problems: list[str], missing: tuple[str, ...]) -> tuple[ErrandPhase, str]:
    """The phase of an errand without an open run, and why."""
    if problems:
        return ErrandPhase.REFUSED, "; ".join(problems)
    if missing:
        return ErrandPhase.WAITING, "waiting for " + ", ".join(missing)
    outcome = errand.status.run.outcome if errand.status.run else None
    if outcome is None:
        return ErrandPhase.IDLE, ""
    # A condition has it, too, but no list of errands shows that.
    texts = (outcome.message, NOT_REPEATED_TEXT if ignores_now(errand, errand.status) else "")
    phase = ErrandPhase.SUCCEEDED if outcome.is_success else ErrandPhase.FAILED
    return phase, " ".join(filter(None, texts))
