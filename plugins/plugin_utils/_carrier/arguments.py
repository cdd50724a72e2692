# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of a task, validated on the controller as the module validates them on its host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.module_utils.errors import UnsupportedError

from ...module_utils._carrier.options import full_argument_spec, remember_secrets, scalar_texts
from ...module_utils._carrier.task import Result, TaskDefinition
from .hidden_secrets import hide_secrets
from .mistyped_options import number_problems, version_problem


@dataclass(frozen=True)
class Arguments:
    """The validated options of a task, or their problem.

    Attributes:
        params: the validated options as plain texts, dicts and lists, with defaults.
        problem: their first error, in the words of AnsibleModule; empty if there is none.
        bad_numbers: the errors of numbers among them, by option; these options have their defaults instead.
        secrets: values that no result may show.
        warnings: about unusual options.
        paths: the options that name a file on the controller, with the found path.
    """

    params: dict[str, Any]
    problem: str = ""
    bad_numbers: Mapping[str, str] = field(default_factory=dict)
    secrets: frozenset[str] = field(default=frozenset(), repr=False)
    warnings: tuple[str, ...] = ()
    paths: Mapping[str, Any] = field(default_factory=dict)

    def with_paths(self, paths: Mapping[str, Any]) -> Arguments:
        """The same options, with the found paths in place of the written ones."""
        return replace(self, params={**self.params, **paths}, paths=paths)

    def complete(self, result: Result) -> Result:
        """The result of a function as AnsibleModule would return it: with ``changed``, without secrets."""
        whole = {"changed": False, **result}
        if self.warnings:
            whole["warnings"] = [*self.warnings, *whole.get("warnings", ())]
        return dict(hide_secrets(whole, self.secrets)) if self.secrets else whole


def validate(definition: TaskDefinition, args: Mapping[str, Any], name: str) -> Arguments:
    """Validate a task's options.

    Args:
        definition: has the options that exist.
        args: the options as the user wrote them, templated.
        name: the module's name, for messages.
    """
    bad_numbers = number_problems(args, definition.argument_spec, name)
    outcome = ArgumentSpecValidator(
        full_argument_spec(definition.argument_spec),
        mutually_exclusive=definition.mutually_exclusive,
        required_one_of=definition.required_one_of,
        required_if=definition.required_if,
    ).validate({option: value for option, value in args.items() if option not in bad_numbers})
    problem = ""
    if outcome.error_messages:
        problem = outcome.errors.msg
        if isinstance(outcome.errors[0], UnsupportedError):
            problem = f"Unsupported parameters for ({name}) module: {problem}"
    problem = problem or version_problem(args)
    inline = remember_secrets(definition, outcome.validated_parameters)
    secrets = frozenset(outcome._no_log_values | inline)
    return Arguments(
        params=_plain(outcome.validated_parameters),
        problem=str(hide_secrets(problem, secrets)) if problem else "",
        bad_numbers={option: str(hide_secrets(one, secrets)) for option, one in bad_numbers.items()},
        secrets=secrets - scalar_texts(outcome.validated_parameters, definition.secret_options),
        warnings=tuple(
            f"Both option {warning['option']} and its alias {warning['alias']} are set."
            for warning in outcome._warnings
        ),
    )


def _plain(value: Any) -> Any:
    """A value with plain texts, dicts and lists, at any depth.

    In Ansible's own process a text of a playbook has a subclass of ``str``, which PyYAML can't write.
    """
    if isinstance(value, str):
        # A subclass may answer str() with itself.
        return "".join([value])
    if isinstance(value, Mapping):
        return {_plain(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
