# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Markers that assign a test to a suite, and hooks that refuse a test without the marker that it needs.

A test that uses the shared API server has the marker `cluster`. A test that starts a control plane has the
marker `control_plane`. A test that needs real containers has the marker `containers`. Most tests use a
fixture for that, so the check runs when tests are collected. For the others it runs when a test starts a
control plane: `tests.cluster` refuses unless the test has a marker.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import pytest

from tests.cluster.permission import MARKED, MARKERS

MARKER_OF_FIXTURE = {
    "kubeconfig": "cluster",
    "own_cluster": "control_plane",
    "shared_world": "control_plane",
    "rulebook_runner": "rulebook",
    "kind_kubeconfig": "containers",
    "browser": "browser",
}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Refuse tests that use a fixture for a cluster without its marker.

    In a process of `pytest -n`, the reason would not be visible, so each of the tests fails there.
    """
    if "PYTEST_XDIST_WORKER" in os.environ:
        return
    unmarked = [line for item in items for line in missing_markers(item)]
    if unmarked:
        raise pytest.UsageError(
            "Tests lack a marker, so they would run in the wrong suite:\n" + "\n".join(unmarked)
        )


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Fail a test that uses a fixture for a cluster without its marker."""
    unmarked = missing_markers(item)
    if unmarked:
        pytest.fail("\n".join(unmarked), pytrace=False)


def missing_markers(item: pytest.Item) -> list[str]:
    """Return a line for each marker that a test needs and lacks."""
    fixtures: Sequence[str] = getattr(item, "fixturenames", ())
    return [
        f"{item.nodeid} uses the fixture {fixture}: mark it with pytest.mark.{marker}"
        for fixture, marker in MARKER_OF_FIXTURE.items()
        if fixture in fixtures and item.get_closest_marker(marker) is None
    ]


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Record in the environment whether the test may start a control plane."""
    markers = [marker for marker in MARKERS if item.get_closest_marker(marker)]
    before = os.environ.pop(MARKED, None)
    if markers:
        os.environ[MARKED] = ",".join(markers)
    try:
        return (yield)
    finally:
        os.environ.pop(MARKED, None)
        if before is not None:
            os.environ[MARKED] = before
