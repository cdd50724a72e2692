# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which tests may start a cluster: those with a marker for it, because suites are selected by markers."""

from __future__ import annotations

import os

from .errors import ClusterError

MARKERS = ("cluster", "control_plane", "containers")
MARKED = "KYMA_TEST_MARKED"
"""The variable that names the running test's markers; see tests/support/suite_markers.py."""
RUNNING_TEST = "PYTEST_CURRENT_TEST"
"""The variable in which pytest names the running test."""


def check() -> None:
    """Refuse to start a cluster for a test without one of the markers."""
    test = os.environ.get(RUNNING_TEST, "")
    if test and not os.environ.get(MARKED):
        raise ClusterError(f"{test} starts a control plane: mark it with pytest.mark.control_plane.")
