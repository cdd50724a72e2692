# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from ansible_collections.kyma.lifecycle.plugins.callback.durations import durations_in

ROW = {"kind": "component", "name": "logging", "state": "succeeded", "seconds": 1.5}


def test_results_and_those_of_items() -> None:
    found = list(durations_in({"durations": [ROW], "results": [{"durations": [ROW]}, {"skipped": True}]}))
    assert found == [{**ROW, "slow": False}] * 2


def test_what_others_call_durations_is_left_alone() -> None:
    assert (
        list(durations_in({"durations": [3, {"name": "x"}, {"kind": "test", "name": "x", "seconds": 1}]}))
        == []
    )
    assert list(durations_in({"durations": None, "results": None})) == []
