# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The runs of scheduled jobs on a real API server."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import ApiError

from tests.support.store_user import User

pytestmark = pytest.mark.cluster


def schedule(user: User, name: str, **spec: Any) -> None:
    container = {"name": "a", "image": "a", "command": ["sleep", "1000"]}
    pod = {"spec": {"containers": [container], "restartPolicy": "Never"}}
    user.admin.create(
        {
            "apiVersion": "batch/v1",
            "kind": "CronJob",
            "metadata": {"name": name, "namespace": user.namespace},
            "spec": {
                "schedule": "* * * * *",
                "jobTemplate": {"spec": {"template": pod}},
                **spec,
            },
        }
    )


def runs(user: User) -> dict[str, Any]:
    return {name: one["runs"] for name, one in user.listed().items()}


def test_the_next_run_has_the_time_zone_of_the_schedule(deployer: User) -> None:
    with pytest.raises(ApiError, match="unknown time zone"):
        schedule(deployer, "mars", timeZone="Mars/Olympus")
    schedule(deployer, "nightly", schedule="30 4 * * *", timeZone="Europe/Berlin")
    nightly = runs(deployer)["nightly"]
    assert (nightly["time_zone"], nightly["last_run"], nightly["missed_run"]) == ("Europe/Berlin", "", "")
    assert "T04:30:00+0" in nightly["next_run"]
