# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What users say to a role reaches its modules: every option, as what it means, and documented."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar, trust_as_template
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.options import RELEASE_SPEC
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.module import MODULE_SPEC, ONE_MODULE
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.shared.requested_jobs import FIELDS_SPEC
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.shared.shared_options import (
    MIGRATING_SPEC,
    POLICY_SPEC,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.role_options import passed_variables

from tests.cluster.paths import ROOT

ROLES = sorted((ROOT / "roles").iterdir())
WITHOUT_DEFAULT = {
    "kyma": {"kyma_modules_timeout"},
    "kyma_modules": {"kyma_modules", "kyma_cluster_labels"},
}
"""Variables that mean something else where they are not set."""
TASKS = "ansible_collections.kyma.lifecycle.plugins.module_utils._tasks"


def read(*path: str) -> Any:
    return yaml.safe_load(ROOT.joinpath(*path).read_text())


def known(module: str) -> set[str]:
    definition = import_module(f"{TASKS}.{module}").DEFINITION
    return {"kubeconfig", "context", *definition.argument_spec}


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)
def test_each_variable_is_documented_and_none_else(role: Path) -> None:
    entries = read("roles", role.name, "meta", "argument_specs.yml")["argument_specs"].values()
    documented = {name for entry in entries for name in entry["options"]}
    defaults = read("roles", role.name, "defaults", "main.yml")
    assert documented == defaults.keys() | WITHOUT_DEFAULT.get(role.name, set())
    for entry in entries:
        documented_defaults = {
            name: one["default"] for name, one in entry["options"].items() if "default" in one
        }
        assert documented_defaults == {name: defaults[name] for name in documented_defaults}


@pytest.mark.parametrize(
    ("role", "tasks", "module", "unused"),
    [
        ("kyma", "plan", "plan", set()),
        ("kyma", "migrations", "migration_info", {"component", "phase"}),
        # What counts for components that a release has, and for migrations that run.
        (
            "kyma",
            "delete",
            "component",
            {*RELEASE_SPEC, *POLICY_SPEC, "prune_allow", "change_profile", "skip_migrations", "run"},
        ),
        (
            "kyma",
            "undo",
            "migration",
            {*RELEASE_SPEC, "component", "phase", "skip_migrations"}
            - {"release", "release_checksum", "release_version", "profile"},
        ),
        ("kyma_component", "migrate", "migration", {"ids", "state", "force", "service_account"}),
        # What only counts for state=absent, and for pruning.
        (
            "kyma_component",
            "main",
            "component",
            {
                "state",
                "force",
                "undo_migrations",
                "deadline",
                "service_account",
                "prune_allow",
                "modules_timeout",
            },
        ),
        (
            "kyma_component",
            "prune",
            "component",
            {"change_profile", "force", "undo_migrations", "deadline", "service_account", "modules_timeout"}
            | (MIGRATING_SPEC.keys() | POLICY_SPEC.keys()),
        ),
        # What is said of one module, where there is no list.
        ("kyma_modules", "main", "module", set(ONE_MODULE)),
        ("kyma_errand", "main", "errand", set()),
        ("kyma_job_store", "import", "stored_job_import", set()),
        # What is said of one job, where there is no list.
        ("kyma_job_store", "load", "stored_job", {"name", "type", *FIELDS_SPEC}),
        ("kyma_job_store", "switch", "job_store", set()),
    ],
)
def test_each_option_of_the_module_is_passed_on(role: str, tasks: str, module: str, unused: set[str]) -> None:
    (task,) = (
        one for one in read("roles", role, "tasks", f"{tasks}.yml") if f"kyma.lifecycle.{module}" in one
    )
    named = (task[f"kyma.lifecycle.{module}"] or {}).keys()
    taken = passed_variables(ROOT / "roles" / role / "tasks" / f"{tasks}.yml", known(module) - named)
    assert named | taken.keys() == known(module) - unused


