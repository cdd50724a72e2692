# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The status of a definition: the job's runtime objects and its last run. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

RUN = "Run"
"""The kind of the entry that records which fields the last Job of a one-off job ran with."""


@dataclass(frozen=True)
class WrittenObject:
    """A runtime object as we last wrote it.

    Attributes:
        kind, name, uid: of the object.
        resource_version: of the object after our write.
        digest: of the intended object, see :func:`..json_digest.json_digest`.
    """

    kind: str
    name: str
    uid: str = ""
    resource_version: str = ""
    digest: str = ""


@dataclass(frozen=True)
class StoredStatus:
    """The known state of a definition's job.

    Attributes:
        objects: the runtime objects as we last wrote them.
        run: the number of the last run of a one-off job, even if its Job is gone; 0 if it never ran.
        defaults: the release of defaults that the runtime objects were built with; 0 if none was built yet.
        history: the runs that have ended, the newest first.
        message, reason: why the job is not ready; empty if it is.
        conditions: as the status has them.
        observed_generation: of the definition's ``metadata`` when the status was written.
    """

    objects: tuple[WrittenObject, ...] = ()
    run: int = 0
    defaults: int = 0
    history: tuple[Mapping[str, Any], ...] = ()
    message: str = ""
    reason: str = ""
    conditions: tuple[Mapping[str, Any], ...] = ()
    observed_generation: int = 0

    @property
    def has_failed(self) -> bool:
        """Whether the last run is known to have failed."""
        return any(one.get("run") == self.run and one.get("succeeded") is False for one in self.history)

    def known(self, kind: str) -> WrittenObject | None:
        """The known state of the object of a kind."""
        return next((one for one in self.objects if one.kind == kind), None)
