# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of the migrations of ``checkout``, and that no migration of this collection is overdue."""

from __future__ import annotations

from ansible_collections.acme.platform.plugins.module_utils.kyma_migrations.checkout import PasswordInSecret
from ansible_collections.kyma.lifecycle.plugins.plugin_utils.migration_testing import (
    assert_blocked,
    assert_migration,
    assert_none_overdue,
    assert_not_needed,
)


def settings(**data):
    metadata = {"name": "checkout-settings", "namespace": "shop"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def secret(password):
    metadata = {"name": "checkout-password", "namespace": "shop"}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": {"password": password}}


def test_the_password_moves_into_a_secret(kyma_api_server):
    assert_migration(
        PasswordInSecret,
        before=[settings(color="blue", password="hunter2")],
        after=[settings(color="blue"), secret("aHVudGVyMg==")],
        server=kyma_api_server,
    )


def test_there_is_nothing_to_do():
    assert_not_needed(PasswordInSecret)
    assert_not_needed(PasswordInSecret, [settings(color="blue")])


def test_another_password_is_not_overwritten():
    state = [settings(password="hunter2"), secret("c3dvcmRmaXNo")]
    assert_blocked(PasswordInSecret, state, names=["Secret shop/checkout-password"])


def test_no_migration_has_outlived_its_time():
    assert_none_overdue("acme.platform")
