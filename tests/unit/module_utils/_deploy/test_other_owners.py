# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Owners that are no components of a release: their objects stay whatever is deployed, pruned or deleted."""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory import Inventory
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory_entry import (
    entry_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.inventories import (
    read_inventories,
    read_owned,
    write_inventory,
)

from tests.support.driver import Deployer, config_map, deployer_after, release

KYMA = release(
    "2.9", {"gateway": [config_map("route"), config_map("shared")], "logging": [config_map("loki")]}
)
LATER = release("2.10", {"gateway": [config_map("route")]})


def deployed() -> Deployer:
    """Kyma, and beside it a module that is called like a component and shares an object with another one."""
    someone = deployer_after(KYMA, prune=True)
    own = someone.cluster.apply(namespaced("own"))
    shared = someone.cluster.get("v1", "ConfigMap", "shared", "kyma-system")
    assert shared
    entries = (entry_of(own), entry_of(shared))
    module = Inventory("logging", "kyma-system", "d", entries, "module", {"channel": "fast"})
    write_inventory(someone.cluster, module)
    return someone


def namespaced(name: str) -> Object:
    return {**config_map(name), "metadata": {"name": name, "namespace": "kyma-system"}}


def names(someone: Deployer) -> set[str]:
    """Those of all objects that there are, of components and of the module."""
    return {obj["metadata"]["name"] for obj in someone.cluster.list("v1", "ConfigMap", "kyma-system").items}


def test_owners_of_two_kinds_may_have_one_name() -> None:
    someone = deployed()
    components, [module] = read_owned(someone.cluster)
    assert read_inventories(someone.cluster) == components
    assert read_inventories(someone.cluster, ["logging"]) == {"logging": components["logging"]}
    assert [one.ref.name for one in components["logging"].entries] == ["loki"]
    assert (module.owner, module.owner_kind, module.details) == ("logging", "module", {"channel": "fast"})
    assert [part.name for part in module.record_versions] == ["logging.module"]


def test_a_module_is_no_component_of_a_plan() -> None:
    someone = deployed()
    unrelated = replace(read_owned(someone.cluster)[1][0], owner="transparent", record_versions=())
    write_inventory(someone.cluster, unrelated)
    planned = someone.plan()["plan"]
    assert not planned["needed"]
    assert "transparent" not in {one["name"] for one in planned["components"]}
    assert "transparent" not in {one["name"] for one in someone.component_info()["components"]}


def test_pruning_leaves_what_a_module_has() -> None:
    someone = deployed()
    someone.materials.given = LATER
    planned = someone.plan()["plan"]
    assert {one["name"]: one["action"] for one in planned["components"]}["logging"] == "delete"
    assert someone.carry_out(someone.results[-1])["state"] == "succeeded"
    assert names(someone) == {"route", "own", "shared"}
    components, [module] = read_owned(someone.cluster)
    assert set(components) == {"foundation", "gateway"}
    assert [ref.name for ref in components["gateway"].refs] == ["route"]
    assert [one.ref.name for one in module.entries] == ["own", "shared"]
    assert not someone.plan()["plan"]["needed"]


def test_deleting_everything_leaves_what_a_module_has_and_the_records_of_it() -> None:
    someone = deployed()
    rehearsed = someone.delete(check_mode=True)
    assert not rehearsed.get("failed")
    result = someone.delete()
    assert "own records" not in {one["name"] for one in result["components"]}
    assert names(someone) == {"own", "shared"}
    components, [module] = read_owned(someone.cluster)
    assert not any(
        entry.ref.name in ("own", "shared") for one in components.values() for entry in one.entries
    )
    assert [one.ref.name for one in module.entries] == ["own", "shared"]
    assert someone.installation().version == ""


def test_a_deleted_component_forgets_what_a_module_with_its_name_has() -> None:
    someone = deployed()
    loki = someone.cluster.get("v1", "ConfigMap", "loki", "kyma-system")
    assert loki
    _components, [module] = read_owned(someone.cluster)
    write_inventory(someone.cluster, replace(module, entries=(*module.entries, entry_of(loki))))
    assert not someone.delete("logging").get("failed")
    assert "loki" in names(someone)
    components, [module] = read_owned(someone.cluster)
    assert "logging" not in components
    assert [one.ref.name for one in module.entries] == ["own", "shared", "loki"]
