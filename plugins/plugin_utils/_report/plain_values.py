# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads times and texts from results: pure."""

from __future__ import annotations

from ...module_utils._text import without_controls


def plain_text(value: object) -> str:
    """A text without control characters; empty for None."""
    return "" if value is None else without_controls(str(value))
