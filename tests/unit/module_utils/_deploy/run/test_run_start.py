# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a run may begin by the plan that it was given."""

from __future__ import annotations

from collections.abc import Collection

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task import Task
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.run import run_start
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.access.rights import Right
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.acquisition import AcquiredLease
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.held_lease import read_lease
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.lease_session import (
    LeaseState,
    acquire_lease,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import run

from tests.support.driver import config_map, deployer, release


def test_a_run_that_waited_for_another_one_is_planned_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def acquire_second(task: Task, name: str, rights: Collection[Right], before: LeaseState) -> AcquiredLease:
        return acquire_lease(task, name, rights, before)._replace(is_first=False)

    someone = deployer(release("2.9", {"a": [config_map("a")]}))
    planned = someone.plan()
    monkeypatch.setattr(run_start, "acquire_lease", acquire_second)
    begun = someone.task(run.DEFINITION, state="started", plan=planned["plan"])
    assert (begun["outdated"], begun["run"], begun["changed"]) == (True, "", False)
    assert begun["msg"] == "another run has changed this cluster since the plan was made: plan again"
    lease = read_lease(someone.cluster)
    assert (lease.holder, lease.epoch) == ("", 1)
    assert someone.run_info()["runs"] == []
