# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs kyma.lifecycle.stored_job in the background, because deletions take time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..module_utils._release.model import ComponentEntry
from ..module_utils._tasks.stored_job import DEFINITION
from ..plugin_utils._carrier.background_carrier import DEFAULT_DEADLINE, BackgroundCarrier


class ActionModule(BackgroundCarrier):
    """The action plugin of the module of the same name."""

    definition = DEFINITION
    checks_variables = True

    def deadline(self, params: Mapping[str, Any], entries: Sequence[ComponentEntry] = ()) -> float:
        """See BackgroundCarrier: the timeout of a job is not that of the task.

        The task may wait for each job, and after that for the runs.
        """
        del entries
        waits = len(params["jobs"] or ()) + 1 + params["follow"]
        return float(DEFAULT_DEADLINE + waits * params["wait_timeout"])
