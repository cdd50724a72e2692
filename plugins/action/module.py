# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs kyma.lifecycle.module in the background, with the manifests that it asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..module_utils._carrier.task import Result
from ..module_utils._release.model import ComponentEntry
from ..module_utils._runs.cluster_state import HELD
from ..module_utils._tasks.module import DEFINITION
from ..plugin_utils._carrier.arguments import Arguments
from ..plugin_utils._carrier.background_carrier import DEFAULT_DEADLINE, BackgroundCarrier
from ..plugin_utils._carrier.carrier import TaskVars
from ..plugin_utils._carrier.cluster_task import LateFailure


class ActionModule(LateFailure, BackgroundCarrier):
    """The action plugin of the module of the same name."""

    definition = DEFINITION
    checks_variables = True
    # A cluster that stops answering after its deployment has failed.
    late_states = (HELD,)

    def carry(self, arguments: Arguments, task_vars: TaskVars) -> Result:
        """See Carrier. On another host, only the module itself finds out which manifests it needs."""
        result = super().carry(arguments, task_vars)
        while missing := set(result.get("missing_manifests") or ()) - set(self.manifests):
            self.manifests = [*self.manifests, *sorted(missing)]
            result = super().carry(arguments, task_vars)
        result.pop("missing_manifests", None)
        return result

    def deadline(self, params: Mapping[str, Any], entries: Sequence[ComponentEntry] = ()) -> float:
        """See BackgroundCarrier: the modules run one after the other, each with its full time."""
        count = len(params.get("modules") or ()) + 1
        return max(DEFAULT_DEADLINE, 4 * count * super().deadline(params, entries))
