# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of a hold: its definition, reading and writing it.

No deployment writes it: only the role of those who hold clusters may, and that role reaches no other record.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._cluster.cluster import API_VERSION, Cluster
from ..._cluster.own_objects import HOLDS
from ..._custom_resources.resource_kind import ResourceKind
from .cluster_hold import Hold
from .record_schema import STORAGE_VERSION
from .record_writer import apply_record

HOLD_KIND, HOLD_NAME = "KymaHold", "kyma"
HOLD_MANAGER = "kyma-lifecycle-hold"
HOLD = ResourceKind(
    Hold,
    HOLD_KIND,
    HOLDS,
    "kyhold",
    "That nothing may be deployed now. There is at most one, `kyma`. Only people write it.",
    [
        ("By", "string", ".spec.by"),
        ("Until", "string", ".spec.until"),
        ("Reason", "string", ".spec.reason"),
        ("Age", "date", ".metadata.creationTimestamp"),
    ],
    wide_columns=[("Since", "string", ".spec.since")],
    storage_version=STORAGE_VERSION,
    only_name=HOLD_NAME,
    required=["spec"],
)


def hold_from(record: Mapping[str, Any] | None) -> Hold | None:
    """The hold in a record, whether in force or not; None if there is no record.

    Raises:
        NewerRecord: a newer version of this collection has written it.
    """
    return None if record is None else HOLD.read(record)


def read_hold(cluster: Cluster) -> Hold | None:
    """The hold of a cluster, whether in force or not; None if it is not held."""
    return hold_from(cluster.get(API_VERSION, HOLD_KIND, HOLD_NAME))


def write_hold(cluster: Cluster, hold: Hold | None) -> None:
    """Record that the cluster is held, or that it no longer is."""
    if hold is None:
        cluster.delete(API_VERSION, HOLD_KIND, HOLD_NAME)
        return
    # Empty fields too: otherwise a field that a person has set with kubectl stays.
    record = HOLD.object_of(hold, is_compact=False)
    apply_record(cluster.with_field_manager(HOLD_MANAGER), HOLD, record, force=True)
