# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pytest plugin with fixtures for testing migrations, in memory and on a real API server.

Load it in the ``conftest.py`` at the top of the tests::

    pytest_plugins = ["ansible_collections.kyma.lifecycle.plugins.plugin_utils.migration_pytest"]

Fixtures:

``kyma_api_server``
    The ``server`` for ``assert_migration`` and similar functions. A test that takes it runs twice: in memory,
    and, marked ``kyma_real_api_server``, on the cluster of ``KYMA_TEST_KUBECONFIG`` or
    ``--kyma-kubeconfig=PATH``. Without either, that half is skipped. (Do not use ``--kyma-kubeconfig PATH``:
    pytest knows the option only after it has read ``conftest.py``, and takes a separate word for tests.)
``kyma_memory_cluster``
    An empty API server in memory, for tests that need no proof.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from ..module_utils._cluster.http.connection import connect
from ..plugin_utils._migration_testing.api_server import ApiServer, InMemory
from ..plugin_utils._migration_testing.memory_cluster import MemoryCluster
from ..plugin_utils._migration_testing.real_api_server import RealApiServer

MARKER = "kyma_real_api_server"
OPTION = "--kyma-kubeconfig"
VARIABLE = "KYMA_TEST_KUBECONFIG"
"""Not KUBECONFIG: tests must not write to the cluster that a user has in the environment."""


def pytest_addoption(parser: Any) -> None:
    """Add the option."""
    parser.addoption(
        OPTION,
        metavar="PATH",
        default=os.environ.get(VARIABLE, ""),
        help=f"the kubeconfig of a cluster to test migrations on, after a = (default: {VARIABLE})",
    )


def pytest_configure(config: Any) -> None:
    """Add the marker and the fixtures."""
    config.addinivalue_line("markers", f"{MARKER}: needs a real API server ({VARIABLE}, or {OPTION}=PATH)")
    config.pluginmanager.register(_fixtures(), "kyma_migration_fixtures")


def _fixtures() -> ModuleType:
    # pytest is only installed where tests run, and only pytest calls this.
    import pytest

    @pytest.fixture(scope="session")
    def kyma_real_api_server(request: pytest.FixtureRequest) -> Iterator[ApiServer]:
        """A real API server. Objects of tests are deleted at the end."""
        kubeconfig = request.config.getoption(OPTION)
        if not kubeconfig:
            pytest.skip(f"no cluster to test on: name one by {VARIABLE}, or {OPTION}=PATH")
        if not any(Path(one).expanduser().exists() for one in kubeconfig.split(os.pathsep)):
            pytest.fail(f"there is no kubeconfig at {kubeconfig}: see {VARIABLE}, or {OPTION}=PATH", False)
        server = RealApiServer(connect({"kubeconfig": kubeconfig}))
        yield server
        server.close()

    @pytest.fixture(params=["memory", pytest.param("real", marks=getattr(pytest.mark, MARKER))])
    def kyma_api_server(request: pytest.FixtureRequest) -> ApiServer:
        """An API server: first in memory, then a real one."""
        if request.param == "memory":
            return InMemory()
        server: ApiServer = request.getfixturevalue("kyma_real_api_server")
        return server

    @pytest.fixture
    def kyma_memory_cluster() -> MemoryCluster:
        """An empty API server in memory."""
        return MemoryCluster()

    fixtures = ModuleType("kyma_migration_fixtures")
    for fixture in (kyma_real_api_server, kyma_api_server, kyma_memory_cluster):
        setattr(fixtures, fixture.__name__, fixture)
    return fixtures
