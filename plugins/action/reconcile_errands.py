# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs kyma.lifecycle.reconcile_errands in the background, because an engine has no end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible.module_utils.parsing.convert_bool import boolean

from ..module_utils._carrier.task import Result
from ..module_utils._release.model import ComponentEntry
from ..module_utils._tasks.reconcile_errands import DEFINITION
from ..plugin_utils._carrier.background_carrier import BackgroundCarrier
from ..plugin_utils._carrier.carrier import TaskVars

FOREVER = 10 * 365 * 24 * 3600.0
"""Seconds after which nothing works any more that was started today; a timer's seconds have an end."""


class ActionModule(BackgroundCarrier):
    """The action plugin of the module of the same name."""

    definition = DEFINITION

    def run(self, tmp: str | None = None, task_vars: TaskVars | None = None) -> Result:
        """See ActionBase. An engine writes a log, in which each errand has its own line."""
        self.is_log = boolean(self._task.args.get("watch"), strict=False)
        return super().run(tmp, task_vars)

    def deadline(self, params: Mapping[str, Any], entries: Sequence[ComponentEntry] = ()) -> float:
        """See BackgroundCarrier: an engine ends only when its user ends it."""
        if not params["watch"]:
            return super().deadline(params, entries)
        return float(params["watch_seconds"] or FOREVER)
