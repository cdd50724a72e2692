# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kit at work on the two migrations of the collection, in memory."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from ansible_collections.kyma.lifecycle.plugins.plugin_utils.migration_testing import InMemory

from tests.support.real_migrations import Places, ProofsOfGrowth, ProofsOfTheRealOnes


class TestInMemory(ProofsOfTheRealOnes, ProofsOfGrowth):
    @pytest.fixture
    def places(self) -> Iterator[Places]:
        return Places(InMemory(), "kyma-system", "networking.istio.io", "fast")
