# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The carrier of what takes its time: it works in the background, and tells what it is at."""

from __future__ import annotations

import json
import posixpath
import secrets
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from ansible.errors import AnsibleConnectionFailure
from ansible.module_utils.common.json import Direction, get_module_decoder
from ansible_collections.kyma.lifecycle.plugins.module_utils._task.task import Result
from ansible_collections.kyma.lifecycle.plugins.plugin_utils.arguments import Arguments
from ansible_collections.kyma.lifecycle.plugins.plugin_utils.carrier import Carrier, TaskVars
from ansible_collections.kyma.lifecycle.plugins.plugin_utils.job import (
    CommandWindow,
    Files,
    LocalWindow,
    Window,
    follow,
)

GRACE = 60.0
"""Seconds that work in flight gets to end after it was told to."""
MARGIN = 30.0
"""Seconds for starting and for leaving a result."""
DEFAULT_DEADLINE = 4 * 3600.0
"""For what has no option ``timeout``: migrations have a time limit each."""


class BackgroundCarrier(Carrier):
    """Starts the module in the background, as Ansible's own ``async`` does, and follows it to its end.

    With ``async`` and ``poll: 0`` it is left alone, and the answer names the job.
    """

    def deadline(self, params: Mapping[str, Any]) -> float:
        """Seconds in which the function ends by itself, whatever happens.

        What is still at work after that (and some grace) hangs, and async_wrapper kills it: so rather too
        many than too few.
        """
        return float(params.get("timeout") or DEFAULT_DEADLINE)

    def carry(self, arguments: Arguments, task_vars: TaskVars) -> Result:
        """See Carrier."""
        if self._task.async_val and not self._task.poll:
            return self.ship(arguments, task_vars, background=True)
        limit = self._task.async_val or int(self.deadline(arguments.params) + GRACE + MARGIN)
        # With a `poll` of the user's own, Ansible would want to poll what is over by then.
        self._task.async_val = 0
        return self._follow(arguments, task_vars, limit)

    def _follow(self, arguments: Arguments, task_vars: TaskVars, limit: int) -> Result:
        name = f"kyma-{secrets.token_hex(8)}.progress"
        async_dir = self.get_shell_option("async_dir", default="~/.ansible_async")
        self._task.async_val = limit  # _execute_module takes the limit from here
        try:
            job = self.ship(
                arguments, task_vars, background=True, progress_file=posixpath.join(async_dir, name)
            )
        finally:
            self._task.async_val = 0  # so that cleanup() removes what was not handed over
        if "results_file" not in job:
            return job
        folder = posixpath.dirname(job["results_file"])
        window = self._window(Files(job["results_file"], posixpath.join(folder, name)))
        content = follow(window, limit, lambda line: self.show(line, task_vars), reconnect=self._reconnect)
        with suppress(AnsibleConnectionFailure):
            window.remove()
        decoder = get_module_decoder("legacy", Direction.MODULE_TO_CONTROLLER)
        result: Result = json.loads(content, cls=decoder)
        return {"changed": False, **result}

    def _window(self, files: Files) -> Window:
        if self.works_here:
            return LocalWindow(files)

        def run(command: str) -> str:
            return str(self._low_level_execute_command(command)["stdout"])

        return CommandWindow(files, run, self._connection._shell.quote)

    def _reconnect(self) -> None:
        with suppress(AttributeError, AnsibleConnectionFailure):
            self._connection.reset()
