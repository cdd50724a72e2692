# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.durations import render_durations


def row(kind: str, name: str, seconds: float, state: str = "succeeded", **more: Any) -> dict[str, Any]:
    return {"kind": kind, "name": name, "state": state, "seconds": seconds, **more}


def test_phases_in_their_order_then_the_longest_first() -> None:
    lines = render_durations(
        [
            row("migration", "logging/grow-loki-volume", 0.25, "not_needed", slow=True),
            row("component", "serverless", 3.0),
            row("phase", "global pre", 0.5),
            row("component", "istio", 112.345, "failed"),
            row("phase", "components", 130.0),
        ]
    )
    assert lines == [
        "what       name                      ended                           seconds",
        "phase      global pre                succeeded                          0.50",
        "phase      components                succeeded                        130.00",
        "component  istio                     failed                           112.34",
        "component  serverless                succeeded                          3.00",
        "migration  logging/grow-loki-volume  not needed, but slow to say so     0.25",
    ]


def test_no_rows_no_table() -> None:
    assert render_durations([]) == []
