# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the modules' documentation says of results is what results have, over the lives of some clusters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task import TaskDefinition
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import Release
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.cluster_result import complete_result
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.modules import (
    ModuleRecord,
    write_module_record,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import (
    approval,
    component,
    hold,
    migration,
    plan,
    run,
    run_info,
    versioned_secret,
    versioned_secret_info,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    Context,
    Migration,
    Phase,
    Verdict,
    needed,
    not_needed,
)

from tests.support.driver import Deployer, config_map, deployer, deployment, release

PLUGINS = "ansible_collections.kyma.lifecycle.plugins"
MODULES = (
    "plan",
    "approval",
    "hold",
    "run",
    "run_info",
    "component",
    "component_info",
    "migration",
    "migration_info",
    "versioned_secret",
    "versioned_secret_info",
)
EVERYWHERE = {"changed", "failed", "msg", "warnings", "diff"}
COMPLETED = ("plan", "run")
"""Modules whose results the controller completes."""
OF_THE_CONTROLLER = {
    "component": {"failures"},
    "migration": {"failures", "state", "seconds"},
    "plan": {"plan_digest", "plan_inputs"},
    "run_info": {"command_target"},
}
"""What is added to a result, or taken away from it, beside the module."""


class Marks(Migration):
    """Marks a ConfigMap."""

    component = "logging"
    phase = Phase.PRE
    remove_in = "3.0"

    def check(self, ctx: Context) -> Verdict:
        marker = ctx.cluster.get("v1", "ConfigMap", "marked", "default")
        return not_needed("it is there") if marker else needed("it is not there")

    def run(self, ctx: Context) -> None:
        ctx.cluster.apply({**config_map("marked"), "metadata": {"name": "marked", "namespace": "default"}})


def kyma(version: str = "2.9", image: str = "nginx:1") -> Release:
    objects = [deployment("loki", image), config_map("settings", level="info")]
    return release(version, {"logging": objects[: 2 if version == "2.9" else 1]})


def stopped(someone: Deployer, definition: TaskDefinition, **params: Any) -> None:
    """A task that is asked to stop before its first object."""
    someone.cancelled = lambda: True
    someone.task(definition, **params)
    someone.cancelled = lambda: False


@cache
def lives() -> list[tuple[str, Mapping[str, Any]]]:
    """Results of everything that modules do, each with its module's name."""
    results: list[tuple[str, Mapping[str, Any]]] = []

    def new_deployer(given: Release, *migrations: type[Migration]) -> tuple[Deployer, list[str]]:
        someone, names = deployer(given, *migrations), []
        someone.before = names.append
        return someone, names

    healthy, names = new_deployer(kyma(), Marks)
    healthy.migration_info()
    healthy.task(migration.DEFINITION, check_mode=True, ids=["logging/marks"])
    healthy.deploy()
    by_hand = healthy.cluster.with_field_manager("kubectl-scale")
    down = {"status": {"readyReplicas": 0}}
    by_hand.patch("apps/v1", "Deployment", "loki", "kyma-system", down, subresource="status")
    healthy.plan()
    by_hand.patch("apps/v1", "Deployment", "loki", "kyma-system", {"spec": {"paused": True}})
    healthy.plan()
    healthy.task(component.DEFINITION, names=["logging"])
    healthy.task(hold.DEFINITION, reason="a fire drill")
    healthy.run_info()
    healthy.task(plan.DEFINITION, rollout=True)
    healthy.task(hold.DEFINITION, state="absent")
    for reason in ("see CHG-1", "see CHG-2"):
        healthy.task(
            approval.DEFINITION, ring="rest", release_digest="ab" * 32, reason=reason, clusters=["a"]
        )
    withdraw = {"ring": "rest", "state": "absent"}
    stopped(healthy, approval.DEFINITION, **withdraw)
    healthy.task(approval.DEFINITION, **withdraw)
    healthy.materials.given = kyma("2.10")
    healthy.deploy()
    for state in ("present", "pruned", "absent"):
        healthy.task(component.DEFINITION, check_mode=True, state=state, names=["logging"])
    for check_mode in (True, False):
        healthy.task(migration.DEFINITION, check_mode=check_mode, state="undone", ids=["logging/marks"])
    healthy.component_info()
    healthy.migration_info()
    healthy.run_info()
    healthy.task(component.DEFINITION, state="pruned", names=["logging"])
    healthy.task(run.DEFINITION, state="cancelled")
    healthy.delete("logging")
    write_module_record(healthy.cluster, ModuleRecord("nats"))
    healthy.delete()
    healthy.delete()
    results += zip(names, healthy.results, strict=True)

    secretive, names = new_deployer(kyma())
    base = {"namespace": "default", "name": "database"}
    for password in ("one", "two"):
        data = {"password": password}
        secretive.task(versioned_secret.DEFINITION, **base, state="present", data=data, keep=1)
    secretive.task(versioned_secret_info.DEFINITION)
    stopped(secretive, versioned_secret.DEFINITION, **base, state="absent")
    secretive.task(versioned_secret.DEFINITION, **base, state="absent")
    results += zip(names, secretive.results, strict=True)

    adopting, names = new_deployer(kyma())
    adopting.options = {"adopt_losses": ["all"]}
    made = config_map("settings", level="info", extra="1")
    made["metadata"]["namespace"] = "kyma-system"
    by_hand = adopting.cluster.with_field_manager("kubectl-create")
    by_hand.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kyma-system"}})
    by_hand.create(made)
    adopting.plan()
    results += zip(names, adopting.results, strict=True)

    failing, names = new_deployer(kyma(image="broken"))
    failing.deploy()
    failing.run_info()
    failing.task(run_info.DEFINITION, run="unknown")
    failing.materials.given = kyma("2.11")
    failing.plan()
    results += zip(names, failing.results, strict=True)
    return results


def paths(value: Any, before: str = "") -> Iterator[str]:
    """The paths of all keys of a result, such as ``components.name``."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield f"{before}.{key}".removeprefix(".")
            yield from paths(item, f"{before}.{key}".removeprefix("."))
    elif isinstance(value, list):
        for item in value:
            yield from paths(item, before)


def documented(returns: Mapping[str, Any], before: str = "") -> dict[str, Mapping[str, Any]]:
    """What the documentation says of each path."""
    paths_of_docs: dict[str, Mapping[str, Any]] = {}
    for key, one in returns.items():
        path = f"{before}.{key}".removeprefix(".")
        paths_of_docs |= {path: one, **documented(one.get("contains") or {}, path)}
    return paths_of_docs


def of(module: str) -> dict[str, Mapping[str, Any]]:
    return documented(yaml.safe_load(import_module(f"{PLUGINS}.modules.{module}").RETURN))


def results(module: str) -> list[Mapping[str, Any]]:
    given = [result for name, result in lives() if name == module]
    return [complete_result(result, "staging", {}) for result in given] if module in COMPLETED else given


@pytest.mark.parametrize("module", MODULES)
def test_all_that_results_have_is_documented(module: str) -> None:
    known = of(module)
    returned = {path for result in results(module) for path in paths(result)}
    # What a dict holds is documented as a whole or not at all.
    expected = {
        p for p in returned if not p.rpartition(".")[0] or "contains" in known.get(p.rpartition(".")[0], {})
    }
    assert expected - known.keys() - EVERYWHERE - OF_THE_CONTROLLER.get(module, set()) == set()


@pytest.mark.parametrize("module", MODULES)
def test_all_that_is_documented_is_in_some_result(module: str) -> None:
    returned = {path for result in results(module) for path in paths(result)}
    missing = of(module).keys() - returned
    assert {path for path in missing if path.split(".")[0] not in OF_THE_CONTROLLER.get(module, ())} == set()


@pytest.mark.parametrize("module", MODULES)
def test_values_documented_as_always_returned_are_in_every_result(module: str) -> None:
    always = {key for key, one in of(module).items() if one.get("returned") in ("always", "success")}
    for result in results(module):
        assert result.get("failed") or always <= result.keys()


@pytest.mark.parametrize("state", ["started", "finished", "cancelled"])
def test_in_check_mode_a_run_answers_all_that_it_would_else(state: str) -> None:
    someone = deployer(kyma())
    planned = someone.plan()["plan"]
    begun = someone.task(run.DEFINITION, state="started", plan=planned)["run"]
    result = someone.task(run.DEFINITION, check_mode=True, state=state, plan=planned, run=begun)
    rehearsed = complete_result(result, "staging", planned, begun)
    promised = {key for key, one in of("run").items() if f"O(state={state})" in str(one.get("returned"))}
    assert promised
    assert promised <= rehearsed.keys()
