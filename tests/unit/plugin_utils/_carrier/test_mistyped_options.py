# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which numbers options may have, that all errors are reported together, and which variables are misspelt."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.parsing.dataloader import DataLoader
from ansible_collections.kyma.lifecycle.plugins.action.component import ActionModule as Component
from ansible_collections.kyma.lifecycle.plugins.action.plan import ActionModule as Plan
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.component import DEFINITION as COMPONENT
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.module import DEFINITION as MODULE
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.plan import DEFINITION as PLAN
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.reconcile_errands import (
    DEFINITION as RECONCILE_ERRANDS,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.stored_job import (
    DEFINITION as STORED_JOB,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.arguments import validate
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.mistyped_options import (
    RULES,
    documented_names,
    internal_names,
    number_problems,
    texts_below,
    unknown_variables,
    variable_warnings,
    verbosity_of,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.role_search import missing_roles
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.screen.progress_view import Verbosity

from tests.cluster.paths import ROOT

NAN = float("nan")


def problems(**options: Any) -> list[str]:
    return list(number_problems(options, PLAN.argument_spec).values())


@pytest.mark.parametrize("value", [0, -1, "0", "-1", "abc", "", 1.5, "1.5", True, [4], NAN, "inf"])
def test_an_invalid_number_of_workers_is_refused(value: object) -> None:
    assert problems(workers=value) == [
        f"workers (kyma_workers) is {value!r}, and must be a whole number, 1 or more"
    ]


@pytest.mark.parametrize("option", ["timeout", "deadline", "grace", "lease_wait"])
@pytest.mark.parametrize("value", [-1, "-0.1", "abc", "10m", NAN, "nan", float("-inf"), False])
def test_an_invalid_number_of_seconds_is_refused(option: str, value: object) -> None:
    [problem] = problems(**{option: value})
    assert problem.startswith(f"{option} (kyma_")
    assert f"is {value!r}, and must be a number of seconds" in problem


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("timeout", 0),
        ("timeout", "inf"),
        ("deadline", "inf"),
        ("grace", "inf"),
        ("lease_seconds", 5),
        ("max_fail_percentage", -1),
        ("max_fail_percentage", 101),
        ("max_fail_percentage", "half"),
    ],
)
def test_an_invalid_number_of_other_options_is_refused(option: str, value: object) -> None:
    assert len(problems(**{option: value})) == 1


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("workers", "31"),
        ("workers", " 2 "),
        ("workers", None),
        ("timeout", "0.5"),
        ("deadline", 0),
        ("grace", "0"),
        ("lease_wait", "inf"),
        ("lease_seconds", 6),
        ("max_fail_percentage", "12.5"),
    ],
)
def test_valid_numbers_are_accepted(option: str, value: object) -> None:
    assert problems(**{option: value}) == []


@pytest.mark.parametrize("module", ["errand", "kyma.lifecycle.errand", "kyma.lifecycle.reconcile_errands"])
def test_errands_have_variables_of_their_own(module: str) -> None:
    spec = RECONCILE_ERRANDS.argument_spec
    bad = number_problems({"workers": 0, "watch_seconds": 0}, spec, module)
    assert [one.split(" is ")[0] for one in bad.values()] == [
        "workers (kyma_errand_workers)",
        "watch_seconds (kyma_errand_watch_seconds)",
    ]
    assert "(kyma_workers)" in number_problems({"workers": 0}, spec, "kyma.lifecycle.plan")["workers"]


def test_modules_of_kyma_have_variables_of_their_own() -> None:
    bad = number_problems({"timeout": -1, "patience": -5}, MODULE.argument_spec, "kyma.lifecycle.module")
    assert [one.split(" is ")[0] for one in bad.values()] == [
        "timeout (kyma_modules_timeout)",
        "patience (kyma_modules_patience)",
    ]


def test_the_timeout_of_a_job_is_no_timeout_of_the_task() -> None:
    options = {"timeout": 0, "wait_timeout": 0}
    bad = number_problems(options, STORED_JOB.argument_spec, "kyma.lifecycle.stored_job")
    assert [one.split(" is ")[0] for one in bad.values()] == ["wait_timeout (kyma_job_store_wait_timeout)"]


def test_defaults_are_fine_and_every_rule_is_about_an_option() -> None:
    wait = {"wait_timeout": STORED_JOB.argument_spec["wait_timeout"]}
    specs = {
        **MODULE.argument_spec,
        **PLAN.argument_spec,
        **COMPONENT.argument_spec,
        **RECONCILE_ERRANDS.argument_spec,
        **wait,
    }
    assert set(RULES) <= set(specs)
    assert number_problems({option: one.get("default") for option, one in specs.items()}, specs) == {}


def refused(carrier: type[Plan] | type[Component], options: Mapping[str, Any]) -> str:
    return carrier.refusal(
        carrier.__new__(carrier), validate(carrier.definition, options, "kyma.lifecycle.x")
    )


def test_a_task_that_acts_refuses_all_bad_numbers_at_once() -> None:
    message = refused(Component, {"names": ["a"], "workers": 0, "grace": -1, "deadline": "abc"})
    assert [line.split()[:2] for line in message.splitlines()] == [
        ["workers", "(kyma_workers)"],
        ["deadline", "(kyma_timeout)"],
        ["grace", "(kyma_grace)"],
    ]
    assert "Unsupported parameters" in refused(Component, {"names": ["a"], "workers": 0, "nope": 1})


