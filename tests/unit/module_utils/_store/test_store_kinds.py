# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The job store is installed where it is missing or not current, and who may not do it learns what to do."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import api_error
from ansible_collections.kyma.lifecycle.plugins.module_utils._custom_resources import installed_kinds
from ansible_collections.kyma.lifecycle.plugins.module_utils._custom_resources.installed_kinds import (
    CRD_KIND,
    DefinitionState,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errors import LifecycleError
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.core_job import (
    CoreJob,
    JobKey,
    JobType,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.storage.definition import (
    definition_object,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.store_kinds import (
    INSTALL_COMMAND,
    ROLES,
    STORE_KINDS,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

FORBIDDEN = api_error("do it", 403, {"reason": "Forbidden", "message": "you may not do it"})
MISSING, CURRENT, OLDER = (
    DefinitionState(is_served, is_now) for is_served, is_now in ((False, False), (True, True), (True, False))
)


@pytest.fixture
def cluster() -> MemoryCluster:
    return MemoryCluster()


def refuse(cluster: MemoryCluster, *verbs: str) -> None:
    cluster.fail_when(lambda request: request.verb in verbs, FORBIDDEN)


def test_the_store_is_installed_once(cluster: MemoryCluster) -> None:
    assert STORE_KINDS.state(cluster) == MISSING
    assert STORE_KINDS.update(cluster, STORE_KINDS.state(cluster)) == (True, ())
    assert STORE_KINDS.state(cluster) == CURRENT
    writes = len([one for one in cluster.requests if one.writes])
    assert writes == len(STORE_KINDS.kinds) + len(ROLES)
    assert STORE_KINDS.update(cluster, STORE_KINDS.state(cluster)) == (False, ())
    assert len([one for one in cluster.requests if one.writes]) == writes
    for type_ in JobType:
        cluster.create(definition_object(CoreJob(JobKey("default", "report"), type_)))


def test_an_older_one_is_updated(cluster: MemoryCluster) -> None:
    first, *others = STORE_KINDS.kinds
    replace(STORE_KINDS, kinds=(replace(first, short="other"), *others)).install(cluster)
    assert STORE_KINDS.state(cluster) == OLDER
    assert STORE_KINDS.update(cluster, OLDER) == (True, ())
    installed = cluster.get(*CRD_KIND, STORE_KINDS.kinds[0].crd_name)
    assert installed is not None
    assert installed["spec"]["names"]["shortNames"] == ["ooj"]
    assert STORE_KINDS.is_current(cluster)


def test_one_that_lacks_a_kind_is_not_current(cluster: MemoryCluster) -> None:
    STORE_KINDS.install(cluster)
    cluster.delete(*CRD_KIND, STORE_KINDS.kinds[1].crd_name, None)
    assert STORE_KINDS.state(cluster) == MISSING


def test_a_user_without_the_right_to_read_the_definition_goes_on_if_it_is_served(
    cluster: MemoryCluster,
) -> None:
    STORE_KINDS.install(cluster)
    refuse(cluster, "get")
    assert STORE_KINDS.state(cluster) == CURRENT
    empty = MemoryCluster()
    refuse(empty, "get")
    assert STORE_KINDS.state(empty) == MISSING


def test_a_user_without_the_right_to_install_is_warned_or_stopped(cluster: MemoryCluster) -> None:
    refuse(cluster, "apply")
    with pytest.raises(LifecycleError) as caught:
        STORE_KINDS.update(cluster, MISSING)
    message = str(caught.value)
    for part in ("definition of the job store is missing", "you may not do it", "escalate clusterroles"):
        assert part in message
    assert message.endswith(f"\n{INSTALL_COMMAND}")
    assert STORE_KINDS.update(cluster, OLDER) == (False, (message,))


def test_a_server_that_does_not_serve_it_in_time(
    cluster: MemoryCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installed_kinds, "SECONDS_TO_SERVE", 0.0)
    monkeypatch.setattr(cluster, "resource", lambda *_: None)
    with pytest.raises(
        LifecycleError, match=r"does not serve OneOffJob, .*JobStore after 0 s.*\nkubectl describe crd oneoff"
    ):
        STORE_KINDS.install(cluster)
