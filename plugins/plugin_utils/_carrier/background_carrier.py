# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Base of action plugins for long work: it runs in the background, and reports its progress."""

from __future__ import annotations

import json
import posixpath
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, ClassVar

from ansible.errors import AnsibleConnectionFailure
from ansible.module_utils.common.json import Direction, get_module_decoder

from ...module_utils._carrier.forked_worker import extend_time_limit, run_in_forked_worker
from ...module_utils._carrier.progress_file import ProgressLine
from ...module_utils._carrier.task import Result
from ...module_utils._migrations.migration_set import MigrationSet
from ...module_utils._progress import GRACE
from ...module_utils._release.model import ComponentEntry, Release
from ...module_utils.migration import Migration
from .arguments import Arguments
from .async_job import Files, JobReader, follow_job
from .carrier import Carrier, TaskVars
from .exit_messages import EXIT_MESSAGES
from .held_failures import HeldFailures
from .interpreter import has_libraries
from .screen.progress_view import PrintedLine
from .screen.standard_output import print_lines_at_once
from .signals import is_stop_requested, run_with_stop_signals

# The main process imports action plugins before it forks a worker for them.
print_lines_at_once()

MARGIN = 30.0
"""Seconds for starting and for leaving a result."""
DEFAULT_DEADLINE = 4 * 3600.0
"""For what has no option ``timeout``, beside the time of its migrations."""
STEPS = 3
"""Of a migration, each with all its time: its check, its run, and its check once more."""
RECORDED_KEYS = ("components", "migrations", "durations", "failures")
"""The keys of a task's result that the record of its run has."""
ALL = "*"
"""In place of a component: any."""
SHIPPED_MIGRATIONS_SECONDS = 7 * 24 * 3600.0
"""Seconds of migrations that are sent elsewhere: who doesn't load them doesn't know their own."""
MAX_MIGRATION_SECONDS = 365 * 24 * 3600.0
"""Seconds that a migration may count for, as the number may be any, and a timer's may not."""


