# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs kyma.lifecycle.job_store in Ansible's own process if possible."""

from __future__ import annotations

from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.job_store import DEFINITION
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.direct_carrier import DirectCarrier


class ActionModule(DirectCarrier):
    """The action plugin of the module of the same name."""

    definition = DEFINITION
