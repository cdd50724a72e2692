# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A deployment that takes a migration from somebody else's collection, which the user lists."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.others_collection import collections_path
from tests.support.own_cluster import OwnCluster
from tests.support.playbook_run import Playbook
from tests.support.small_release import NAMESPACE, SmallRelease, config_map

pytestmark = [pytest.mark.control_plane, pytest.mark.night]

ID = "checkout/password-in-secret"


def test_a_migration_of_another_collection_runs_like_our_own(
    playbook: Playbook,
    small: SmallRelease,
    own_cluster: OwnCluster,
    tmp_path: Path,
) -> None:
    place = collections_path(tmp_path)
    playbook.collections.insert(0, tmp_path)
    small.component("checkout", config_map("checkout"))
    own_cluster.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    own_cluster.api.create(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "checkout-settings", "namespace": NAMESPACE},
            "data": {"color": "blue", "password": "hunter2"},
        }
    )
    outcome = playbook.deploy(small.folder, migration_collections=["acme.platform"]).succeeded()
    assert outcome.migrations[ID]["state"] == "done"
    searched = outcome.plan["searched"]
    assert f"{place}/plugins/module_utils/kyma_migrations (acme.platform)" in searched
    assert "hunter2" not in outcome.text
    secret = own_cluster.api.get("v1", "Secret", "checkout-password", NAMESPACE)
    assert secret
    assert secret["data"] == {"password": "aHVudGVyMg=="}
    settings = own_cluster.api.get("v1", "ConfigMap", "checkout-settings", NAMESPACE)
    assert settings
    assert settings["data"] == {"color": "blue"}
