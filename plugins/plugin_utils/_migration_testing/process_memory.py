# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a migration's class and its module hold in the process, apart from code."""

from __future__ import annotations

import sys
from copy import deepcopy
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import Migration

DATA = (type(None), bool, int, float, str, bytes, list, tuple, dict, set, frozenset)


def process_memory(migration: type[Migration]) -> dict[str, Any]:
    """A copy of the data in a migration's class and its module, by name."""
    module = sys.modules.get(migration.__module__)
    places = {f"{migration.__name__}.": vars(migration), "": vars(module) if module else {}}
    return {
        prefix + name: deepcopy(value)
        for prefix, members in places.items()
        for name, value in members.items()
        if isinstance(value, DATA) and not name.startswith("__")
    }
