# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The seconds of a run."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.recorder import run_seconds


def test_a_run_that_a_slow_clock_ends_has_taken_what_was_measured() -> None:
    ahead = (datetime.now(UTC) + timedelta(minutes=5)).strftime("%Y-%m-%dT%H:%M:%SZ")
    phases = {"plan": {"seconds": 3.0}, "lease": {"seconds": 0.1}, "components": {"seconds": 20}}
    spec = {"clock": 0.0, "startedBy": "jane@elsewhere", "startedAt": ahead}
    assert run_seconds(spec, {"phases": phases}) == 23.1
