# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Copies of objects, several times faster than ``copy.deepcopy``, which checks for cycles and classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

T = TypeVar("T")


def deep_copy(value: T) -> T:
    """A copy of a value of JSON's types, which shares no dict and no list with it."""
    if isinstance(value, dict):
        return cast(
            "T", {key: item if isinstance(item, str) else deep_copy(item) for key, item in value.items()}
        )
    if isinstance(value, list):
        return cast("T", [deep_copy(item) for item in value])
    return value


def without_nulls(value: Any) -> Any:
    """A deep copy without the fields that are null: for Kubernetes they do not exist."""
    if isinstance(value, Mapping):
        return {name: without_nulls(child) for name, child in value.items() if child is not None}
    return [without_nulls(item) for item in value] if isinstance(value, (list, tuple)) else value
