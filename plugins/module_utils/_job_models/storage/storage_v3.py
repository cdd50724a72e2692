# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Version 3 of the storage: structured resources, a health check, and the protocol of the port.

It is only read, never written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .shared_fields import SharedFields
from .storage_v4 import StorageV4
from .stored_fields import Group, Text, Texts, stored


@dataclass(frozen=True)
class StorageV3(SharedFields):
    """The fields that a ``spec`` of version 3 sets; None for the others."""

    command: str | None = stored("command", Text())
    env: Mapping[str, str] | None = stored("env", Texts())
    resources: Mapping[str, str] | None = stored("resources", Group("memory", "cpu"))
    port_protocol: str | None = stored("portProtocol", Text())
    health_check: Mapping[str, str] | None = stored("healthCheck", Group("script", "path"))
    logs: Mapping[str, str] | None = stored("logs", Group("stdout", "stderr"))

    def to_v4(self) -> StorageV4:
        """The same in version 4, which has more fields."""
        return StorageV4(**vars(self))
