# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Carries kyma.lifecycle.plan: in Ansible's own process if it can. Plans are kept on the controller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.tasks.plan import DEFINITION, how_of
from ansible_collections.kyma.lifecycle.plugins.module_utils._task.call import failure
from ansible_collections.kyma.lifecycle.plugins.module_utils._task.task import Result
from ansible_collections.kyma.lifecycle.plugins.plugin_utils.arguments import Arguments, validate
from ansible_collections.kyma.lifecycle.plugins.plugin_utils.carrier import TaskVars
from ansible_collections.kyma.lifecycle.plugins.plugin_utils.direct import DirectCarrier

HOP_OPTIONS = ("release", "release_checksum", "release_version", "profile")
"""The options that the tasks of one hop need to find its release."""


class ActionModule(DirectCarrier):
    """The action plugin of the module of the same name."""

    definition = DEFINITION

    def carry(self, arguments: Arguments, task_vars: TaskVars) -> Result:
        """See Carrier."""
        kept: Mapping[str, Any] = {}
        if arguments.params["plan_digest"] and not arguments.params["plan"]:
            return failure("plan_digest says which plan was approved, and no plan is given: set plan too")
        if self._task.async_val and (arguments.params["plan"] or arguments.params["plan_out"]):
            return failure("plan and plan_out need the answer of the task, so it can't be an async one")
        if arguments.params["plan"]:
            from ansible_collections.kyma.lifecycle.plugins.plugin_utils.kept_plan import read_plan

            path = self._places(task_vars).find(arguments.params["plan"], "plan")
            kept = read_plan(Path(path), arguments.params["plan_digest"] or "")
            asked = {name: value for name, value in kept["asked"].items() if not _given(arguments, name)}
            arguments = arguments.with_paths({**arguments.paths, **asked})
            # Before it is planned: what is missing would only show as what comes of that.
            self._refuse_other_options(kept, arguments.params)
        result = super().carry(arguments, task_vars)
        if "plan" not in result:
            return result
        plan = {**result["plan"], "hops": _completed(result["plan"]["hops"], arguments.params)}
        result = {**result, "plan": plan}
        return self._kept(result, arguments.params, kept, task_vars) if "saw" in result else result

    def _written(self) -> Mapping[str, Any]:
        """The options as the user wrote them: files that are encrypted lie elsewhere by now."""
        return validate(self.definition, self._task.args, self._task.action).params

    def _refuse_other_options(self, kept: Mapping[str, Any], params: Mapping[str, Any]) -> None:
        from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.binding import (
            differences,
            hashes_of,
        )
        from ansible_collections.kyma.lifecycle.plugins.plugin_utils.kept_plan import (
            BadPlan,
            names_of,
            not_given_again,
        )

        found = not_given_again(kept["again"], names_of(self._written()))
        if not found:
            found = differences({"options": kept["saw"]["options"]}, {"options": hashes_of(how_of(params))})
        if found:
            raise BadPlan(_no_longer(found))

    def _kept(
        self, result: Result, params: Mapping[str, Any], kept: Mapping[str, Any], task_vars: TaskVars
    ) -> Result:
        """Keep a plan that was made, or see whether one that was kept still holds."""
        from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.binding import differences
        from ansible_collections.kyma.lifecycle.plugins.plugin_utils.kept_plan import (
            code_digest,
            names_of,
            write_plan,
        )

        code = code_digest(self.materials(params, task_vars).migrations_archive())
        result["saw"] = {**result["saw"], "migration code": code}
        # What comes after the first hop is provisional, so nobody can have approved it.
        result["plan"]["hops"] = result["plan"]["hops"][:1]
        first = [_ONLY.format(result["plan"]["version"])] if result["plan"]["later"] else []
        if kept:
            found = differences(kept["saw"], result.pop("saw"))
            if found:
                return failure(_no_longer(found))
            return {**result, "plan_digest": kept["digest"], "summary": [*result["summary"], *first]}
        path = Path(params["plan_out"]).expanduser().absolute()
        digest = write_plan(path, params, result, names_of(self._written()))
        del result["saw"]
        kept_as = [*first, f"kept in {path}", f"digest  {digest}"]
        return {**result, "plan_digest": digest, "summary": [*result["summary"], *kept_as]}


_ONLY = "only the hop to {} is kept and carried out: plan the next one when it is there"


def _no_longer(found: Sequence[str]) -> str:
    listed = "".join(f"\n- {one}" for one in found)
    return (
        f"the plan that was kept no longer holds, so nothing was written; plan again, or mend this:{listed}"
    )


def _given(arguments: Arguments, name: str) -> bool:
    default = DEFINITION.argument_spec[name].get("default")
    return arguments.params.get(name) not in (None, "", default)


def _completed(hops: list[dict[str, str]], params: Mapping[str, Any]) -> list[dict[str, str]]:
    """Each hop with the options that its tasks need: where the plan says nothing, what was asked for.

    Only the controller knows them: they don't go to another host with a release that is rendered already.
    """
    asked = {name: params[name] or "" for name in HOP_OPTIONS}
    return [{**asked, **hop} for hop in hops or [{}]]
