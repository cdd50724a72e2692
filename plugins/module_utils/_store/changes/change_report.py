# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The results of a change of a job."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ..._cluster.cluster import Object
from ..._job_models.core_job import JobKey


class OnFailure(StrEnum):
    """What happens to a change whose runtime objects the API server refuses."""

    ROLLBACK = "rollback"
    """The definition and the runtime objects are as before; a new definition is deleted."""
    KEEP = "keep"
    """The definition stays, and its status has the reason."""


class Action(StrEnum):
    """The action on a job."""

    CREATED = "created"
    UPDATED = "updated"
    REPLACED = "replaced"
    """Updated, for which its Deployment was deleted and created again."""
    UNCHANGED = "unchanged"
    DELETED = "deleted"
    RESTARTED = "restarted"
    SUSPENDED = "suspended"
    REFUSED = "refused"
    """It may not be changed, or the API server has refused the change."""


@dataclass(frozen=True)
class ChangeReport:
    """The result of a change of a job, real or in check mode.

    Attributes:
        key: of the job.
        action: what was done.
        changed: whether its definition or its runtime objects changed.
        before, after: its type and its fields; None if there is no job.
        is_adoption: whether its definition was created from what runs, with the fields of ``before``.
        message: what was done to which object, or why it was refused, in sentences.
        reason: of a refusal by the API server, in one word, such as ``OutOfQuota``.
        warnings: one sentence each.
        is_started: whether what creates pods was written, so that it takes them to succeed.
    """

    key: JobKey
    action: Action
    changed: bool = False
    before: Object | None = None
    after: Object | None = None
    is_adoption: bool = False
    message: str = ""
    reason: str = ""
    warnings: tuple[str, ...] = ()
    is_started: bool = False
