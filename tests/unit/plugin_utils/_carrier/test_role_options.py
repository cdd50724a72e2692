# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which options a task in a role of this collection takes from the variables of the role."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.parsing.dataloader import DataLoader
from ansible.playbook.role import Role
from ansible.playbook.task import Task
from ansible.template import Templar, trust_as_template
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.role_options import (
    passed_variables,
    role_options,
)

from tests.cluster.paths import ROOT

SPECS = """\
argument_specs:
  main:
    short_description: Deploys.
    options:
      # Usual options.
      kyma_workers: &workers
        type: int
        default: 4
      kyma_context:
        type: str
        default: ''
      kyma_paths:
        type: list
        default: []
      kyma_timeout:
        type: float
      kyma_component_timeout:
        type: float
  delete:
    short_description: Deletes.
    options:
      kyma_workers: *workers
"""
OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "workers": {"type": "int", "default": 4},
    "context": {"type": "str"},
    "paths": {"type": "list", "default": []},
    "timeout": {"type": "float", "default": 600},
    "deadline": {"type": "float", "default": 0},
    "release": {"type": "str"},
}


@pytest.fixture
def role(tmp_path: Path) -> Path:
    """The folder of a role."""
    folder = tmp_path / "roles" / "kyma"
    for name in ("meta", "tasks"):
        (folder / name).mkdir(parents=True)
    (folder / "meta" / "argument_specs.yml").write_text(SPECS)
    return folder


@pytest.fixture
def options(role: Path) -> Callable[..., dict[str, Any]]:
    """The options that a task of the role gets."""

    def options(
        variables: Mapping[str, Any], file: str = "plan.yml", of: str = "kyma.lifecycle.kyma", **written: Any
    ) -> dict[str, Any]:
        path = role / "tasks" / file
        path.write_text(yaml.safe_dump([{"name": "Plan", "kyma.lifecycle.plan": written or None}]))
        [content] = DataLoader().load_from_file(str(path))
        task = Task.load(content)
        # As from module_defaults, which roles don't depend on.
        task.args = {"workers": 9, **task.args}
        if of:
            task._role = Role()
            task._role._role_name = of.rpartition(".")[2]
            task._role._role_collection = of.rpartition(".")[0]
        templates = {
            name: trust_as_template(value) if isinstance(value, str) else value
            for name, value in variables.items()
        }
        templar = Templar(DataLoader(), variables=templates)
        return role_options(task, OPTIONS, templates, templar.template)

    return options


def test_documented_variables_reach_the_options_of_the_same_names(options: Callable[..., Any]) -> None:
    variables = {"kyma_workers": 2, "kyma_context": "{{ name }}", "name": "staging", "kyma_paths": ["a"]}
    assert options(variables) == {"workers": 2, "context": "staging", "paths": ["a"]}


def test_an_internal_variable_of_a_documented_one_has_precedence(options: Callable[..., Any]) -> None:
    variables = {"kyma_context": "staging", "__kyma_context": "{{ kyma_context }}-2", "__kyma_release": "2.9"}
    assert options(variables) == {"context": "staging-2"}
    assert options(variables, context="prod") == {}


def test_two_timeouts_have_names_of_their_own(options: Callable[..., Any]) -> None:
    assert options({"kyma_timeout": 90, "kyma_component_timeout": 60}) == {"deadline": 90, "timeout": 60}


def test_an_undocumented_variable_reaches_no_option(options: Callable[..., Any]) -> None:
    assert options({"kyma_release": "2.11"}) == {}


def test_the_entry_point_decides_which_variables_count(options: Callable[..., Any]) -> None:
    variables = {"kyma_workers": 2, "kyma_context": "staging"}
    assert options(variables, file="delete.yml") == {"workers": 2}
    assert options(variables, file="hop.yml") == {"workers": 2, "context": "staging"}


def test_an_option_of_the_task_has_precedence(options: Callable[..., Any]) -> None:
    assert options({"kyma_workers": 2, "kyma_context": "staging"}, workers=8) == {"context": "staging"}


def test_an_omitted_option_stays_omitted(options: Callable[..., Any]) -> None:
    assert options({"kyma_workers": 2}, workers="{{ omit }}") == {}


def test_an_omitted_variable_reaches_no_option(options: Callable[..., Any]) -> None:
    assert options({"kyma_workers": "{{ omit }}", "kyma_context": "staging"}) == {"context": "staging"}


def test_an_empty_value_counts_only_against_a_default(options: Callable[..., Any]) -> None:
    for empty in ("", None):
        variables = {"kyma_context": empty, "kyma_paths": [], "kyma_timeout": 0}
        assert options(variables) == {"paths": [], "deadline": 0}


@pytest.mark.parametrize("of", ["", "kyma", "example.shop.kyma"])
def test_a_task_elsewhere_gets_no_variables(options: Callable[..., Any], of: str) -> None:
    assert options({"kyma_workers": 2}, of=of) == {}


@pytest.mark.parametrize("path", sorted((ROOT / "roles").glob("*/meta/argument_specs.yml")), ids=str)
def test_every_documented_variable_is_found_in_the_text(path: Path) -> None:
    role = path.parents[1]
    for entry, spec in yaml.safe_load(path.read_text())["argument_specs"].items():
        documented = {name for name in spec["options"] if name.startswith(f"{role.name}_")}
        options = {name.removeprefix(f"{role.name}_") for name in documented}
        passed = passed_variables(role / "tasks" / f"{entry}.yml", options - {"timeout", "deadline"})
        others = {f"{role.name}_timeout", f"{role.name}_deadline"}
        assert set(passed.values()) == documented - others
