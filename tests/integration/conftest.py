# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The order of the tests with clusters."""

from __future__ import annotations

import pytest

FIRST = ("tests/integration/playbook/", "tests/integration/modules/")
"""Folders with clusters of their own. Their files take longest, so the short ones fill what is left."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort the tests, so that a cluster that several files share does not idle beside those that don't."""
    items.sort(key=lambda item: [not item.nodeid.startswith(folder) for folder in FIRST])
