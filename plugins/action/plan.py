# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Carries kyma.lifecycle.plan: in Ansible's own process if it can."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.tasks.plan import DEFINITION
from ansible_collections.kyma.lifecycle.plugins.module_utils._task.task import Result
from ansible_collections.kyma.lifecycle.plugins.plugin_utils.arguments import Arguments
from ansible_collections.kyma.lifecycle.plugins.plugin_utils.carrier import TaskVars
from ansible_collections.kyma.lifecycle.plugins.plugin_utils.direct import DirectCarrier

HOP_OPTIONS = ("release", "release_checksum", "release_version", "profile")
"""The options that the tasks of one hop need to find its release."""


class ActionModule(DirectCarrier):
    """The action plugin of the module of the same name."""

    definition = DEFINITION

    def carry(self, arguments: Arguments, task_vars: TaskVars) -> Result:
        """See Carrier."""
        result = super().carry(arguments, task_vars)
        plan = result.get("plan")
        if plan:
            result = {**result, "plan": {**plan, "hops": _completed(plan["hops"], arguments.params)}}
        return result


def _completed(hops: list[dict[str, str]], params: Mapping[str, Any]) -> list[dict[str, str]]:
    """Each hop with the options that its tasks need: where the plan says nothing, what was asked for.

    Only the controller knows them: they don't go to another host with a release that is rendered already.
    """
    asked = {name: params[name] or "" for name in HOP_OPTIONS}
    return [{**asked, **hop} for hop in hops or [{}]]
