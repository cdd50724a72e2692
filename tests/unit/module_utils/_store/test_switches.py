# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The switches of the job store."""

from __future__ import annotations

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._custom_resources.storage_version import (
    STORAGE_VERSION_LABEL,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.switches import (
    JOB_STORE,
    STORE_NAME,
    SourceOfTruth,
    StoreSwitches,
    UnknownJobs,
    read_switches,
    write_switches,
)

from tests.support.job_store import store_cluster

LAST_STAGE = StoreSwitches(SourceOfTruth.STORAGE, UnknownJobs.IGNORE)


def test_kubernetes_is_the_source_and_jobs_are_adopted_by_default() -> None:
    assert read_switches(store_cluster()) == StoreSwitches(SourceOfTruth.KUBERNETES, UnknownJobs.ADOPT)


def test_switches_are_read_as_they_were_written() -> None:
    cluster = store_cluster()
    for switches in (LAST_STAGE, StoreSwitches()):
        write_switches(cluster, switches)
        assert read_switches(cluster) == switches


def test_fields_of_strangers_survive_a_write() -> None:
    cluster = store_cluster()
    write_switches(cluster, StoreSwitches())
    other = cluster.with_field_manager("kubectl-edit")
    other.patch(*JOB_STORE.address, STORE_NAME, None, {"metadata": {"labels": {"team": "a"}}})
    write_switches(cluster, LAST_STAGE)
    written = cluster.get(*JOB_STORE.address, STORE_NAME)
    assert written is not None
    assert written["metadata"]["labels"] == {"team": "a", STORAGE_VERSION_LABEL: "1"}


@pytest.mark.parametrize("spec", [None, "odd", {}, {"sourceOfTruth": "moon", "unknownJobs": ["adopt"]}])
def test_an_unreadable_switch_has_the_default(spec: object) -> None:
    assert JOB_STORE.read({"metadata": {"name": STORE_NAME}, "spec": spec}) == StoreSwitches()
