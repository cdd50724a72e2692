# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs run_info, and each module that meta/runtime.yml leads here, in Ansible's own process if possible."""

from __future__ import annotations

from importlib import import_module

from ..module_utils import _tasks
from ..module_utils._carrier.task import Result
from ..plugin_utils._carrier.carrier import TaskVars
from ..plugin_utils._carrier.direct_carrier import DirectCarrier


class ActionModule(DirectCarrier):
    """The action plugin of several modules: the definition is that of the task's module."""

    def run(self, tmp: str | None = None, task_vars: TaskVars | None = None) -> Result:
        """See ActionBase."""
        module = self._task.resolved_action.rpartition(".")[2]
        self.definition = import_module(f"{_tasks.__name__}.{module}").DEFINITION
        return super().run(tmp, task_vars)
