# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kit at work on the two migrations of the collection, on a real API server."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.connection import connect
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.real_api_server import (
    RealApiServer,
)

from tests.support.extent import IS_FULL
from tests.support.real_migrations import Places, ProofsOfGrowth, ProofsOfTheRealOnes


@pytest.fixture(scope="module")
def shared(kubeconfig: str) -> Iterator[Places]:
    """One namespace for all: it takes five seconds to go."""
    server = RealApiServer(connect({"kubeconfig": kubeconfig}))
    name = f"test-{secrets.token_hex(4)}"
    yield Places(server, name, f"{name}.istio.test", f"{name}-disks")
    server.close()


@pytest.mark.cluster
class TestOnARealApiServer(ProofsOfTheRealOnes):
    @pytest.fixture
    def places(self, shared: Places) -> Places:
        return shared


if IS_FULL:

    @pytest.mark.cluster
    class TestGrowthOnARealApiServer(ProofsOfGrowth):
        @pytest.fixture
        def places(self, shared: Places) -> Places:
            return shared
