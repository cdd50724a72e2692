# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The default values of the fields of a job: one table for each release of defaults.

A published table never changes. A new default is a new table with the next number. So the jobs that were
created with an older one are listed as outdated, and are rolled out only when their users ask for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from .field_table import FIELDS

DEFAULTS: Mapping[int, Mapping[str, Any]] = MappingProxyType(
    {1: MappingProxyType({name: one.default for name, one in FIELDS.items() if one.default is not None})}
)
"""By number of the release, the defaults by field. Fields that aren't in the table are empty by default."""

CURRENT_DEFAULTS = max(DEFAULTS)
"""The number of the release of defaults with which jobs are made now."""


def defaults_of(release: int) -> Mapping[str, Any]:
    """The defaults of a release; the current ones if the release is unknown."""
    return DEFAULTS.get(release, DEFAULTS[CURRENT_DEFAULTS])
