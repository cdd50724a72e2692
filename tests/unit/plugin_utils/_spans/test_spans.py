# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of durations become spans: their times, their runs, their parents, and why they failed."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._spans.exporter_settings import (
    endpoint_variable,
    protocol_problem,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._spans.result_collector import (
    ResultCollector,
    row_times,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._spans.span_tree import Span

SECOND = 1_000_000_000
ENDED = 1_000 * SECOND
MORNING = 1_795_266_000 * SECOND
"""2026-11-21T13:00:00Z."""


def row(kind: str, name: str, start: int, end: int, state: str = "succeeded", **more: Any) -> dict[str, Any]:
    """A row of durations from one second after 13:00 to another."""
    times = {
        "started_at": f"2026-11-21T13:00:{start:02}.000Z",
        "finished_at": f"2026-11-21T13:00:{end:02}.000Z",
    }
    return {"kind": kind, "name": name, "state": state, "seconds": float(end - start), **times, **more}


def collect(*results: dict[str, Any], cluster: str = "here") -> ResultCollector:
    collector = ResultCollector()
    for result in results:
        collector.add(cluster, result, result.get("durations", ()), ENDED)
    return collector


def shown(spans: list[Span] | tuple[Span, ...]) -> dict[str, Any]:
    """The names of a tree of spans."""
    return {span.name: shown(span.children) for span in spans}


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ({}, (ENDED - 2 * SECOND, ENDED)),
        ({"started_at": "", "finished_at": "not a time"}, (ENDED - 2 * SECOND, ENDED)),
        ({"started_at": "2026-11-21T13:00:00.500Z"}, (MORNING + SECOND // 2, MORNING + 5 * SECOND // 2)),
        ({"finished_at": "2026-11-21T13:00:02.000Z"}, (MORNING, MORNING + 2 * SECOND)),
        (
            {"started_at": "2026-11-21T13:00:00.123Z", "finished_at": "2026-11-21T13:00:02.456Z"},
            (MORNING + 123_000_000, MORNING + 2_456_000_000),
        ),
        # A clock that was set back, and a time without a zone.
        (
            {"started_at": "2026-11-21T13:00:00.000Z", "finished_at": "2026-11-21T12:00:00.000Z"},
            (MORNING, MORNING + 2 * SECOND),
        ),
        ({"started_at": "2026-11-21T13:00:00"}, (ENDED - 2 * SECOND, ENDED)),
    ],
)
def test_missing_times_of_a_row_follow_from_its_seconds(
    times: dict[str, str], expected: tuple[int, int]
) -> None:
    assert row_times({"seconds": 2.0, **times}, ENDED) == expected


def test_each_run_of_a_cluster_has_a_tree() -> None:
    def hop(run: str, version: str, start: int) -> list[dict[str, Any]]:
        migration = row("migration", "shop/move", start + 2, start + 3, "done", component="shop")
        return [
            {"plan": {"version": version}, "durations": [row("plan", "plan", start, start + 1)]},
            {"run": run},
            {"durations": [row("component", "shop", start + 1, start + 4), migration]},
            {
                "run": run,
                "state": "succeeded",
                "durations": [row("phase", "components", start + 1, start + 5)],
            },
        ]

    spans = collect(*hop("r1", "2.10", 0), *hop("r2", "2.11", 10)).spans()
    assert [(one.attributes["kyma.run"], one.attributes["kyma.version"]) for one in spans] == [
        ("r1", "2.10"),
        ("r2", "2.11"),
    ]
    tree = {"plan plan": {}, "phase components": {"component shop": {"migration shop/move": {}}}}
    assert [shown(one.children) for one in spans] == [tree, tree]
    assert [(one.start - MORNING) // SECOND for one in spans] == [0, 10]
    assert [(one.end - MORNING) // SECOND for one in spans] == [5, 15]


def test_without_a_run_and_without_a_phase_all_is_below_the_cluster() -> None:
    rows = [row("migration", "global/all", 0, 1, "not_needed", component="global"), row("errand", "e", 1, 2)]
    collector = collect({"durations": rows})
    collector.add("there", {}, [row("component", "shop", 0, 1)], ENDED)
    here, there = collector.spans()
    assert shown([here, there]) == {
        "cluster here": {"migration global/all": {}, "errand e": {}},
        "cluster there": {"component shop": {}},
    }
    assert here.attributes == {"kyma.cluster": "here", "kyma.kind": "cluster", "kyma.name": "here"}


def test_items_of_loops_and_modules_say_why_they_failed() -> None:
    rows = [
        row("module", "nats", 0, 1, "failed"),
        row("migration", "shop/grow", 0, 1, "blocked", component="shop"),
        row("migration", "shop/late", 0, 1, "timeout", component="shop"),
        row("migration", "shop/skipped", 0, 0, "skipped", component="shop"),
        row("component", "cart", 0, 0, "not started"),
    ]
    item = {
        "components": [{"kind": "module", "name": "nats", "error": "no\nroom"}],
        "migrations": [
            {"id": "shop/grow", "state": "blocked", "evidence": "the disk is glued in", "error": ""},
            {"id": "shop/late", "state": "timeout", "evidence": "it is small", "error": "no end after 5 s"},
        ],
    }
    [cluster] = collect({"results": [item, "no mapping"], "durations": rows}).spans()
    assert {one.name: one.reason for one in cluster.children if one.has_failed} == {
        "module nats": "no room",
        "migration shop/grow": "the disk is glued in",
        "migration shop/late": "no end after 5 s",
    }
    assert len(cluster.children) == 3
    assert (cluster.has_failed, cluster.reason) == (True, "module nats: no room")


def test_the_end_of_a_run_says_why_its_components_failed() -> None:
    task = {"failed": True, "msg": "component cart failed: no room", "components": [{"name": "cart"}]}
    end = {
        "run": "r1",
        "state": "failed",
        "failures": ["component cart: no room: none", "never started: shop"],
        "durations": [row("phase", "components", 0, 1, "failed"), row("component", "cart", 0, 1, "failed")],
    }
    [cluster] = collect({"run": "r1"}, task, end).spans()
    [phase] = cluster.children
    assert [(one.name, one.reason) for one in phase.children] == [("component cart", "no room: none")]


def test_an_errand_says_why_it_failed() -> None:
    message = "Errand shop/reindex: run 7 failed"
    durations = [row("errand", "shop/reindex", 1, 3, "failed")]
    ran = {"run": 7, "failed": True, "msg": message, "durations": durations}
    (cluster,) = collect(ran).spans()
    (errand,) = cluster.children
    assert (errand.name, errand.has_failed, errand.reason) == ("errand shop/reindex", True, message)


@pytest.mark.parametrize(
    ("environ", "name"),
    [
        ({}, ""),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": " "}, ""),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "x"}, "OTEL_EXPORTER_OTLP_ENDPOINT"),
        (
            {"OTEL_EXPORTER_OTLP_ENDPOINT": "x", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "y"},
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
        ),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "x", "OTEL_SDK_DISABLED": "True"}, ""),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "x", "OTEL_TRACES_EXPORTER": "console"}, ""),
        (
            {"OTEL_EXPORTER_OTLP_ENDPOINT": "x", "OTEL_TRACES_EXPORTER": "console, otlp"},
            "OTEL_EXPORTER_OTLP_ENDPOINT",
        ),
    ],
)
def test_the_environment_says_whether_spans_are_exported(environ: dict[str, str], name: str) -> None:
    assert endpoint_variable(environ) == name


def test_only_one_protocol_is_known() -> None:
    general, traces = "OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"
    assert protocol_problem({}) == ""
    assert protocol_problem({general: "grpc", traces: "http/protobuf"}) == ""
    assert protocol_problem({general: "http/protobuf", traces: "http/json"}).startswith(
        f"{traces} is http/json"
    )
