# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pytest plugin that writes which tests are selected, and which are not, to the file of KYMA_COLLECTED."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

LEFT_OUT: list[str] = []


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    """Record the tests that a marker leaves out."""
    LEFT_OUT.extend(item.nodeid for item in items)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Write the tests that are selected, and those that are not."""
    found = {"selected": [item.nodeid for item in session.items], "left_out": LEFT_OUT}
    Path(os.environ["KYMA_COLLECTED"]).write_text(json.dumps(found), encoding="utf-8")
