# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The data that a deployment records for a component in addition to its objects."""

from __future__ import annotations

from ansible_collections.kyma.lifecycle.plugins.module_utils._components.component_inventory import (
    DeployedAs,
    deployed_as,
    with_deployed_as,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory import Inventory


def test_a_deployment_is_recorded_by_names_that_all_versions_know() -> None:
    deployed = DeployedAs("1.2.3", "0.9", "f1", "s1", prerequisite=True, needs=("a", "b"), run="r1")
    recorded = with_deployed_as(Inventory("logging"), deployed)
    assert recorded.details == {
        "version": "1.2.3",
        "componentVersion": "0.9",
        "release": "f1",
        "source": "s1",
        "prerequisite": True,
        "needs": ["a", "b"],
        "run": "r1",
    }
    assert deployed_as(recorded) == deployed


def test_an_unknown_value_is_not_recorded() -> None:
    recorded = with_deployed_as(Inventory("logging"), DeployedAs("1.2.3"))
    assert recorded.details == {"version": "1.2.3"}
    assert deployed_as(recorded) == DeployedAs("1.2.3")
