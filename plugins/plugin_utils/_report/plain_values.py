# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts of results without control characters: pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...module_utils._text import without_controls


def plain_text(value: object) -> str:
    """A text without control characters; empty for None."""
    return "" if value is None else without_controls(str(value))


def plain_values(value: Any) -> Any:
    """A result, with all of its texts without control characters."""
    if isinstance(value, str):
        return plain_text(value)
    if isinstance(value, Mapping):
        return {key: plain_values(item) for key, item in value.items()}
    return [plain_values(item) for item in value] if isinstance(value, list) else value
