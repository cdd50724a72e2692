# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kit on a migration that lies beside a playbook, about a kind of the release's own."""

from __future__ import annotations

import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.loader import load_folders
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.migration_folders import (
    MigrationFolder,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils.migration_testing import (
    assert_migration,
    assert_not_needed,
)

from tests.cluster.paths import ROOT

EXAMPLES = ROOT / "examples"
CRD = yaml.safe_load((EXAMPLES / "release" / "crds" / "shop" / "offers.yaml").read_text())


def offer(name: str, price: int, **annotations: str) -> Object:
    return {
        "apiVersion": "shop.example.com/v1",
        "kind": "Offer",
        "metadata": {"name": name, "namespace": "shop", "annotations": {"mine": "kept", **annotations}},
        "spec": {"article": name, "price": price},
    }


def test_the_example_is_proved() -> None:
    [migration] = load_folders([MigrationFolder("yours", str(EXAMPLES / "kyma_migrations"))]).migrations
    priced = {"shop.example.com/cents": "300"}
    assert_migration(
        migration,
        [offer("tea", 3), offer("coffee", 4), offer("cake", 3, **priced)],
        [
            offer("tea", 3, **priced),
            offer("coffee", 4, **{"shop.example.com/cents": "400"}),
            offer("cake", 3, **priced),
        ],
        crds=[CRD],
    )
    assert_not_needed(migration)
    assert_not_needed(migration, crds=[CRD])
