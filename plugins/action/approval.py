# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs kyma.lifecycle.approval in the background, so that it can be stopped between two objects."""

from __future__ import annotations

from ..module_utils._tasks.approval import DEFINITION
from ..plugin_utils._carrier.background_carrier import BackgroundCarrier


class ActionModule(BackgroundCarrier):
    """The action plugin of the module of the same name."""

    definition = DEFINITION