CONNECTION = {"kubeconfig", "context"}
RUN = {"interactive_managers", "require_healthy"}
LEASE = {"deadline", "lease_wait", "lease_seconds", "service_account"}


@pytest.mark.parametrize(
    ("role", "tasks", "taken"),
    [
        ("kyma", "run", [CONNECTION | LEASE | RUN]),
        ("kyma", "stages", [CONNECTION | LEASE | {"require_healthy"}]),
        ("kyma", "note", [CONNECTION | LEASE | RUN]),
        ("kyma", "report", [CONNECTION, CONNECTION]),
        ("kyma_job_store", "install", [CONNECTION]),
    ],
)
def test_a_task_takes_only_variables_that_it_is_meant_to_have(
    role: str, tasks: str, taken: list[set[str]]
) -> None:
    file = ROOT / "roles" / role / "tasks" / f"{tasks}.yml"
    passed = []
    for task in read("roles", role, "tasks", f"{tasks}.yml"):
        for step in (task, *task.get("block", ()), *task.get("always", ())):
            for name, named in step.items():
                module = name.removeprefix("kyma.lifecycle.")
                if module != name and module != "report":
                    missing = known(module) - (named or {}).keys()
                    passed.append(set(passed_variables(file, missing)))
    assert passed == taken


@pytest.mark.parametrize("component", ["logging", "certificates"])
@pytest.mark.parametrize(
    ("given", "migrates"), [("false", False), ("true", True), (False, False), (True, True)]
)
def test_only_to_migrate_means_the_same_from_the_command_line(
    component: str, given: object, migrates: bool
) -> None:
    templar = Templar(DataLoader(), variables={f"kyma_{component}_migrate_only": given})
    deploys, only_migrates = read("roles", f"kyma_{component}", "tasks", "main.yml")
    assert "tasks_from" not in deploys["ansible.builtin.include_role"]
    assert only_migrates["ansible.builtin.include_role"]["tasks_from"] == "migrate"
    met = [templar.evaluate_conditional(trust_as_template(task["when"])) for task in (deploys, only_migrates)]
    assert met == [not migrates, migrates]


def test_no_variable_that_users_give_takes_the_place_of_the_run_that_has_begun() -> None:
    begins = read("roles", "kyma", "tasks", "run.yml")[0]
    entries = read("roles", "kyma", "meta", "argument_specs.yml")["argument_specs"].values()
    assert begins["register"] not in {name for entry in entries for name in entry["options"]}


def test_an_entry_of_the_list_of_modules_is_documented_as_the_module_takes_it() -> None:
    entries = read("roles", "kyma_modules", "meta", "argument_specs.yml")["argument_specs"]
    for entry in (entries["main"], entries["reset"]):
        options = entry["options"]["kyma_modules"]["options"]
        documented = {
            name: {key: one[key] for key in ("type", "elements", "choices", "default") if key in one}
            for name, one in options.items()
            if name not in ("name", "channel")
        }
        assert documented == MODULE_SPEC


def test_no_list_that_users_give_takes_the_place_of_what_is_deleted_or_reset() -> None:
    (deletes,) = read("roles", "kyma_modules", "tasks", "delete.yml")
    options = deletes["kyma.lifecycle.module"]
    assert (options["name"], options["state"], "modules" in options) == ("*", "absent", False)
    (manages,) = read("roles", "kyma_modules", "tasks", "main.yml")
    assert manages["kyma.lifecycle.module"]["modules"] == "{{ __kyma_modules_list }}"
    read_tasks = read("roles", "kyma_modules", "tasks", "reset.yml")
    steps = [step for task in read_tasks for step in task.get("block", [task])]
    includes = [step for step in steps if "ansible.builtin.include_tasks" in step]
    assert includes
    assert all("__kyma_modules_list" in step["vars"] for step in includes)


def test_the_deletion_of_all_has_the_timeout_of_modules() -> None:
    file = ROOT / "roles" / "kyma" / "tasks" / "delete.yml"
    assert passed_variables(file, ["modules_timeout"]) == {"modules_timeout": "kyma_modules_timeout"}
