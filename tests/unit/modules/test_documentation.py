# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the modules' documentation says is what they take, and each has all its parts."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.connection import CONNECTION_SPEC
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.health import status as health
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.background_carrier import (
    BackgroundCarrier,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.direct_carrier import DirectCarrier

PLUGINS = "ansible_collections.kyma.lifecycle.plugins"
REPO = Path(__file__).resolve().parents[3]
ROUTED = yaml.safe_load((REPO / "meta/runtime.yml").read_text())["plugin_routing"]["modules"]
ON_CONTROLLER = ("report", "rollout")
"""Modules that reach no cluster: their action plugins do all the work."""
MODULES = sorted(
    path.stem for path in (REPO / "plugins/modules").glob("*.py") if path.stem not in ON_CONTROLLER
)
BACKGROUND = (
    "approval",
    "component",
    "errand",
    "job_store",
    "migration",
    "module",
    "reconcile_errands",
    "stored_job",
    "stored_job_import",
    "versioned_secret",
)
DEFAULTS = {
    "type": "str",
    "elements": None,
    "default": None,
    "required": False,
    "choices": None,
    "aliases": None,
}


def documented_options(name: str) -> dict[str, Any]:
    documentation = yaml.safe_load(import_module(f"{PLUGINS}.modules.{name}").DOCUMENTATION)
    options = dict(documentation.get("options") or {})
    for fragment in documentation.get("extends_documentation_fragment", ()):
        # Galaxy reads the documentation without any other collection.
        assert fragment.startswith("kyma.lifecycle.")
        _namespace, _collection, file, *part = fragment.split(".")
        fragments = import_module(f"{PLUGINS}.doc_fragments.{file}").ModuleDocFragment
        text = getattr(fragments, part[0].upper() if part else "DOCUMENTATION")
        options.update(yaml.safe_load(text).get("options") or {})
    return options


def shape(option: dict[str, Any]) -> dict[str, Any]:
    return {key: option.get(key, default) for key, default in DEFAULTS.items()}


@pytest.mark.parametrize("name", MODULES)
def test_options_are_those_of_the_definition(name: str) -> None:
    definition = import_module(f"{PLUGINS}.module_utils._tasks.{name}").DEFINITION
    documented = documented_options(name)
    assert {option: shape(one) for option, one in documented.items()} == {
        option: shape(dict(one)) for option, one in {**CONNECTION_SPEC, **definition.argument_spec}.items()
    }


@pytest.mark.parametrize("name", ON_CONTROLLER)
def test_options_of_what_the_controller_does_are_those_of_the_action_plugin(name: str) -> None:
    taken = import_module(f"{PLUGINS}.action.{name}").ActionModule.argument_spec
    documented = documented_options(name)
    assert {option: shape(one) for option, one in documented.items()} == {
        option: shape(one) for option, one in taken.items()
    }
    group = yaml.safe_load((REPO / "meta/runtime.yml").read_text())["action_groups"]["kyma"]
    assert name not in group


@pytest.mark.parametrize("name", MODULES)
def test_every_module_is_in_the_action_group_and_has_its_carrier(name: str) -> None:
    group = yaml.safe_load((REPO / "meta/runtime.yml").read_text())["action_groups"]["kyma"]
    assert name in group
    definition = import_module(f"{PLUGINS}.module_utils._tasks.{name}").DEFINITION
    assert import_module(f"{PLUGINS}.modules.{name}").DEFINITION is definition
    carrier = import_module(f"{PLUGINS}.action.{'run_info' if name in ROUTED else name}").ActionModule
    assert issubclass(carrier, BackgroundCarrier if name in BACKGROUND else DirectCarrier)
    assert vars(carrier).get("definition", definition) is definition


def test_modules_without_an_action_plugin_are_led_to_a_shared_one() -> None:
    without = {name for name in MODULES if not (REPO / f"plugins/action/{name}.py").exists()}
    assert {name: {"action_plugin": "kyma.lifecycle.run_info"} for name in without} == ROUTED


@pytest.mark.parametrize("name", [*MODULES, *ON_CONTROLLER])
def test_examples_and_returns_can_be_read(name: str) -> None:
    module = import_module(f"{PLUGINS}.modules.{name}")
    assert all(f"kyma.lifecycle.{name}" in module.EXAMPLES for _i in yaml.safe_load(module.EXAMPLES))
    assert yaml.safe_load(module.RETURN)


def test_the_words_of_health_are_those_of_the_code() -> None:
    module = import_module(f"{PLUGINS}.modules.component_info")
    objects = yaml.safe_load(module.RETURN)["components"]["contains"]["objects"]
    documented = objects["contains"]["health"]
    assert documented["choices"] == [health.CURRENT, health.PROGRESSING, health.FAILED, "missing"]
    assert documented["sample"] == health.CURRENT
    assert re.findall(r"'health', 'equalto', '(\w+)'", module.EXAMPLES) == [health.CURRENT]
