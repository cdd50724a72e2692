# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The end of a playbook as Markdown."""

from __future__ import annotations

from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.cluster_state import ClusterState
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.command_target import CommandTarget
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._last_lines.cluster_table import render_clusters
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._report.markdown import render_markdown
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._report.model import (
    ClusterReport,
    RolloutReport,
    RunReport,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._rollout.next_call import Call, rollout_steps

from tests.support.rollout_samples import OPEN_ROLLOUT

REASONS = (
    "component logging: Deployment shop/loki has no pods | of `kyma`; Pod shop/loki-0: CrashLoopBackOff",
    "never started: tracing (logging failed)",
)
EU = ClusterReport(
    ClusterState("eu_1", "2.9", "2.10", "failed", 12.34, REASONS),
    runs=(RunReport(name="run-1", state="failed"),),
    commands=CommandTarget("", "eu"),
)
US = ClusterReport(ClusterState("us-1", "2.9", "2.10", "succeeded", 8.0))


def test_the_table_has_the_cells_of_the_one_on_the_screen() -> None:
    text = render_markdown([EU, US], "Kyma on 2 clusters", "")
    assert text.startswith(
        "## Kyma on 2 clusters\n\n| cluster | from | to | state | seconds | first reason |\n| --- |"
    )
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    first = REASONS[0].replace("|", "\\|").replace("`", "\\`")
    assert rows[2:] == [
        f"| eu\\_1 | 2.9 | 2.10 | failed | 12.3 | {first} |",
        "| us-1 | 2.9 | 2.10 | succeeded | 8.0 |  |",
    ]
    assert render_clusters([EU.end, US.end])[-1] in text.splitlines()


def test_all_reasons_are_there_with_commands_for_their_cluster() -> None:
    block = render_markdown([EU, US], "Kyma", "/tmp/report.html").split("```")[1]
    assert REASONS[0].partition(": ")[2].partition(";")[0] in block
    assert "\n  kubectl --context eu -n shop " in block
    assert REASONS[1] in block
    assert "report: /tmp/report.html" in block


def test_no_reason_is_left_out_for_want_of_room() -> None:
    many = [
        ClusterReport(ClusterState(f"c-{n}", "2.9", "2.10", "failed", 1.0, (f"reason {n} {'word ' * 100}",)))
        for n in range(40)
    ]
    text = render_markdown(many, "Kyma", "")
    assert all(f"[c-{n}] reason {n} {'word ' * 99}word\n" in text for n in range(40))
    assert "more, in" not in text


def test_a_fence_in_a_reason_ends_no_block() -> None:
    text = render_markdown(
        [ClusterReport(ClusterState("eu", state="failed", failures=("it said ```` </td>",)))], "Kyma", ""
    )
    assert text.count("`````") == 2
    assert "</td>" not in text.partition("`````")[0]


def test_a_cluster_with_nothing_to_do_has_a_line() -> None:
    text = render_markdown([ClusterReport(ClusterState("eu", "2.9", "2.9", "unchanged", 1.0))], "Kyma", "")
    assert "\n1 cluster: 1 unchanged\n" in text
    assert "eu: unchanged, Kyma 2.9, 1.0 s" in text


def test_the_rings_of_a_rollout_have_a_list_and_a_table() -> None:
    rollout = RolloutReport(OPEN_ROLLOUT, tuple(rollout_steps(OPEN_ROLLOUT, Call())), is_over=True)
    reasons = ("early: not deployed yet",)
    waiting = ClusterReport(ClusterState("us-2", "2.10", "2.11", "waiting", failures=reasons))
    lines = render_markdown([EU, waiting], "Kyma", "", rollout).splitlines()
    assert lines[2:10] == [
        "- **canary**: done (2 clusters)",
        "- **early**: may start, 3 to deploy at the next call (3 clusters)",
        "- **rest**: waits for an approval (5 clusters)"
        "; no approval for this release (kyma\\_ring\\_approve)",
        "",
        "| ring | cluster | from → to | state | health | done since, or why not |",
        "| --- | --- | --- | --- | --- | --- |",
        lines[8],
        lines[9],
    ]
    assert lines[8].startswith("| canary | canary-1 | 2.11 | unchanged | healthy | 2026-11-27 ")
    assert "| early | eu-3 | 2.10 → 2.11 | planned | healthy |  |" in lines
    assert "next: approve ring rest with the variables of this call, then run the same command again" in lines
    assert "2 clusters: 1 failed, 1 waiting" in lines
    rows = [line.split(" |")[0].strip("| ") for line in lines if line.startswith("| ")]
    assert rows[-3:] == ["cluster", "---", "eu\\_1"]
    alone = render_markdown([EU, waiting], "Kyma", "").splitlines()
    assert "| us-2 | 2.10 | 2.11 | waiting | 0.0 | early: not deployed yet |" in alone
