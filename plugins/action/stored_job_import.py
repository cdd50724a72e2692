# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs kyma.lifecycle.stored_job_import in the background, because a cluster may have many jobs."""

from __future__ import annotations

from ..module_utils._tasks.stored_job_import import DEFINITION
from ..plugin_utils._carrier.background_carrier import BackgroundCarrier


class ActionModule(BackgroundCarrier):
    """The action plugin of the module of the same name."""

    definition = DEFINITION
