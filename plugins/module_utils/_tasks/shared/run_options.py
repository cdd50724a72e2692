# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of runs of errands, for each task that reconciles errands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._carrier.options import ArgumentSpec
from ..._errands.errand_view import DEFAULT_OPTIONS

RUN_SPEC: ArgumentSpec = {
    "holder_image": {"type": "str", "default": DEFAULT_OPTIONS.holder_image},
    "refused_pod_seconds": {"type": "float", "default": DEFAULT_OPTIONS.refused_pod_seconds},
    "image_pull_seconds": {"type": "float", "default": DEFAULT_OPTIONS.image_pull_seconds},
}
"""The argument spec."""


def run_options(params: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments for :class:`~._errands.errand_view.RunOptions`."""
    return {name: params[name] for name in RUN_SPEC}
