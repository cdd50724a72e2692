# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Releases written to a folder of a test's own, and the tools that render them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.cluster.paths import BIN, ROOT

Write = Callable[[Mapping[str, str]], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes files, by their paths, to the folder ``kyma-2.9``, and answers with it."""

    def write_files(files: Mapping[str, str]) -> Path:
        root = tmp_path / "kyma-2.9"
        root.mkdir(exist_ok=True)
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return root

    return write_files


def _tool(name: str) -> str:
    path = shutil.which(name, path=f"{BIN}{os.pathsep}{os.environ['PATH']}")
    if not path:
        message = f"there is no {name}, neither in {BIN} (make cluster) nor on the PATH"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    return path


@pytest.fixture(scope="session")
def helm() -> str:
    """The helm binary."""
    return _tool("helm")


@pytest.fixture(scope="session")
def kind_program() -> str:
    """The kind binary."""
    return _tool("kind")


@pytest.fixture
def kubectl(monkeypatch: pytest.MonkeyPatch) -> str:
    """The kubectl binary, which is then on the PATH."""
    path = _tool("kubectl")
    monkeypatch.setenv("PATH", str(Path(path).parent), prepend=os.pathsep)
    return path


@pytest.fixture(scope="session")
def real_releases() -> Path:
    """The folder with the real releases of Kyma."""
    data = Path(os.environ.get("KYMA_TEST_DATA") or ROOT.parent / "shared" / "data")
    if not (data / "kyma-releases").is_dir():
        message = f"there are no real releases at {data}: set KYMA_TEST_DATA"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    return data / "kyma-releases"
