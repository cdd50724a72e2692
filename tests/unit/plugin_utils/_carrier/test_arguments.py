# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import sys

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.options import CARRIER_ARGUMENT
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task import TaskDefinition
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.arguments import validate
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.interpreter import with_own_python

DEFINITION = TaskDefinition(lambda _request: {}, {"limit": {"type": "int", "default": 20}})


def test_arguments_get_defaults_and_types() -> None:
    arguments = validate(DEFINITION, {"limit": "3", "verify_ssl": "no"}, "kyma.lifecycle.run_info")
    assert not arguments.problem
    assert arguments.params["limit"] == 3
    assert arguments.params["validate_certs"] is False
    assert arguments.params["kubeconfig"] is None


class TaggedText(str):
    """A text as Ansible's own process has those of playbooks."""

    __slots__ = ()


def test_texts_of_playbooks_become_plain_at_any_depth() -> None:
    """YAML is written of them for diffs, and its writer knows no subclasses."""
    definition = TaskDefinition(lambda _request: {}, {"data": {"type": "dict"}, "list": {"type": "list"}})
    options = {
        "data": {TaggedText("a"): [TaggedText("b"), {"c": TaggedText("d")}]},
        "list": [TaggedText("e"), 1],
    }
    params = validate(definition, options, "kyma.lifecycle.run_info").params
    assert yaml.safe_dump(params["data"]) == "a:\n- b\n- c: d\n"
    assert yaml.safe_dump(params["list"]) == "- e\n- 1\n"


def test_the_words_are_those_of_a_module() -> None:
    problem = validate(DEFINITION, {"nope": 1}, "kyma.lifecycle.run_info").problem
    assert problem.startswith("Unsupported parameters for (kyma.lifecycle.run_info) module: nope. Supported")


def test_no_secret_gets_out() -> None:
    arguments = validate(DEFINITION, {"api_key": "geheim-123", "limit": "geheim-123"}, "x")
    assert arguments.problem
    assert "geheim-123" not in arguments.problem
    assert "geheim-123" not in str(arguments.complete({"msg": "401 for geheim-123"}))


def test_values_that_a_task_keeps_to_itself_hide_nothing_of_a_result() -> None:
    spec = {"data": {"type": "dict", "no_log": True}, "count": {"type": "int"}}
    options = {"data": {"a": "1", "b": ["True", {"c": "x-v2"}]}, "api_key": "geheim-123", "count": "geheim-1"}
    result = {"name": "x-v1", "number": 1, "msg": "401 for geheim-123"}
    hiding = validate(TaskDefinition(lambda _request: {}, spec), options, "x")
    assert hiding.complete(result)["name"] != "x-v1"
    arguments = validate(TaskDefinition(lambda _request: {}, spec, secret_options=("data",)), options, "x")
    shown = arguments.complete(result)
    assert (shown["name"], shown["number"]) == ("x-v1", 1)
    assert "geheim-123" not in shown["msg"]
    assert arguments.params["data"] == options["data"]


def test_a_refusal_has_none_of_these_values() -> None:
    spec = {"data": {"type": "dict", "no_log": True}, "count": {"type": "int"}}
    definition = TaskDefinition(lambda _request: {}, spec, secret_options=("data",))
    arguments = validate(definition, {"data": {"a": "geheim-123"}, "count": "geheim-123"}, "x")
    assert arguments.problem
    assert "geheim-123" not in arguments.problem


def test_a_version_without_quotes_is_refused_as_it_may_be_another_one() -> None:
    definition = TaskDefinition(lambda _request: {}, {"release_version": {"type": "str"}})
    problem = validate(definition, {"release_version": 2.10}, "x").problem
    assert problem == (
        "release_version (kyma_release_version): 2.1 is a number, and 2.10 is the same one as 2.1:"
        ' put the version in quotes, like "2.10"'
    )
    assert validate(definition, {"release_version": "2.10"}, "x").params["release_version"] == "2.10"


def test_an_option_by_both_its_names_is_a_warning() -> None:
    arguments = validate(DEFINITION, {"verify_ssl": True, "validate_certs": True}, "x")
    assert arguments.complete({"warnings": ["ours"]})["warnings"] == [
        "Both option validate_certs and its alias verify_ssl are set.",
        "ours",
    ]


def test_local_modules_run_by_ansibles_own_python() -> None:
    assert with_own_python({}, None) == {"ansible_python_interpreter": sys.executable}
    chosen = {"ansible_python_interpreter": "/usr/bin/python3.12"}
    assert with_own_python(chosen, None) == chosen
    delegated = with_own_python({"ansible_delegated_vars": {"bastion": {"a": 1}}}, "bastion")
    assert delegated["ansible_delegated_vars"]["bastion"] == {
        "a": 1,
        "ansible_python_interpreter": sys.executable,
    }


@pytest.mark.parametrize("name", ["workdir", "progress_file", "asked_for", CARRIER_ARGUMENT])
def test_internal_arguments_of_carriers_are_no_options(name: str) -> None:
    assert "Unsupported parameters" in validate(DEFINITION, {name: {}}, "x").problem
