# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task ``run`` with ``state=noted``: record the observations of a plan without a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._carrier.task import Result
from ..._cluster.cluster import Cluster
from ..._runs.records.definitions import RecordKinds, install_definitions
from ..._runs.records.installation import basis_in, read_installation
from ..._runs.records.inventories import read_inventories
from ..._text import counted
from ..observations import record_observations


def record_plan_observations(cluster: Cluster, kinds: RecordKinds, plan: Mapping[str, Any]) -> Result:
    """Write the inventories again. No object changes, and nothing is left to do: so this is no change."""
    installation = read_installation(cluster)
    inventories = read_inventories(cluster)
    if basis_in(cluster, installation, inventories.values()) != plan["basis"]:
        return {
            "changed": False,
            "msg": "another deployment has begun since the plan was made",
        }
    install_definitions(cluster, installation, kinds)
    objects = counted(record_observations(cluster, plan, inventories), "object")
    return {
        "changed": False,
        "msg": f"{objects} as deployed; the fields of others are recorded",
    }
