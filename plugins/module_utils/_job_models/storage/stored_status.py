# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The status of a definition: the job's runtime objects and its last run. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from ..._custom_resources.conditions import Conditions, ObservedGeneration

RUN = "Run"
"""The kind of the entry that records which fields the last Job of a one-off job ran with."""


@dataclass(frozen=True)
class WrittenObject:
    """A runtime object as we last wrote it."""

    kind: Annotated[str, "The kind of the object."]
    name: Annotated[str, "The name of the object."]
    uid: Annotated[str, "The uid of the object."] = ""
    resource_version: Annotated[str, "The version of the object after the last write."] = ""
    digest: Annotated[str, "A hash of what was written."] = ""


@dataclass(frozen=True)
class StoredStatus:
    """The known state of a definition's job."""

    objects: Annotated[tuple[WrittenObject, ...], "The runtime objects as they were last written."] = ()
    run: Annotated[
        int, "The number of the last run of a one-off job, even if its Job is gone. 0 for none."
    ] = 0
    defaults: Annotated[
        int, "The release of the defaults that the runtime objects were built with. 0 for none."
    ] = 0
    history: Annotated[tuple[Mapping[str, Any], ...], "The runs that have ended, the newest first."] = ()
    message: Annotated[str, "Why the job is not ready, in a sentence. Empty if it is."] = ""
    reason: Annotated[str, "Why the job is not ready, in one word. Empty if it is."] = ""
    conditions: Conditions = ()
    observed_generation: ObservedGeneration = 0

    @property
    def has_failed(self) -> bool:
        """Whether the last run is known to have failed."""
        return any(one.get("run") == self.run and one.get("succeeded") is False for one in self.history)

    def known(self, kind: str) -> WrittenObject | None:
        """The known state of the object of a kind."""
        return next((one for one in self.objects if one.kind == kind), None)