def test_a_plan_reports_invalid_numbers_among_its_blockers() -> None:
    options = {"release": "x", "workers": "abc", "timeout": -1}
    assert refused(Plan, options) == ""
    arguments = validate(PLAN, options, "kyma.lifecycle.plan")
    assert [one.split()[0] for one in Plan.notes(Plan.__new__(Plan), arguments).problems] == [
        "workers",
        "timeout",
    ]
    assert (arguments.params["workers"], arguments.params["timeout"]) == (16, 600)


def test_roles_are_looked_for_where_ansible_does(tmp_path: Path) -> None:
    (tmp_path / "roles" / "own").mkdir(parents=True)
    loader = DataLoader()
    loader.set_basedir(str(tmp_path))
    assert missing_roles(["own", "nope", "nobody.nothing.nope"], loader, []) == {
        "nope",
        "nobody.nothing.nope",
    }


def test_the_variable_of_progress_has_one_of_its_values() -> None:
    assert [verbosity_of(one) for one in Verbosity] == [*Verbosity]
    with pytest.raises(ValueError, match=r"kyma_progress is 'laud'\. Set it to one of: "):
        verbosity_of("laud")


MISSPELT = {
    "kyma_componet_timeout": "kyma_component_timeout",
    "kyma_relase": "kyma_release",
    "kyma_kubconfig": "kyma_kubeconfig",
    "kyma_overides": "kyma_overrides",
    "kyma_prun": "kyma_prune",
    "kyma_skip_migration": "kyma_skip_migrations",
    "kyma_seriall": "kyma_serial",
    "kyma_modules_chanel": "kyma_modules_channel",
    "kyma_cancel_runs": "kyma_cancel_run",
}
OWN = ("kyma_release_folder", "kyma_telemetry_replicas", "kyma_team", "kyma_component_webhook")


def warned(variables: Mapping[str, Any], text: str = "", **others: Mapping[str, Any]) -> list[str]:
    everybody = {**others, "live": variables}
    return variable_warnings(
        {**variables, "inventory_hostname": "live"}, list(everybody), everybody.__getitem__, lambda: [text]
    )


@pytest.mark.parametrize(("name", "intended"), MISSPELT.items())
def test_a_misspelt_name_is_reported_with_the_intended_one(name: str, intended: str) -> None:
    assert warned({name: 1}) == [f"nothing reads the variable {name} (live): did you mean {intended}?"]


@pytest.mark.parametrize("name", OWN)
def test_another_name_is_reported_unless_a_file_of_the_users_reads_it(name: str) -> None:
    assert warned({name: 1}) == [
        f"nothing reads the variable {name} (live): no role of this collection has it"
    ]
    assert warned({name: 1}, text=f"debug: msg={{{{ {name} }}}}") == []


def test_every_documented_variable_is_known() -> None:
    specs = [
        name
        for file in (ROOT / "roles").glob("*/meta/argument_specs.yml")
        for entry in yaml.safe_load(file.read_text())["argument_specs"].values()
        for name in entry.get("options") or ()
    ]
    assert len(specs) > 100
    assert set(specs) <= documented_names()
    assert warned(dict.fromkeys(specs)) == []


def test_every_default_and_every_registered_name_is_known() -> None:
    defaults = [
        name
        for file in (ROOT / "roles").glob("*/defaults/main.yml")
        for name in yaml.safe_load(file.read_text()) or ()
    ]
    registered = ("kyma_result", "kyma_component_result", "kyma_stage")
    assert {*defaults, *registered} <= documented_names() | internal_names()


def test_another_variable_may_read_it() -> None:
    assert warned({"kyma_releases": "/srv", "kyma_release": "{{ kyma_releases }}/2.9"}) == []
    assert warned({"kyma_releases": "/srv", "mine": [{"a": "{{ kyma_releases }}"}]}) == []
    assert len(warned({"kyma_releases": "/srv", "kyma_release": "/srv/2.9"})) == 1


@pytest.mark.parametrize(
    ("text", "is_read"),
    [
        ("kyma_release: '{{ kyma_releases }}/2.9'", True),
        ("loop: '{{ {kyma_releases:1} }}'", True),
        ("when: kyma_releases\n", True),
        ("kyma_releases: /srv", False),
        ("vars:\n  'kyma_releases':\n    - /srv", False),
        ("kyma_releases_of_others", False),
    ],
)
def test_a_file_that_only_defines_it_does_not_read_it(text: str, is_read: bool) -> None:
    assert (warned({"kyma_releases": "/srv"}, text=text) == []) is is_read


def test_the_yaml_files_and_templates_of_a_user_are_searched(tmp_path: Path) -> None:
    for place in ("play.yml", "roles/a/tasks/main.yaml", "templates/a.j2", ".git/b.yml", "notes.txt"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(place)
    (tmp_path / "binary.yml").write_bytes(b"\xff")
    texts = list(texts_below([tmp_path, tmp_path / "missing"]))
    assert texts == ["play.yml", "roles/a/tasks/main.yaml", "templates/a.j2"]


def test_only_the_first_host_with_the_variable_warns() -> None:
    assert warned({"kyma_relase": 1}, canary={"kyma_relase": 1}) == []
    assert len(warned({"kyma_relase": 1}, canary={"kyma_release": 1})) == 1


def test_other_names_are_looked_up_only_if_one_is_unknown() -> None:
    def never() -> list[str]:
        raise AssertionError("nobody needs them")

    assert unknown_variables(["kyma_a", "other"], ["kyma_a"], never) == []
