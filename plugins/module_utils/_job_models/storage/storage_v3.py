# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Version 3 of the storage: structured resources, a health check, and the protocol of the port."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .stored_fields import Group, Lines, Number, Patches, Switch, Text, Texts, stored


@dataclass(frozen=True)
class StorageV3:
    """The fields that a ``spec`` of version 3 sets; None for the others."""

    command: str | None = stored("command", Text())
    image: str | None = stored("image", Text())
    resources: Mapping[str, str] | None = stored("resources", Group("memory", "cpu"))
    env: Mapping[str, str] | None = stored("env", Texts())
    mount: Mapping[str, str] | None = stored("mount", Group("claim", "path"))
    retry: int | None = stored("retry", Number())
    schedule: str | None = stored("schedule", Text())
    timezone: str | None = stored("timezone", Text())
    suspend: bool | None = stored("suspend", Switch())
    timeout: int | None = stored("timeout", Number())
    replicas: int | None = stored("replicas", Number())
    port: int | None = stored("port", Number())
    port_protocol: str | None = stored("portProtocol", Text())
    health_check: Mapping[str, str] | None = stored("healthCheck", Group("script", "path"))
    logs: Mapping[str, str] | None = stored("logs", Group("stdout", "stderr"))
    emails: str | None = stored("emails", Text())
    extra: Mapping[str, Any] | None = stored("extra", Patches())
    extra_nulls: Sequence[str] | None = stored("extraNulls", Lines())
    replaces: str | None = stored("replaces", Text())
