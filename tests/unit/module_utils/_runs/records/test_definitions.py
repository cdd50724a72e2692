# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kinds of record of a capability that the records' room knows nothing of."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import API_VERSION
from ansible_collections.kyma.lifecycle.plugins.module_utils._custom_resources import installed_kinds
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_definition import (
    ERRAND_RESOURCE,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errors import LifecycleError
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.access.rights import Right
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.definitions import (
    RecordKinds,
    install_definitions,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.installation import Installation
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.record_rights import (
    records_deletion_rights,
    records_rights,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.shared.record_kinds import RECORD_KINDS
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

GROUP = API_VERSION.partition("/")[0]


def with_errands() -> RecordKinds:
    return replace(RECORD_KINDS, viewable=(*RECORD_KINDS.viewable, ERRAND_RESOURCE))


def test_a_kind_that_comes_later_is_installed_where_the_others_are() -> None:
    cluster = MemoryCluster()
    install_definitions(cluster, Installation(), RECORD_KINDS)
    before = Installation(definitions=RECORD_KINDS.hash)
    earlier = len(cluster.requests)
    install_definitions(cluster, before, RECORD_KINDS)
    assert not [one for one in cluster.requests[earlier:] if one.writes]
    assert cluster.resource(API_VERSION, "Errand") is None
    install_definitions(cluster, before, with_errands())
    assert cluster.resource(API_VERSION, "Errand") is not None
    role = cluster.get("rbac.authorization.k8s.io/v1", "ClusterRole", "kyma-lifecycle-view")
    assert role
    resources = [
        "kymainstallations",
        "kymainventories",
        "kymamodules",
        "kymaruns",
        "errands",
        "kymaapprovals",
        "kymaholds",
    ]
    assert role["rules"][0]["resources"] == resources


def test_a_server_that_does_not_serve_the_records_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installed_kinds, "SECONDS_TO_SERVE", 0.0)
    cluster = MemoryCluster()
    monkeypatch.setattr(cluster, "resource", lambda *_: None)
    message = r"does not serve KymaInstallation, .* after 0 s.*\nkubectl describe crd kymainstallations\."
    with pytest.raises(LifecycleError, match=message):
        install_definitions(cluster, Installation(), RECORD_KINDS)


def test_a_kind_that_comes_later_takes_rights_of_its_own() -> None:
    definition = Right("patch", "apiextensions.k8s.io", "customresourcedefinitions", "", f"errands.{GROUP}")
    more = records_rights(with_errands()) - records_rights(RECORD_KINDS)
    assert {right.verb for right in more if right.resource == "errands"} == {
        "get",
        "list",
        "watch",
        "create",
        "patch",
        "delete",
    }
    assert definition in more
    gone = records_deletion_rights(with_errands()) - records_deletion_rights(RECORD_KINDS)
    assert gone == {definition._replace(verb="get"), definition._replace(verb="delete")}
