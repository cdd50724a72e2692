# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of the tasks that show logs of containers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._carrier.options import ArgumentSpec
from ..._errors import LifecycleError

LOG_SPEC: ArgumentSpec = {
    "show_logs": {"type": "bool", "default": False},
    "follow": {"type": "bool", "default": False},
}


def follows_logs(params: Mapping[str, Any]) -> bool:
    """Whether a task shows logs while they are written.

    Raises:
        LifecycleError: the options contradict each other.
    """
    if params["follow"] and not params["show_logs"]:
        raise LifecycleError("follow shows logs, and show_logs is false. Set show_logs: true")
    return bool(params["follow"])
