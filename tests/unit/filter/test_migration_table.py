# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One table of what several clusters told of their migrations."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.filter.migration_table import (
    LONGEST_REASON,
    FilterModule,
    migration_table,
)


def entry(identity: str, verdict: str, evidence: str = "because", **more: Any) -> dict[str, Any]:
    never = {"last_run": "", "last_run_at": "", "last_seconds": 0.0, "undone": "", "irreversible": ""}
    what = {"id": identity, "verdict": verdict, "evidence": evidence, "error": "", "remove_in": "2.12"}
    return {**what, **never, **more}


def test_each_cluster_has_a_line_and_each_migration_an_end() -> None:
    ran = {"last_run": "r1", "last_run_at": "2026-11-21T13:18:54Z", "last_seconds": 3.42}
    clusters = {
        "staging": {"migrations": [entry("b/two", "not_needed", **ran), entry("a/one", "needed")]},
        "canary": {
            "migrations": [
                entry("a/one", "blocked", "the disk\nis glued in"),
                entry("b/two", "", "", error="the check broke", remove_in=""),
            ]
        },
        "far": {"unreachable": True, "msg": "no route to host"},
        "away": {"failed": True, "msg": "the API server does not answer"},
    }
    lines = [[cell.strip() for cell in line.split("  ") if cell] for line in migration_table(clusters)]
    assert lines == [
        ["migration", "removal", "cluster", "verdict", "last ran", "seconds", "undone", "why"],
        ["a/one", "2.12", "canary", "blocked", "not recorded", "the disk is glued in"],
        ["a/one", "2.12", "staging", "needed", "not recorded", "because"],
        ["b/two", "stays", "canary", "not known", "not recorded", "the check broke"],
        ["b/two", "2.12", "staging", "not needed", "2026-11-21T13:18:54Z", "3.4", "no", "because"],
        ["?", "far", "not known", "no route to host"],
        ["?", "away", "not known", "the API server does not answer"],
        [],
        ["a/one: needed by canary, staging; unknown for far, away"],
        ["b/two: unknown for canary, far, away"],
    ]


@pytest.mark.parametrize(
    ("state", "irreversible", "cell"),
    [
        ("", "", "no"),
        ("", "A disk can't shrink.", "not all can be"),
        ("undone", "", "yes"),
        ("partly", "A disk can't shrink.", "in part"),
        ("failed", "", "failed"),
    ],
)
def test_a_migration_that_has_run_says_how_far_it_is_undone(state: str, irreversible: str, cell: str) -> None:
    ran = entry("a/one", "needed", last_run="r1", undone=state, irreversible=irreversible)
    [head, line, *_rest] = migration_table({"x": {"migrations": [ran]}})
    assert line[head.index("undone") : head.index("why")].strip() == cell


def test_a_migration_that_no_cluster_needs_may_go() -> None:
    clusters = {name: {"migrations": [entry("a/one", "not_needed")]} for name in ("x", "y")}
    assert migration_table(clusters)[-1] == "a/one: no cluster needs it"


def test_a_long_reason_is_cut() -> None:
    [_head, line, *_rest] = migration_table({"x": {"migrations": [entry("a/one", "needed", "w" * 1000)]}})
    assert line.endswith("w... (1000 characters)")
    assert len(line) < 100 + LONGEST_REASON


def test_a_cluster_that_was_never_read_has_a_line() -> None:
    assert "it was not asked" in migration_table({"x": {}})[1]


def test_the_filter_has_its_name() -> None:
    assert FilterModule().filters() == {"migration_table": migration_table}
