# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options that a task in a role of this collection takes from the variables of the role.

``meta/argument_specs.yml`` is the one list of them: a variable that the entry point of a task documents
reaches the option of that name. So the task itself only has the options with another source. An internal
variable has precedence, such as ``__kyma_release`` over ``kyma_release``: Ansible evaluates what a task names
before its action plugin can report an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from ansible.playbook.task import Task

OWN_ROLES = "kyma.lifecycle."
_ENTRY, _VARIABLE = re.compile(r"(?m)^  (\w+):$"), re.compile(r"(?m)^      (\w+):")
"""In an argument spec. Parsing YAML would cost each task more than its other options do."""
ROLES: Mapping[str, str] = {
    "errand": "kyma_errand",
    "reconcile_errands": "kyma_errand",
    "module": "kyma_modules",
    "stored_job": "kyma_job_store",
}
"""By module, the role whose variables its options are. Those of other modules are variables of ``kyma``."""
_OTHER_NAMES: Mapping[tuple[str, str], str] = {
    ("kyma", "timeout"): "kyma_component_timeout",
    ("kyma", "deadline"): "kyma_timeout",
}
"""The variables whose names aren't those of their role and option."""
_DELEGATED = "ansible_delegated_vars"


def is_in_own_role(task: Task) -> bool:
    """Whether a task is in a role of this collection."""
    return task._role is not None and task._role.get_name().startswith(OWN_ROLES)


def variable_of(option: str, role: str) -> str:
    """The variable of a role that has the value of an option."""
    return _OTHER_NAMES.get((role, option), f"{role}_{option}")


def role_options(
    task: Task,
    spec: Mapping[str, Mapping[str, Any]],
    variables: Mapping[str, Any],
    template: Callable[[Any], Any],
) -> dict[str, Any]:
    """The options of a task whose values are variables of its role.

    They have precedence over ``module_defaults``. An empty value of an option without a default is left out.

    Args:
        task: in a role of this collection or elsewhere.
        spec: of all its options.
        variables: Ansible's variables for the task.
        template: evaluates the value of a variable.
    """
    if not is_in_own_role(task):
        return {}
    file = Path(task.get_path().rpartition(":")[0])
    documented = passed_variables(file, spec.keys() - (task.get_ds()[task.action] or {}).keys())
    internal = {option: f"__{name}" for option, name in documented.items() if f"__{name}" in variables}
    names = documented | internal
    # As one value, from which the template engine drops what is omitted.
    values = template({option: variables[name] for option, name in names.items() if name in variables})
    return {
        option: value
        for option, value in values.items()
        if value not in (None, "", [], {}) or "default" in spec[option]
    }


def passed_variables(file: Path, options: Collection[str]) -> dict[str, str]:
    """The variables of a role that options take their values from, by option.

    Args:
        file: with the task. Its entry point has its name, or is ``main``.
        options: that the task does not name.
    """
    role = file.parents[1]
    parts = _ENTRY.split((role / "meta" / "argument_specs.yml").read_text("utf-8"))[1:]
    entries = dict(zip(parts[::2], parts[1::2], strict=True))
    known = set(_VARIABLE.findall(entries.get(file.stem, entries["main"])))
    variables = {option: variable_of(option, role.name) for option in options}
    return {option: name for option, name in variables.items() if name in known}


def delegate_variables(task_vars: Mapping[str, Any], delegate: str) -> dict[str, Any]:
    """The variables that a task would have if that host were its own.

    Ansible gives a delegated task the connection of that host, and all other variables of the task's host.

    Args:
        task_vars: Ansible's variables for the task.
        delegate: the host that the task is delegated to.
    """
    delegated = task_vars[_DELEGATED]
    return {**delegated[delegate], _DELEGATED: delegated, "inventory_hostname": delegate}
