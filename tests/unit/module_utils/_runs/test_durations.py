# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.durations import render_durations


def row(kind: str, name: str, seconds: float, state: str = "succeeded", **more: Any) -> dict[str, Any]:
    return {"kind": kind, "name": name, "state": state, "seconds": seconds, **more}


def test_phases_in_their_order_and_their_total_then_the_longest_first() -> None:
    lines = render_durations(
        [
            row("migration", "logging/grow-loki-volume", 0.25, "not_needed", slow=True),
            row("migration", "logging/quick", 0.01, "not_needed"),
            row("migration", "istio/move", 2.5, "done"),
            row("component", "serverless", 3.0),
            row("phase", "other", 0.3),
            row("phase", "components", 130.0, started_at="2026-11-21T13:18:55.000Z"),
            row("phase", "global pre", 0.5, started_at="2026-11-21T13:18:54.500Z"),
            row("component", "istio", 112.345, "failed"),
            row("plan", "plan", 1.2, started_at="2026-11-21T13:18:50.000Z"),
        ]
    )
    assert lines == [
        "what       name                      ended                           seconds",
        "plan       plan                      succeeded                          1.20",
        "phase      global pre                succeeded                          0.50",
        "phase      components                succeeded                        130.00",
        "phase      other                     succeeded                          0.30",
        "total      plan and phases                                            132.00",
        "component  istio                     failed                           112.34",
        "component  serverless                succeeded                          3.00",
        "migration  istio/move                done                               2.50",
        "migration  logging/grow-loki-volume  not needed, but slow to say so     0.25",
        "sum        3 migrations                                                 2.76",
    ]


def test_without_a_phase_there_is_no_total() -> None:
    lines = render_durations([row("module", "docker-registry", 3.0)])
    assert [line.split()[0] for line in lines] == ["what", "module"]


def test_no_rows_no_table() -> None:
    assert render_durations([]) == []
