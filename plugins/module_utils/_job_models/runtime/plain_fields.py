# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Removes fields from copies of objects, in place: pure."""

from __future__ import annotations

from ..._cluster.cluster import Object


def remove_fields(fields: Object, *names: str, prefix: str | None = None) -> None:
    """Remove fields by their names, and all whose name has the prefix."""
    for name in list(fields):
        if name in names or (prefix is not None and name.startswith(prefix)):
            del fields[name]