class BackgroundCarrier(Carrier):
    """Works in a separate process, reports its progress, and returns its result.

    On this machine, that process is a fork of Ansible's. The module is started instead, as by Ansible's own
    ``async``, if the connection leads elsewhere or Ansible's own Python lacks the libraries. With ``async``
    and ``poll: 0`` nothing follows the module, and the answer names the job.
    """

    says_failures: ClassVar[bool] = False
    """Whether its result has the reason of each failure, and the record of its run too."""

    def run(self, tmp: str | None = None, task_vars: TaskVars | None = None) -> Result:
        """See ActionBase. In a run, ``ignore_errors`` applies only to failures that the run's record has."""
        result = super().run(tmp, task_vars)
        self._require_record(result)
        is_said = self._is_in_run and is_recorded(result) and result.get("failed")
        return recorded_failure(result) if is_said else result

    def log_attempt(self, result: Result, task_vars: TaskVars) -> None:
        """See Carrier."""
        self._require_record(result)
        super().log_attempt(result, task_vars)

    @property
    def _is_in_run(self) -> bool:
        return self.says_failures and bool(self._task.args.get("run"))

    def _require_record(self, result: Result) -> None:
        """End the play for the host if the record of its run does not have the result of the task."""
        if self._is_in_run and not is_recorded(result):
            self._task.ignore_errors = False

    def deadline(self, params: Mapping[str, Any], entries: Sequence[ComponentEntry] = ()) -> float:
        """Seconds within which the function ends by itself in any case.

        If it still works after that (and some grace), it hangs, and async_wrapper kills it. So rather too
        many seconds than too few.

        Args:
            params: validated options.
            entries: of the release; none before it is read.
        """
        del entries
        return float(params.get("timeout") or DEFAULT_DEADLINE)

    def carry(self, arguments: Arguments, task_vars: TaskVars) -> Result:
        """See Carrier."""
        self._chosen = self._task.async_val
        if self._task.async_val and not self._task.poll:
            return self.ship(arguments, task_vars, background=True)
        if not self.says_failures:
            # No record has what a stopped task has done.
            EXIT_MESSAGES.open_screen()
        # With a `poll` of the user's own, Ansible would poll a job that has ended already.
        self._task.async_val = 0
        work = self._work_in_own_process if self.is_local and has_libraries() else self._follow
        return run_with_stop_signals(lambda must_stop: work(arguments, task_vars, must_stop))

    _chosen = 0
    """The user's own limit, in seconds."""
    _prolong: Callable[[int], None]
    """Takes another limit once more is known."""
    _entries: Sequence[ComponentEntry] = ()
    """Of the release, once it was read."""
    _migrating: float = 0.0
    """Seconds of the migrations that may run, once they were loaded."""

    def _limit(
        self, params: Mapping[str, Any], entries: Sequence[ComponentEntry] = (), migrating: float = 0.0
    ) -> int:
        return self._chosen or int(self.deadline(params, entries) + migrating + _patience(params))

    def on_release_read(self, release: Release, params: Mapping[str, Any]) -> None:
        """See Carrier: a release may give its components more time."""
        self._entries = release.components
        self._raise_limit(params)

    def on_migrations_found(self, migration_set: MigrationSet, params: Mapping[str, Any]) -> None:
        """See Carrier: migrations have their own time, one after the other if they require it."""
        self._migrating = _time_of(migration_set.migrations, params)
        self._raise_limit(params)

    def _raise_limit(self, params: Mapping[str, Any]) -> None:
        limit = self._limit(params, self._entries, self._migrating)
        if limit > self._limit(params):
            self._prolong(limit)

    def _print(self, lines: Sequence[PrintedLine], task_vars: TaskVars) -> None:
        """See Carrier; after Ansible's main process has stopped reading its queue, lines wait for its end."""
        if not is_stop_requested():
            super()._print(lines, task_vars)
        elif not self._task.no_log:
            for line in lines:
                EXIT_MESSAGES.send_line(self._host_line(line.text, task_vars))

    def _work_in_own_process(
        self, arguments: Arguments, task_vars: TaskVars, must_stop: Callable[[], bool]
    ) -> Result:
        self._prolong = extend_time_limit
        with self._shown_progress(task_vars, must_stop) as (show, cancelled):
            return run_in_forked_worker(
                lambda progress, cancelled: self.call(arguments, task_vars, progress, cancelled),
                self._limit(arguments.params),
                show,
                cancelled=cancelled,
                patience=_patience(arguments.params),
                meanwhile=lambda: self.show_due(task_vars),
            )

    @contextmanager
    def _shown_progress(
        self, task_vars: TaskVars, must_stop: Callable[[], bool]
    ) -> Iterator[tuple[Callable[[ProgressLine], None], Callable[[], bool]]]:
        """Where to show progress, and ``must_stop`` in a form to call a few times a second."""
        held = HeldFailures(lambda line: self.show(line, task_vars))

        def is_cancelled() -> bool:
            held.show_late()
            return must_stop()

        with_reasons = True
        try:
            yield (held.show if self.says_failures else lambda line: self.show(line, task_vars)), is_cancelled
            with_reasons = is_stop_requested()
        finally:
            self._print(self._view.rest(), task_vars)
            held.show_rest(with_reasons=with_reasons)

    def _follow(self, arguments: Arguments, task_vars: TaskVars, must_stop: Callable[[], bool]) -> Result:
        name = f"kyma-{secrets.token_hex(8)}.progress"
        async_dir = self.get_shell_option("async_dir", default="~/.ansible_async")
        self._migrating = SHIPPED_MIGRATIONS_SECONDS if self.definition.needs_migrations else 0.0
        self._set_limit(self._limit(arguments.params, migrating=self._migrating))
        self._prolong = self._set_limit
        try:
            job = self.ship(
                arguments, task_vars, background=True, progress_file=posixpath.join(async_dir, name)
            )
        finally:
            limit = self._task.async_val
            self._task.async_val = 0  # so that cleanup() removes what was not handed over
        if "results_file" not in job:
            return job
        folder = posixpath.dirname(job["results_file"])
        window = self._window(Files(job["results_file"], posixpath.join(folder, name)))
        with self._shown_progress(task_vars, must_stop) as (show, cancelled):
            content = follow_job(
                window,
                limit,
                show,
                cancelled=cancelled,
                patience=_patience(arguments.params),
                reconnect=self._reconnect,
                meanwhile=lambda: self.show_due(task_vars),
            )
        with suppress(AnsibleConnectionFailure):
            window.remove()
        decoder = get_module_decoder("legacy", Direction.MODULE_TO_CONTROLLER)
        result: Result = json.loads(content, cls=decoder)
        if self.must_send_release(result):
            return self._follow(arguments, task_vars, must_stop)
        return {"changed": False, **result}

    def _set_limit(self, seconds: int) -> None:
        # _execute_module reads it from here, after the release was read to be sent along.
        self._task.async_val = seconds

    def _window(self, files: Files) -> JobReader:
        def run(command: str) -> str:
            return str(self._low_level_execute_command(command)["stdout"])

        return JobReader(files, run, self._connection._shell.quote)

    def _reconnect(self) -> None:
        with suppress(AttributeError, AnsibleConnectionFailure):
            self._connection.reset()


def is_recorded(result: Result) -> bool:
    """Whether a task of a run has ended, so that the run's record has its failures."""
    return "durations" in result


def recorded_failure(result: Result) -> Result:
    """The result of a failed task, without what the record of its run has: Ansible prints all of it."""
    return {key: value for key, value in result.items() if key not in RECORDED_KEYS}


def _time_of(migrations: Sequence[type[Migration]], params: Mapping[str, Any]) -> float:
    """Seconds for the migrations of a task, one after the other; rather too many, see deadline."""
    skipped = params.get("skip_migrations") or ()
    names = params.get("names") or [params.get("component") or ALL]
    return sum(
        STEPS * min(float(one.timeout), MAX_MIGRATION_SECONDS)
        for one in migrations
        if one.id() not in skipped and (ALL in names or one.component in names)
    )


def _patience(params: Mapping[str, Any]) -> float:
    """Seconds within which the function ends by itself after a request to stop."""
    return float(params.get("grace") or GRACE) + MARGIN
