# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The browser that draws and prints reports, and the site that it opens."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster import packages
from tests.make import setup
from tests.make.site.build import HTML, build_site
from tests.support.browser import ARGUMENTS, PROGRAM, why_no_browser
from tests.support.needs import skip


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A headless Chromium."""
    if reason := why_no_browser():
        skip(reason)
    driver = pytest.importorskip("playwright.sync_api")
    with driver.sync_playwright() as running:
        program = str(packages.find(PROGRAM))
        started = running.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        yield started
        started.close()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built site."""
    setup.for_documentation()
    folder = tmp_path_factory.mktemp("site") / "site"
    outcome = build_site(folder)
    assert not outcome.failed, outcome.note
    return folder / HTML
