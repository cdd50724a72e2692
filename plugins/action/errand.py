# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs kyma.lifecycle.errand in the background, because runs take time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..module_utils._release.model import ComponentEntry
from ..module_utils._tasks.errand import DEFINITION
from ..plugin_utils._carrier.background_carrier import BackgroundCarrier

INSTALL_SECONDS = 120.0
"""Seconds for everything but waiting for the run."""


class ActionModule(BackgroundCarrier):
    """The action plugin of the module of the same name."""

    definition = DEFINITION
    checks_variables = True

    def deadline(self, params: Mapping[str, Any], entries: Sequence[ComponentEntry] = ()) -> float:
        """See BackgroundCarrier: it may install the definition before it waits."""
        return super().deadline(params, entries) + INSTALL_SECONDS
