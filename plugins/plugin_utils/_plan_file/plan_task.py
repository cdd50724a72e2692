# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task ``plan`` with a file: stores a plan, or checks whether a stored plan still holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from ...module_utils._carrier.task import Result
from ...module_utils._deploy.plan.binding import (
    deviations,
    differences_of_later_hop,
    hashes_of,
    input_differences,
)
from ...module_utils._redaction import without_logins
from ...module_utils._tasks.plan import DEFINITION, deployment_options
from .._carrier.arguments import Arguments, validate
from .._carrier.paths import SearchPath, resolve_paths
from .plan_file import (
    RUN_OPTIONS,
    BadPlan,
    archive_code_digest,
    given_options,
    names_of,
    option_mismatches,
    options_from_plan,
    read_plan,
    version_of_hop,
    write_plan,
)

Planned = Callable[[Arguments], Result]


class PlanFileTask:
    """One task that stores a plan, or applies a stored one.

    Args:
        args: the task's options as the user wrote them.
        action: its name.
        places: the places to search for files.
        decrypted: from the path of a file that may be encrypted by ansible-vault to one that isn't.
        code: returns the packed migrations, from the options with their folders.
    """

    def __init__(
        self,
        args: Mapping[str, Any],
        action: str,
        places: SearchPath,
        *,
        decrypted: Callable[[str], str],
        code: Callable[[Mapping[str, Any]], bytes],
    ) -> None:
        self._args = args
        self._action = action
        self._places = places
        self._decrypted = decrypted
        self._code = code

    def carry(self, arguments: Arguments, planned: Planned) -> Result:
        """Plan, and store the plan or compare it with the stored one.

        Args:
            arguments: of the task.
            planned: creates the plan.

        Raises:
            BadPlan: the file is no plan, can't be written, or its plan no longer holds.
            NoSuchPath: a file that the plan was created with is gone.
        """
        if arguments.params["plan"]:
            return self._carry_out(arguments, planned)
        result = planned(arguments)
        return self._store(result, arguments.params) if "plan_inputs" in result else result

    def _store(self, result: Result, params: Mapping[str, Any]) -> Result:
        inputs = self._inputs(result, params)
        path = Path(params["plan_out"]).expanduser().absolute()
        # With paths that are right from any folder; for an encrypted file, the path of the encrypted one.
        paths = resolve_paths(self._written, self._places, decrypted=str, local_connection=False)
        options = without_logins(given_options({**self._written, **paths}, DEFINITION.argument_spec))
        digest = write_plan(path, options, {**result, "plan_inputs": inputs}, names_of(self._written))
        lines = [*_provisional(result["plan"]), f"written to {path}", f"digest  {digest}"]
        return _answer(result, digest, lines)

    def _carry_out(self, arguments: Arguments, planned: Planned) -> Result:
        hop = arguments.params["plan_hop"]
        file = Path(self._places.find(arguments.params["plan"], "plan"))
        stored = read_plan(file, arguments.params["plan_digest"] or "")
        version = version_of_hop(stored, hop)
        options = options_from_plan(stored, given_options(arguments.params, DEFINITION.argument_spec), hop)
        paths = resolve_paths(options, self._places, decrypted=self._decrypted, local_connection=False)
        arguments = arguments.with_paths({**arguments.paths, **options, **paths})
        # Before the plan is created: otherwise only the effects of a missing file would show.
        self._refuse_other_options(stored, arguments.params)
        result = planned(arguments)
        if "plan_inputs" not in result:
            return result
        inputs = self._inputs(result, arguments.params)
        if hop > 1:
            _refuse(differences_of_later_hop(stored["plan_inputs"], inputs, version))
            lines = [f"not as predicted  {one}" for one in deviations(stored["plan_inputs"], result["plan"])]
        else:
            _refuse(input_differences(stored["plan_inputs"], inputs))
            lines = _provisional(result["plan"])
        options = {name: value for name, value in options.items() if name in RUN_OPTIONS}
        plan = {**result["plan"], "options": options}
        return _answer({**result, "plan": plan}, stored["digest"], lines)

    def _refuse_other_options(self, stored: Mapping[str, Any], params: Mapping[str, Any]) -> None:
        differences = option_mismatches(stored["names"], names_of(self._written))
        if not differences:
            differences = input_differences(
                {"options": stored["plan_inputs"]["options"]},
                {"options": hashes_of(deployment_options(params))},
            )
        _refuse(differences)

    def _inputs(self, result: Result, params: Mapping[str, Any]) -> dict[str, Any]:
        return {**result["plan_inputs"], "migration code": archive_code_digest(self._code(params))}

    @cached_property
    def _written(self) -> dict[str, Any]:
        """The options as the user wrote them, because encrypted files have other paths now."""
        return validate(DEFINITION, self._args, self._action).params


def _answer(result: Result, digest: str, lines: Sequence[str]) -> Result:
    answer = {name: value for name, value in result.items() if name != "plan_inputs"}
    return {**answer, "plan_digest": digest, "summary": [*result["summary"], *lines]}


def _provisional(plan: Mapping[str, Any]) -> list[str]:
    return [_LATER.format(one["version"]) for one in plan["later"]]


_LATER = (
    "the hop to {} is bound to its release, values, options and migrations; its changes are planned again "
    "when it starts"
)


def _refuse(differences: Sequence[str]) -> None:
    if differences:
        listed = "".join(f"\n- {one}" for one in differences)
        raise BadPlan(f"the stored plan is no longer valid; plan again, or correct this:{listed}")
