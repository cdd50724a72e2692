# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Base of action plugins for quick work, reads and single records, in Ansible's own process if possible."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import ClassVar

from ...module_utils._carrier.forked_worker import run_in_forked_worker
from ...module_utils._carrier.progress_file import ProgressLine
from ...module_utils._carrier.task import Result
from ...module_utils._progress import Progress, Step
from .arguments import Arguments
from .carrier import Carrier, TaskVars
from .interpreter import has_libraries
from .signals import run_with_stop_signals


class DirectCarrier(Carrier):
    """Calls the function in Ansible's worker, or in a fork of it, which saves the imports and the packing.

    It ships the module instead in three cases: the connection leads elsewhere, Ansible's own Python lacks the
    libraries, or the user wants the task in the background. Both return the same.
    """

    in_one_piece: ClassVar[bool] = False
    """Whether it writes what must not be left half done: it comes to its end, whoever interrupts Ansible."""

    def carry(self, arguments: Arguments, task_vars: TaskVars) -> Result:
        """See Carrier."""
        if self._task.async_val:
            return self.ship(arguments, task_vars, background=True)
        if self.in_one_piece:
            return run_with_stop_signals(lambda must_stop: self._work(arguments, task_vars, must_stop))
        return self._work(arguments, task_vars, lambda: False)

    def _work(self, arguments: Arguments, task_vars: TaskVars, must_stop: Callable[[], bool]) -> Result:
        if not self.is_local or not has_libraries():
            return self.ship(arguments, task_vars, background=False)

        def progress(subject: str, state: str, detail: str = "", step: Step | None = None) -> None:
            self.show(ProgressLine(time.time(), subject, state, detail, step), task_vars)

        def work(progress: Progress, must_stop: Callable[[], bool]) -> Result:
            return self.call(arguments, task_vars, progress, must_stop)

        if not self.definition.needs_migrations:
            return work(progress, must_stop)
        # Migrations are code of others. One that ends its process must not end Ansible's worker, because
        # Ansible would wait for it for ever.
        return run_in_forked_worker(
            work,
            show=lambda line: self.show(line, task_vars),
            cancelled=must_stop,
            meanwhile=lambda: self.show_due(task_vars),
            outlives_parent=self.in_one_piece,
        )
