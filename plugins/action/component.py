# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs kyma.lifecycle.component in the background, and reports its progress."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..module_utils._release.model import ComponentEntry
from ..module_utils._tasks.component import DEFINITION
from ..plugin_utils._carrier.background_carrier import DEFAULT_DEADLINE, BackgroundCarrier


class ActionModule(BackgroundCarrier):
    """The action plugin of the module of the same name."""

    definition = DEFINITION
    says_failures = True

    def deadline(self, params: Mapping[str, Any], entries: Sequence[ComponentEntry] = ()) -> float:
        """See BackgroundCarrier: the components run one after the other, each with its full time."""
        given = super().deadline(params)
        own = {entry.name: entry.timeout for entry in entries}
        each = [own.get(name) or given for name in params.get("names") or ()]
        return max(DEFAULT_DEADLINE, 4 * sum(each))
