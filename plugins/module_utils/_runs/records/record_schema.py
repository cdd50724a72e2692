# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What all kinds of record share: their versions, label of owners, actions of a run, and its first state."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from ..._cluster.cluster import GROUP
from ..._custom_resources.storage_version import Record, require_known_version

STORAGE_VERSION = 1
"""The version in which all kinds of record are written.

Each change of a record's fields needs a new version, and a reader that converts older versions."""
OWNER_LABEL = f"{GROUP}/owner"
"""On inventories: their owner."""
DEPLOY, DELETE, MODULES = "deploy", "delete", "modules"
"""What a run does."""
RUNNING = "running"
"""The state of a run without an end."""


class RolloutReference(NamedTuple):
    """The reference of a run to its rollout."""

    ring: Annotated[str, "The ring whose gate let the run begin."] = ""
    release_digest: Annotated[str, "The digest of the release to which the rollout leads."] = ""


def known_record(record: Record) -> Record:
    """A record as it was read.

    Raises:
        NewerRecord: a newer version of this collection has written it.
    """
    return require_known_version(record, STORAGE_VERSION)
