# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From the runs of errands to what the report shows of them: pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from ...module_utils._errands.authoring.errand_report import log_command
from ...module_utils._errands.errand_model import ErrandKey
from ...module_utils._runs.durations import with_items
from ...module_utils._runs.outcomes import ERRAND, FAILED, SUCCEEDED
from ...module_utils._timestamp import parse_time
from .model import Failure, RunReport, Work
from .plain_values import plain_text


@dataclass(frozen=True)
class _ErrandRun:
    """A run of an errand that has ended: how, when, and the command that shows its log."""

    name: str
    state: str
    seconds: float
    started_at: str
    finished_at: str
    reason: str = ""
    log_command: str = ""

    @property
    def start(self) -> datetime | None:
        return parse_time(self.started_at)


def errands_run(given: Sequence[Mapping[str, Any]], begin: datetime | None) -> RunReport | None:
    """The runs of errands on a cluster, which the report shows as one run; None if there are none.

    Args:
        given: what tasks returned: ``errand_info``, and tasks that have run errands.
        begin: of ``errand_info``, runs that began before are left out. None for the newest of each errand.
    """
    runs = [run for result in given for one in _errands(result) for run in _recorded(one, begin)]
    # The history of an errand says why a run failed, the row of a task does not always.
    known = {(one.name, one.started_at) for one in runs}
    own = (one for result in given for one in _own_runs(result))
    runs += [one for one in own if (one.name, one.started_at) not in known]
    runs.sort(key=lambda one: (one.started_at, one.name))
    return _report(runs) if runs else None


def has_errands_alone(result: Mapping[str, Any]) -> bool:
    """Whether a result has durations, and those of errands alone."""
    kinds = {row.get("kind") for row in result.get("durations") or () if isinstance(row, Mapping)}
    return kinds == {ERRAND}


def _report(runs: Sequence[_ErrandRun]) -> RunReport:
    starts = [one.start for one in runs if one.start]
    ends = [one.start + timedelta(seconds=one.seconds) for one in runs if one.start]
    begin = min(starts, default=None)
    failed = [one for one in runs if one.state == FAILED]
    return RunReport(
        what="Run errands",
        started_at=runs[0].started_at if begin else "",
        finished_at=max((one.finished_at for one in runs), default=""),
        state=FAILED if failed else SUCCEEDED,
        seconds=(max(ends) - begin).total_seconds() if begin else sum(one.seconds for one in runs),
        logs=tuple(one.log_command for one in failed if one.log_command),
        work=tuple(
            Work(
                kind=ERRAND,
                name=one.name,
                state=one.state,
                seconds=one.seconds,
                start=(one.start - begin).total_seconds() if one.start and begin else None,
            )
            for one in runs
        ),
        failures=tuple(Failure((f"{ERRAND} {one.name}",), one.reason) for one in failed),
    )


def _own_runs(result: Mapping[str, Any]) -> Iterator[_ErrandRun]:
    """The runs that a task, or a loop, has run to their end."""
    for item in with_items(result):
        for row in item.get("durations") or ():
            if isinstance(row, Mapping) and row.get("kind") == ERRAND:
                yield _ErrandRun(
                    plain_text(row.get("name")),
                    plain_text(row.get("state")),
                    float(row.get("seconds") or 0.0),
                    plain_text(row.get("started_at")),
                    plain_text(row.get("finished_at")),
                    plain_text(item.get("msg")) or "Its run failed.",
                    plain_text(item.get("log_command")),
                )


def _errands(result: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    """The errands of a result of ``errand_info``."""
    errands = result.get("errands") or ()
    return [one for one in errands if isinstance(one, Mapping) and isinstance(one.get("history"), list)]


def _recorded(errand: Mapping[str, Any], begin: datetime | None) -> list[_ErrandRun]:
    key = ErrandKey(plain_text(errand.get("namespace")), plain_text(errand.get("name")))
    by_number = {
        one.get("run"): one
        for one in (*errand["history"], errand.get("run") or {})
        if one.get("run") and one.get("state") in (SUCCEEDED, FAILED)
    }
    newest_first = sorted(by_number.items(), key=lambda one: int(one[0]), reverse=True)
    runs = [_ended_run(key, one) for _number, one in newest_first]
    if begin is None:
        return runs[:1]
    return [one for one in runs if one.start and one.start >= begin]


def _ended_run(key: ErrandKey, run: Mapping[str, Any]) -> _ErrandRun:
    code = run.get("exit_code")
    outcome = f"{run.get('outcome') or 'Failed'}{f' (exit code {code})' if code is not None else ''}"
    reason = ": ".join(filter(None, (f"run {run.get('run')} failed: {outcome}", run.get("message"))))
    return _ErrandRun(
        f"{key.namespace}/{key.name}",
        str(run["state"]),
        float(run.get("seconds") or 0.0),
        plain_text(run.get("started")),
        plain_text(run.get("finished")),
        plain_text(reason),
        log_command(key, int(run["run"])),
    )
