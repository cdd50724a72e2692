# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs kyma.lifecycle.run in Ansible's own process if possible; a run ends with its ansible-playbook.

Where that is not possible, an action that begins a run works in the background, as it may wait for another
run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ansible import constants as C
from ansible.errors import AnsibleError
from ansible.module_utils.parsing.convert_bool import boolean

from ..module_utils._carrier.task import Result
from ..module_utils._release.model import ComponentEntry
from ..module_utils._tasks.run import DEFINITION
from ..plugin_utils._carrier.arguments import Arguments
from ..plugin_utils._carrier.background_carrier import BackgroundCarrier
from ..plugin_utils._carrier.carrier import TaskVars
from ..plugin_utils._carrier.cluster_task import ClusterTask
from ..plugin_utils._carrier.direct_carrier import DirectCarrier
from ..plugin_utils._carrier.exit_messages import EXIT_MESSAGES
from ..plugin_utils._carrier.exit_watcher import EXIT_WATCHER
from ..plugin_utils._carrier.interpreter import has_libraries
from ..plugin_utils._carrier.temporary_files import TEMPORARY_FOLDER_CLEANUP

CUT_OFF = "ansible-playbook has ended in the middle of the run"
LONGEST_WAIT = 10 * 365 * 24 * 3600.0
"""Seconds that stand for any number of them."""


class ActionModule(ClusterTask, DirectCarrier, BackgroundCarrier):
    """The action plugin of the module of the same name."""

    definition = DEFINITION
    in_one_piece = True

    def is_about_deployment(self) -> bool:
        """See ClusterTask."""
        return self._task.args.get("state") in ("started", "noted", "finished")

    def ends_with_playbook(self) -> bool:
        """See ClusterTask."""
        return not boolean(self._task.args.get("outlives_playbook"), strict=False)

    def _work(self, arguments: Arguments, task_vars: TaskVars, must_stop: Callable[[], bool]) -> Result:
        """See DirectCarrier; in one piece with it, so that no other run comes between."""
        params, work = arguments.params, super()._work
        if params["state"] == "started" and not (self.is_local and has_libraries()):
            # It reports which run it waits for, and a person may want to stop it. A module in the foreground
            # can't do either.
            work = self._follow
        result = work(arguments, task_vars, must_stop)
        run = result.get("run")
        if params["state"] == "started" and run and not params["outlives_playbook"]:
            TEMPORARY_FOLDER_CLEANUP.remove_after_exit(Path(C.DEFAULT_LOCAL_TMP))
            EXIT_WATCHER.run_after_exit(lambda: self._end(run, arguments, task_vars), unless=_note(run))
        elif params["state"] == "finished" and result.get("run") and _note(params["run"]).exists():
            _note(params["run"]).write_text("ended")
        return result

    def deadline(self, params: Mapping[str, Any], entries: Sequence[ComponentEntry] = ()) -> float:
        """See BackgroundCarrier: an action that begins a run may wait first."""
        return super().deadline(params, entries) + min(float(params["lease_wait"]), LONGEST_WAIT)

    def _end(self, run: str, arguments: Arguments, task_vars: TaskVars) -> None:
        """End the record of a run that Ansible did not return to; a signal leaves it no time for that."""
        wish = {
            "state": "cancelled",
            "run": run,
            "reason": CUT_OFF,
            "end": True,
            # Elsewhere, and in a module, a task may still work in the background.
            "nobody_at_work": self.is_local and has_libraries(),
            "plan": None,
        }
        params, paths = {**arguments.params, **wish}, {**arguments.paths, **wish}
        # Ansible has removed both at the end of the task, and at its own end if it got that far.
        self._connection._shell.tmpdir = None
        Path(C.DEFAULT_LOCAL_TMP).mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            ending = replace(arguments, params=params, paths=paths)
            result = super()._work(ending, task_vars, lambda: False)
            self.cleanup(force=True)
        except AnsibleError as error:
            result = {"failed": True, "msg": f"the run {run} is cut off, and its record stays open: {error}"}
        if result.get("changed") or result.get("failed"):
            EXIT_MESSAGES.send_line(f"[{task_vars.get('inventory_hostname')}] {result.get('msg')}")


def _note(run: str) -> Path:
    """Records that a run which this ansible-playbook has begun has ended."""
    return Path(C.DEFAULT_LOCAL_TMP) / f"kyma-run-{run}"
