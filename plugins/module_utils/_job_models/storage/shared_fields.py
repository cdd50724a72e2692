# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fields that all versions of the storage have alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .stored_fields import Group, Lines, Number, Patches, Switch, Text, stored


@dataclass(frozen=True)
class SharedFields:
    """The fields of a ``spec`` that each version sets alike; None for those that it does not set.

    A new version that stores one of them in another way takes it away from here, and leaves it to the older
    versions.
    """

    image: str | None = stored("image", Text())
    mount: Mapping[str, str] | None = stored("mount", Group("claim", "path"))
    retry: int | None = stored("retry", Number())
    schedule: str | None = stored("schedule", Text())
    timezone: str | None = stored("timezone", Text())
    suspend: bool | None = stored("suspend", Switch())
    timeout: int | None = stored("timeout", Number())
    replicas: int | None = stored("replicas", Number())
    port: int | None = stored("port", Number())
    emails: str | None = stored("emails", Text())
    extra: Mapping[str, Any] | None = stored("extra", Patches())
    extra_nulls: Sequence[str] | None = stored("extraNulls", Lines())
    replaces: str | None = stored("replaces", Text())
