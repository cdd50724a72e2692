# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A server for catalogs and manifests, and a cache of a test's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._modules.download_cache import DownloadCache

from tests.support.file_server import FileServer, serve_files


@pytest.fixture
def server(tmp_path: Path) -> Iterator[FileServer]:
    with serve_files(tmp_path / "served") as serving:
        yield serving


@pytest.fixture
def cache(tmp_path: Path) -> DownloadCache:
    return DownloadCache(tmp_path / "cache" / "manifests")
