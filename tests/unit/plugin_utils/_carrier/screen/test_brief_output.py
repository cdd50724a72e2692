# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a terminal shows of a result without ``-v``."""

from __future__ import annotations

from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.durations import (
    render_brief_durations,
    render_durations,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.screen.brief_output import (
    WIDTH,
    brief_summary,
    brief_warnings,
)

WRITTEN = "ServiceMonitor a/b: written without server-side apply, which can't read this manifest: x"
DUPLICATE = "monitoring.yaml:36696: the key 'securityContext' is there twice; the last one counts"
SERVER = 'the API server warns: unknown field "spec.path" (create ServiceMonitor a/b)'
UPGRADE = "  upgrade   istio  2 to change"
SUM = "Plan: 6 to create, 2 to change, 0 to delete, 0 migrations"


def brief_plan(*lines: str) -> list[str]:
    return brief_summary({"plan": {}, "summary": ["Kyma 2.11:", *lines, SUM]})[1:-1]


def test_components_that_are_only_installed_share_lines_with_all_names_and_counts() -> None:
    lines = [f"  install   component-{number:02}  {number} to create" for number in range(1, 31)]
    shown = brief_plan(*lines, UPGRADE)
    assert shown.pop() == UPGRADE
    assert shown[0].startswith("  install   30 components, 465 to create: component-01 1, component-02 2,")
    assert len(shown) < 10
    assert all(len(line) <= WIDTH for line in shown)
    words = " ".join(shown).replace(",", "").split()
    assert words[6:] == [word for n in range(1, 31) for word in (f"component-{n:02}", str(n))]


def test_a_component_with_more_to_say_has_its_own_line() -> None:
    explained = [
        "  install   b  2 to create, 1 to change",
        "  install   c  1 to create",
        "              drift: d",
    ]
    assert brief_plan("  install   a  1 to create", *explained) == ["  install   a  1 to create", *explained]


def test_a_note_of_the_components_task_is_not_repeated_in_the_plan() -> None:
    assert brief_plan(UPGRADE, f"              note: {WRITTEN}") == [UPGRADE]
    assert brief_plan(UPGRADE, "              note: else") == [UPGRADE, "              note: else"]


def test_a_table_is_the_short_one_and_all_else_stays() -> None:
    rows = [{"kind": "component", "name": f"c{n}", "state": "succeeded", "seconds": 1.0} for n in range(9)]
    result = {"durations": rows, "summary": ["Kyma 2.11: succeeded", *render_durations(rows)]}
    assert brief_summary(result) == ["Kyma 2.11: succeeded", *render_brief_durations(rows)]
    assert brief_summary({"durations": rows, "summary": ["else"]}) == ["else"]
    assert brief_summary({}) == []


def test_the_end_of_a_run_that_has_failed_is_left_to_the_last_lines() -> None:
    rows = [{"kind": "component", "name": "a", "state": "failed", "seconds": 1.0}]
    result = {"durations": rows, "summary": ["Kyma 2.11: failed", *render_durations(rows)]}
    assert brief_summary({**result, "failures": ["component a: no room"]}) == []


def test_warnings_about_manifests_are_one_and_no_other_is_lost() -> None:
    assert brief_warnings([DUPLICATE, "did you mean kyma_release?", SERVER, WRITTEN]) == [
        "did you mean kyma_release?",
        f"3 warnings about manifests of the release (-v shows all): {DUPLICATE}",
    ]
    assert brief_warnings([SERVER]) == [SERVER]
