# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The browser that draws and prints reports."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.cluster import packages
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
