# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Converts results of tasks to the model of the report: pure.

Results are recognized by their form, as branches of a playbook skip tasks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from ...module_utils._objects.inventory.owner_kinds import COMPONENT, MODULE
from ...module_utils._result_codec import from_result
from ...module_utils._runs.cluster_state import (
    HELD,
    RUNNING,
    STATES,
    UNCHANGED,
    UNENDED_STATES,
    ClusterState,
    attempt_of_result,
    attempt_of_run,
    cluster_state,
    state_of_task,
)
from ...module_utils._runs.component_state import component_states
from ...module_utils._runs.outcomes import (
    CANCELLED,
    FAILED,
    MIGRATION,
    NEVER_STARTED,
    NOT_STARTED,
    SUCCEEDED,
    Duration,
)
from ...module_utils._runs.records.cluster_hold import Hold, hold_problem
from ...module_utils._timestamp import parse_time
from .errand_runs import errands_run, has_errands_alone
from .model import ClusterReport, Failure, RunReport, Work
from .plain_values import plain_text, plain_values

Result = Mapping[str, Any]

ACTIONS = {"deploy": "Deploy", "delete": "Delete", "modules": "Manage modules"}
"""What a run does, by the ``action`` of its record."""
NO_RUN = "the cluster has no record of a run"


def read_cluster(
    name: str,
    results: Sequence[Result],
    *,
    now: datetime,
    since: datetime | None = None,
    state: ClusterState | None = None,
) -> ClusterReport:
    """The report on one cluster.

    Args:
        name: of its host.
        results: of its tasks: ``run_info``, ``errand_info``, ``plan``, and tasks with ``durations``.
        now: decides whether a hold is in force.
        since: records of runs that began earlier are left out; None for no limit.
        state: that the table over clusters has; None for that of the results and records.
    """
    given: list[Result] = [plain_values(result) for result in results if result]
    recorded = _recorded(given, since)
    runs = _runs_of(given, recorded)
    if errands := errands_run(given, since or _first_start(runs)):
        runs.insert(0, errands)
    installation = _installation(given)
    state = state or cluster_state(name, _attempts(given, recorded, now), is_over=False)
    if errands and state.state == NOT_STARTED:
        reasons = tuple(one.text for one in errands.failures)
        state = ClusterState(name, state=errands.state, seconds=errands.seconds, failures=reasons)
    version = str(installation.get("version") or "")
    target = str(installation.get("target") or "")
    return ClusterReport(
        replace(
            state,
            failures=tuple(map(plain_text, state.failures)),
            seconds=state.seconds or (runs[-1].seconds if runs and state.state != NOT_STARTED else 0.0),
        ),
        version=version,
        target="" if target == version else target,
        runs=tuple(runs),
    )


def _recorded(given: Iterable[Result], since: datetime | None) -> list[Result]:
    """The records of runs that the report shows, oldest first."""
    named = {result.get("run") for result in given if isinstance(result.get("run"), str)} - {""}
    recorded = (run for result in given for run in result.get("runs") or ())
    shown = (
        run
        for run in recorded
        if since is None or run["name"] in named or (parse_time(run.get("started_at")) or since) >= since
    )
    return sorted(shown, key=lambda run: str(run.get("started_at")))


def _runs_of(given: Iterable[Result], recorded: Sequence[Result]) -> list[RunReport]:
    known = {run["name"] for run in recorded}
    # A cluster that does not answer has no records to read, but tasks have reported how their runs ended.
    return [_run(run, attempt_of_run(run).state) for run in recorded] + [
        _run(result, _state_of(result))
        for result in given
        if "runs" not in result
        and _has_durations(result)
        and (result.get("run") or "plan" not in result)
        and (result.get("run") or "") not in known
    ]


def _first_start(runs: Iterable[RunReport]) -> datetime | None:
    return min(filter(None, (parse_time(run.started_at) for run in runs)), default=None)


def _attempts(given: Sequence[Result], recorded: Sequence[Result], now: datetime) -> list[ClusterState]:
    """What the tasks of a deployment say; without one, the newest run, and what tasks that read say."""
    deployed = [
        {"state": SUCCEEDED, **one}
        for one in given
        if "cluster" in one or one.get("failed") or _run_name(one) or _has_durations(one)
    ]
    if not deployed:
        newest = [attempt_of_run(run) for run in recorded[-1:]]
        return newest + _observed(given, newest, now)
    records = {run["name"]: run for run in recorded}
    return [
        attempt_of_run(records[_run_name(one)])
        if state_of_task(one) in UNENDED_STATES and _run_name(one) in records
        else attempt_of_result(one)
        for one in deployed
    ]


