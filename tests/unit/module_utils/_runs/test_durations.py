# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.durations import (
    render_brief_durations,
    render_durations,
)


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


def test_the_short_table_has_the_longest_and_all_that_failed_and_loses_no_time() -> None:
    lines = render_brief_durations(
        [
            row("plan", "plan", 1.26, started_at="2026-11-21T13:18:50.000Z"),
            row("phase", "components", 30.0, started_at="2026-11-21T13:18:55.000Z"),
            row("migration", "a/move", 2.5, "done"),
            *(row("component", f"quick-{number}", 0.5) for number in range(4)),
            *(row("component", f"slow-{number}", 10.0 - number) for number in range(5)),
            row("component", "broken", 0.25, "failed"),
            row("migration", "a/idle", 0.01, "not_needed"),
        ]
    )
    assert lines == [
        "seconds: plan 1.3, components 30.0",
        "what       name      ended      seconds",
        *(f"component  slow-{number}    succeeded  {10.0 - number:7.2f}" for number in range(5)),
        "component  broken    failed        0.25",
        "component  4 others  succeeded     2.00",
        "migration  a/move    done          2.50",
    ]


def test_no_row_stands_for_a_single_one() -> None:
    lines = render_brief_durations(row("component", f"c{number}", 1.0) for number in range(6))
    assert len(lines) == 1 + 6
    assert "others" not in " ".join(lines)
