# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The default cluster: the user's, or one of ours."""

from __future__ import annotations

import os
from pathlib import Path

from . import paths


def is_users() -> bool:
    """Say whether KUBECONFIG names a cluster that isn't one of ours."""
    named = [Path(part).resolve() for part in os.environ.get("KUBECONFIG", "").split(os.pathsep) if part]
    ours = {paths.KUBECONFIG.resolve(), paths.KIND_KUBECONFIG.resolve()}
    return bool(set(named) - ours)
