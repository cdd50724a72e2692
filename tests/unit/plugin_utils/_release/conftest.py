# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What all tests of releases on the controller share."""

from __future__ import annotations

import pytest
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release import kustomize


@pytest.fixture(autouse=True)
def fresh_tools() -> None:
    """What an earlier test has found on its PATH may not be there in this one."""
    kustomize._tool.cache_clear()
    kustomize.kustomize_version.cache_clear()
