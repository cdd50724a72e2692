# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pytest plugin that writes which tests each suite selects to the file of KYMA_COLLECTED.

KYMA_SUITES has the suites by their names: each has its folders, and an expression of markers as for `-m`. All
of them are collected at once, as collecting takes most of the time.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict

import pytest
from _pytest.mark import MarkMatcher
from _pytest.mark.expression import Expression


class Suite(TypedDict):
    """The folders of a suite, and its expression of markers."""

    folders: Sequence[str]
    markers: str


LEFT_OUT: list[str] = []


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    """Record the tests that a hook leaves out."""
    LEFT_OUT.extend(item.nodeid for item in items)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Write the tests of each suite, and all that there are."""
    suites: Mapping[str, Suite] = json.loads(os.environ["KYMA_SUITES"])
    node_ids = {name: selected(session.items, suite) for name, suite in suites.items()}
    everything = [*(item.nodeid for item in session.items), *LEFT_OUT]
    Path(os.environ["KYMA_COLLECTED"]).write_text(
        json.dumps({"suites": node_ids, "everything": everything}), encoding="utf-8"
    )


def selected(items: Sequence[pytest.Item], suite: Suite) -> list[str]:
    """Return the tests that pytest would run for a suite."""
    expression = Expression.compile(suite["markers"]) if suite["markers"] else None
    folders = tuple(f"{folder}/" for folder in suite["folders"])
    return [
        item.nodeid
        for item in items
        if item.nodeid.startswith(folders)
        and (expression is None or expression.evaluate(MarkMatcher.from_markers(item.iter_markers())))
    ]
