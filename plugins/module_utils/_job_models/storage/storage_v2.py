# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Version 2 of the storage: the command and its log files apart. It is only read, never written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .shared_fields import SharedFields
from .storage_v3 import StorageV3
from .stored_fields import Group, Text, Texts, stored


@dataclass(frozen=True)
class StorageV2(SharedFields):
    """The fields that a ``spec`` of version 2 sets; None for the others."""

    command: str | None = stored("command", Text())
    env: Mapping[str, str] | None = stored("env", Texts())
    memory: str | None = stored("memory", Text())
    cpu: str | None = stored("cpu", Text())
    health_script: str | None = stored("healthScript", Text())
    logs: Mapping[str, str] | None = stored("logs", Group("stdout", "stderr"))

    def to_v3(self) -> StorageV3:
        """The same in version 3."""
        values = dict(vars(self))
        script = values.pop("health_script")
        resources = {name: values.pop(name) for name in ("memory", "cpu")}
        return StorageV3(
            **values,
            resources={name: text for name, text in resources.items() if text is not None} or None,
            health_check=None if script is None else {"script": script},
        )