def _observed(given: Sequence[Result], attempts: Sequence[ClusterState], now: datetime) -> list[ClusterState]:
    """What tasks that only read say of a cluster, where no task has deployed to it."""
    installation = _installation(given)
    hold = installation.get("hold")
    held = hold_problem(Hold(**hold), now) if hold else ""
    if held and not (attempts and attempts[-1].state == RUNNING):
        return [ClusterState("", state=HELD, failures=(held,))]
    if attempts:
        return []
    unread = next((one for one in given if one.get("unreachable") or _is_silent(one)), None)
    if unread is not None:
        return [attempt_of_result({**unread, "failed": True})]
    if any("runs" in one for one in given):
        version = str(installation.get("version") or "")
        # A deployment with nothing to do leaves no record.
        unchanged = ClusterState("", version, version, UNCHANGED)
        return [unchanged if version else ClusterState("", failures=(NO_RUN,))]
    return []


def _has_durations(result: Result) -> bool:
    return bool(result.get("durations")) and not has_errands_alone(result)


def _run_name(result: Result) -> str:
    """The run of a task's result, or empty; runs of errands have numbers."""
    run = result.get("run")
    return run if isinstance(run, str) else ""


def _installation(given: Iterable[Result]) -> Result:
    return next((one["installation"] for one in given if one.get("installation")), {})


def _is_silent(result: Result) -> bool:
    """Whether a task failed and its ``failed_when`` hides that: it has a message and nothing else."""
    return bool(result.get("msg")) and not ({"runs", "plan", "run", "durations", "errands"} & result.keys())


def _state_of(result: Result) -> str:
    """The state of the run that a task was, by its own word or by whether it failed."""
    state = result.get("state") or ""
    return state if state in STATES else FAILED if result.get("failed") else SUCCEEDED


def _run(run: Result, state: str) -> RunReport:
    version, action = str(run.get("version") or ""), str(run.get("action") or "deploy")
    rows = [from_result(Duration, row) for row in run.get("durations") or () if isinstance(row, Mapping)]
    began = parse_time(run.get("started_at")) or min(
        filter(None, (parse_time(row.started_at) for row in rows)), default=None
    )
    known = from_result(RunReport, {"name": run.get("run"), **run, "work": None, "logs": None})
    work = tuple(_work(row, began, known) for row in rows)
    return replace(
        known,
        what=f"{ACTIONS.get(action, action.capitalize())} {version if action != 'modules' else ''}".rstrip(),
        state=state,
        seconds=_seconds(run, began, work),
        work=work,
        failures=tuple(_failures(run, state)),
        migrations=tuple(
            replace(one, state=one.state.replace("_", " "), verdict=one.verdict.replace("_", " "))
            for one in known.migrations
        ),
    )


def _seconds(run: Result, began: datetime | None, work: Iterable[Work]) -> float:
    """The duration of a run; for one that has not ended, until it was last written to."""
    if run.get("seconds"):
        return float(run["seconds"])
    last = parse_time(run.get("finished_at") or run.get("written_at"))
    measured = [(one.start or 0.0) + one.seconds for one in work]
    elapsed = (last - began).total_seconds() if last and began else 0.0
    return max([elapsed, *measured])


def _work(row: Duration, began: datetime | None, run: RunReport) -> Work:
    started, finished = parse_time(row.started_at), parse_time(row.finished_at)
    owner = row.component or next((one.component for one in run.migrations if one.id == row.name), "")
    parts = next((one.phases for one in run.components if one.name == row.name), {})
    return Work(
        kind=row.kind,
        name=row.name,
        state=row.state.replace("_", " "),
        seconds=max(0.0, row.seconds),
        component=owner if row.kind == MIGRATION else "",
        start=max(0.0, (started - began).total_seconds()) if started and began else None,
        finish=max(0.0, (finished - began).total_seconds()) if finished and began else None,
        parts=parts if row.kind in (COMPONENT, MODULE) else {},
    )


def _failures(run: Result, state: str) -> list[Failure]:
    """What failed or was cancelled, in order, then what did not start: one entry for each reason."""
    described: dict[tuple[str, str], list[str]] = {}
    for one in component_states(run.get("components") or ()).values():
        if one.state in (FAILED, CANCELLED, NOT_STARTED):
            described.setdefault((one.state, one.reason), []).append(one.label)
    known = [f"{label}: " for labels in described.values() for label in labels]
    if any(part_state == NOT_STARTED for part_state, _reason in described):
        known.append(NEVER_STARTED)
    others = [str(text) for text in run.get("failures") or () if not text.startswith(tuple(known))]
    if not (others or described) and state in (FAILED, CANCELLED):
        others = [
            str(run.get("message") or run.get("msg") or f"The run is {state}, and no reason is recorded.")
        ]
    ends = {
        f"{row.get('kind')} {row.get('name')}": str(row.get("finished_at") or "")
        for row in run.get("durations") or ()
        if isinstance(row, Mapping)
    }

    def place(failure: Failure) -> tuple[bool, str]:
        labels = failure.subjects or (failure.text.partition(": ")[0],)
        # What has no recorded end has ended the run.
        return failure.state == NOT_STARTED, min(filter(None, map(ends.get, labels)), default="~")

    failures = [Failure((), text, CANCELLED if text.startswith(CANCELLED) else FAILED) for text in others]
    failures += [Failure(tuple(subjects), text, one) for (one, text), subjects in described.items()]
    return sorted(failures, key=place)
