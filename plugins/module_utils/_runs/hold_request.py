# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task ``run`` with ``state=held`` and ``state=released``: that nothing is to be deployed."""

from __future__ import annotations

from datetime import UTC, datetime

from .._carrier.task import Result, Task
from .records.definitions import RecordKinds, install_definitions
from .records.hold import new_hold
from .records.installation import read_installation, write_hold
from .records.record_writer import current_user


def hold_cluster(task: Task, kinds: RecordKinds, reason: str, until: str) -> Result:
    """Let no deployment begin until a person releases the cluster, or until that time.

    Args:
        task: that holds the cluster.
        kinds: of the records that the cluster is to have.
        reason: why, in the user's words, or empty.
        until: when the hold ends, as the user says it; empty means that a person has to end it.
    """
    now = datetime.now(UTC)
    installation = read_installation(task.cluster)
    before = installation.hold
    hold = new_hold(current_user(), reason, until, now)
    if before and before.is_in_force(now) and (before.reason, before.until) == (hold.reason, hold.until):
        return {"changed": False, "msg": str(before)}
    if not task.check_mode:
        install_definitions(task.cluster, installation, kinds)
        write_hold(task.cluster, hold)
    return {"changed": True, "msg": str(hold)}


def release_cluster(task: Task) -> Result:
    """Let deployments begin again."""
    before = read_installation(task.cluster).hold
    if before is None:
        return {"changed": False, "msg": "the cluster is not held"}
    if not task.check_mode:
        write_hold(task.cluster, None)
    return {"changed": True, "msg": f"released; before, {before}"}
