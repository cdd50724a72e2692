# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine of errands as a task that runs until it is stopped."""

from __future__ import annotations

import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from .._batch import Batch
from .._carrier.task import Result, Task
from .._cluster.errors import ClusterError, Forbidden, Unauthorized, Unconfigured
from .._errands.endpoint.http_endpoint import parse_address
from .._errands.errand_definition import ERRAND_KINDS, watch_rights
from .._errands.errand_engine import LEASE, EngineOptions, ErrandEngine
from .._errands.reconciler import Outcome
from .._errors import LifecycleError
from .._objects.access.review import MissingRights, demand
from .._runs.lease.lease_rights import lease_rights
from .._text import counted_names
from .._timestamp import timestamp
from .shared.engine_log import WriteLine, engine_log
from .shared.run_options import run_options

ENGINE = "errands engine"
"""The subject of the engine's reports about itself."""
RETRY_SECONDS = 2.0
POLL_SECONDS = 0.2
ENDS = ("succeeded", "failed")
MOST_NAMES = 5
"""Names of Secrets in a line."""


def watch_errands(task: Task) -> Result:
    """Run the engine until a user stops it, or its time is up.

    Raises:
        LifecycleError: rights or a login are missing, or an address or a file can't be used.
    """
    if task.params["http_address"]:
        parse_address(task.params["http_address"])
    with (
        engine_log(task.params["log_file"] or "") as write_log,
        _heeding_sigterm(task.cancelled) as must_stop,
    ):
        reports = _Reports(task, write_log)
        cancelled = _with_time_limit(must_stop, task.params["watch_seconds"])
        is_installed, warnings = _updated_definition(task, reports, cancelled)
        engine = ErrandEngine(
            task.cluster, _engine_options(task), report=reports.engine, on_outcome=reports.outcome
        )
        engine.run(cancelled)
        counts = ", ".join(f"{state}: {reports.counts[state]}" for state in ("started", *ENDS))
        reports.engine("ended", f"it was stopped at {timestamp()}; runs {counts}")
    return {
        "changed": is_installed or reports.counts["started"] > 0,
        "errands": [],
        "durations": [],
        "failures": [],
        "definition_installed": is_installed,
        "runs": {
            "started": reports.counts["started"],
            **{state: reports.counts[state] for state in ENDS},
        },
        "warnings": list(warnings),
    }


def _engine_options(task: Task) -> EngineOptions:
    params = task.params
    return EngineOptions(
        namespaces=tuple(params["namespaces"]),
        **run_options(params),
        workers=params["workers"],
        metrics_file=params["metrics_file"] or "",
        http_address=params["http_address"] or "",
        lease_seconds=params["lease_seconds"],
    )


class _Reports:
    """Reports outcomes and the engine's activity, and counts outcomes. Usable from several threads.

    What is shown is in the log already.
    """

    def __init__(self, task: Task, write_log: WriteLine) -> None:
        self._progress = task.progress
        self._write_log = write_log
        self._lock = threading.Lock()
        self.counts: Counter[str] = Counter()

    def engine(self, state: str, text: str) -> None:
        self._write_log({"subject": ENGINE, "state": state, "message": text})
        self._progress(ENGINE, state, text)

    def outcome(self, outcome: Outcome) -> None:
        with self._lock:
            self.counts[outcome["state"]] += 1
        subject = f"Errand {outcome['namespace']}/{outcome['name']}"
        self._write_log({"subject": "errand", **outcome})
        self._progress(subject, outcome["state"], outcome_detail(outcome, timestamp()))


def outcome_detail(outcome: Outcome, when: str = "") -> str:
    """The details of an outcome besides its state.

    Args:
        outcome: of a run.
        when: it was seen.
    """
    parts = [f"run {outcome['run']}"] if outcome["state"] in ("started", *ENDS) else []
    if outcome["state"] in ENDS:
        if outcome["seconds"] is not None:
            parts.append(f"{outcome['seconds']:.0f} s")
        written = len(outcome["secrets"]) - outcome["unchanged"]
        if written > 0:
            some = f"{written} of " if outcome["unchanged"] else ""
            parts.append(f"wrote {some}{counted_names(outcome['secrets'], 'Secret', MOST_NAMES)}")
        if outcome["pruned"]:
            parts.append(f"deleted {counted_names(outcome['pruned'], 'Secret', MOST_NAMES)}")
    if outcome["state"] in ("started", "failed") and outcome["reason"]:
        parts.append(outcome["reason"])
    if when:
        parts.append(f"at {when}")
    head = ", ".join(parts)
    message = outcome["message"] if outcome["state"] not in ("started", "succeeded") else ""
    return ": ".join(part for part in (head, message) if part)


def _updated_definition(
    task: Task, reports: _Reports, cancelled: Callable[[], bool]
) -> tuple[bool, tuple[str, ...]]:
    """Install the definition if necessary.

    The engine waits for a server that is away, and for a definition.
    """
    trouble = ""
    while not cancelled():
        try:
            rights = watch_rights(task.params["namespaces"]) | lease_rights(LEASE)
            demand(task.cluster, rights, "engine of errands")
            return ERRAND_KINDS.update(
                task.cluster, ERRAND_KINDS.state(task.cluster), Batch(cancelled=cancelled)
            )
        except (Forbidden, MissingRights, Unauthorized, Unconfigured):
            raise
        except ClusterError as error:
            if str(error) != trouble:
                trouble = str(error)
                reports.engine("retrying", trouble)
            _pause(RETRY_SECONDS, cancelled)
        except LifecycleError as error:
            reports.engine("waiting", str(error))
            return False, (str(error),)
    return False, ()


def _pause(seconds: float, cancelled: Callable[[], bool]) -> None:
    end = time.monotonic() + seconds
    while not cancelled() and time.monotonic() < end:
        time.sleep(POLL_SECONDS)


def _with_time_limit(cancelled: Callable[[], bool], seconds: int | None) -> Callable[[], bool]:
    if not seconds:
        return cancelled
    end = time.monotonic() + seconds
    return lambda: cancelled() or time.monotonic() >= end


@contextmanager
def _heeding_sigterm(cancelled: Callable[[], bool]) -> Iterator[Callable[[], bool]]:
    """Treat SIGTERM as a request to stop, too, unless there is a handler already.

    There is none in a module that Ansible has started with ``poll: 0``.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield cancelled
        return
    stop_request = threading.Event()

    def heed(_number: int, _frame: FrameType | None) -> None:
        stop_request.set()

    signal.signal(signal.SIGTERM, heed)
    try:
        yield lambda: stop_request.is_set() or cancelled()
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
