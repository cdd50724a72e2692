# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page has all that it should, escaped, and nothing that a browser would fetch."""

from __future__ import annotations

import re
from dataclasses import replace
from html import escape, unescape

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.cluster_state import ClusterState
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.command_target import (
    PLACEHOLDER,
    CommandTarget,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._report.model import ClusterReport, RolloutReport
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._report.page import (
    grouped_clusters,
    render_report,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._rollout.next_call import Call, rollout_steps

from tests.support.report_samples import LONG_TEXT, large_run, read_cluster, recorded, run, small_run
from tests.support.rollout_samples import DIGEST, OPENING, WAITING_ROLLOUT

LARGE = read_cluster("live<eu>", [recorded(large_run(), version="2.10", target="2.11")])
SMALL = read_cluster("staging", [recorded(small_run())])


def test_the_same_clusters_give_the_same_page() -> None:
    assert render_report([LARGE, SMALL]) == render_report([LARGE, SMALL])


def test_all_text_is_escaped() -> None:
    page = render_report([LARGE, SMALL], title="<b>mine</b>")
    assert "<script" not in page
    assert escape(LONG_TEXT, quote=False).partition("&#")[0].partition("'")[0] in page
    assert "&lt;b&gt;mine&lt;/b&gt;" in page
    assert "live&lt;eu&gt;" in page


def test_nothing_in_it_is_fetched() -> None:
    page = render_report([LARGE, SMALL])
    assert "default-src 'none'" in page
    assert [link for link in re.findall(r'(?:href|src)="([^"]*)"', page) if link[0] != "#"] == ["data:,"]
    assert not re.search(r"@import|url\(", page)


@pytest.mark.parametrize(
    ("clusters", "title"),
    [
        ([LARGE], "Deploy 2.11 on live<eu>"),
        ([LARGE, SMALL], "Kyma on 2 clusters"),
        ([], "Kyma on 0 clusters"),
    ],
)
def test_the_page_has_the_title_of_its_clusters(clusters: list[ClusterReport], title: str) -> None:
    assert f"<title>{escape(title)}</title>" in render_report(clusters)


def broken(number: int) -> ClusterReport:
    """A cluster whose checkout can't pull its image: another pod on each cluster."""
    pod = f"checkout-5878d48b7-lxpc{'bcdfg'[number]}"
    reason = f"Deployment shop/checkout: 0 of 1; pod {pod}, container main: no pull"
    record = run(seconds=3.0, state="failed", failures=[reason])
    return read_cluster(f"broken-{number}", [recorded(record)])


def test_failed_clusters_are_first_and_equal_reasons_are_together() -> None:
    away = read_cluster("away", [{"unreachable": True, "msg": "no answer"}])
    other = read_cluster("other", [recorded(run(seconds=3.0, state="failed", failures=["no node"]))])
    quiet = [read_cluster(name, [recorded()]) for name in ("q1", "q2")]
    clusters = [quiet[0], broken(0), SMALL, other, broken(1), away, quiet[1], broken(2)]
    names = [[one.name for one in group] for group in grouped_clusters(clusters)]
    assert names == [
        ["broken-0", "broken-1", "broken-2"],
        ["other"],
        ["away"],
        ["staging"],
        ["q1", "q2"],
    ]
    page = text_of(render_report(clusters))
    same = "3 clusters failed, for the same reason: Deployment shop/checkout: 0 of 1; pod checkout, container"
    assert page.count(same) == 1
    assert "2 clusters unchanged broken" not in page
    assert "2 clusters unchanged q1" in page
    assert page.index(same) < page.index("no node") < page.index("no answer") < page.index("2 clusters")


def text_of(page: str) -> str:
    """The text of a page, without its head."""
    body = re.sub(r"<(svg|style).*?</\1>", " ", page.partition("<body>")[2], flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", body)).replace(" ,", ",").split())


def test_a_command_in_a_reason_reaches_the_cluster_and_for_several_no_cluster() -> None:
    held = {**recorded(), "installation": {"version": "2.10", "hold": {"by": "alice", "reason": "a drill"}}}
    clusters = [
        replace(read_cluster(name, [held]), commands=CommandTarget(context=name)) for name in ("eu", "us")
    ]
    page = text_of(render_report(clusters))
    command = "ansible localhost -m kyma.lifecycle.hold -a "
    assert [page.count(f"{command}'state=absent context={one}'") for one in ("eu", "us", PLACEHOLDER)] == [
        1
    ] * 3
    assert page.count(command) == 3
    texts = ["no lease: `kubectl get leases -A` shows it"]
    failed = read_cluster("eu", [recorded(run(seconds=1.0, state="failed", failures=texts))])
    page = text_of(render_report([replace(failed, commands=CommandTarget(context="eu"))]))
    assert "no lease: `kubectl --context eu get leases -A` shows it" in page


def test_the_legend_names_the_colours_that_are_drawn_and_no_others() -> None:
    page = render_report([SMALL])
    legend = page.partition('<ul class="legend">')[2].partition("</ul>")[0]
    named = set(re.findall(r'<i class="([a-z-]+)"', legend))
    drawn = set(re.findall(r'<rect class="bar ([a-z-]+)"', page))
    assert named == drawn
    assert {"part-pre", "part-wait", "kind-module"} <= named


def test_bars_can_be_seen_on_a_light_and_on_a_dark_page() -> None:
    light, _media, dark = render_report([SMALL]).partition("</style>")[0].partition("color-scheme: dark")
    for style_sheet in (light, dark):
        colours = dict(re.findall(r"--([a-z-]+): #([0-9a-f]{3,6})\b", style_sheet))
        bars = {name: contrast(colours[name], colours["card"]) for name in colours if name.startswith("bar-")}
        assert len(bars) == 12
        # The least contrast of graphics by the guidelines for accessibility (WCAG 1.4.11).
        assert {name: ratio for name, ratio in bars.items() if ratio < 3} == {}


def contrast(one: str, other: str) -> float:
    """The contrast of two colours by WCAG, from 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def luminance(colour: str) -> float:
    """How light a colour is, from 0 to 1."""
    digits = colour if len(colour) == 6 else "".join(2 * one for one in colour)
    shares = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (
        share / 12.92 if share <= 0.03928 else ((share + 0.055) / 1.055) ** 2.4 for share in shares
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_a_cluster_without_a_run_has_the_releases_of_the_table() -> None:
    end = ClusterState("eu", "2.9", "2.10", "held", 0.5, ("a drill",))
    text = render_report([ClusterReport(end, version="2.9")])
    assert re.search(r">\s*2\.9 → 2\.10\s*<", text)


def test_a_rollout_has_a_section_with_each_ring_and_from_when() -> None:
    odd = replace(WAITING_ROLLOUT.rings[2], reasons=("<b>because</b>",))
    decided = replace(WAITING_ROLLOUT, rings=(*WAITING_ROLLOUT.rings[:2], odd, *WAITING_ROLLOUT.rings[3:]))
    rollout = RolloutReport(decided, tuple(rollout_steps(decided, Call(), OPENING.tzinfo)))
    cluster = replace(SMALL, end=replace(SMALL.end, cluster="eu-1"))
    page = render_report([cluster, LARGE], rollout=rollout)
    section = page.partition('id="rollout"')[2].partition("</section>")[0]
    texts = [" ".join(one.split()) for one in re.findall(r">([^<>]+)<", section)]
    assert [one for one in texts if one in ("lab", "canary", "early", "rest")] == [
        "lab",
        "canary",
        "early",
        "rest",
    ]
    assert {
        f"Kyma 2.11, release digest {DIGEST}",
        "Run the same command again from 2026-11-27 08:40 UTC (2026-11-27T08:40:00Z), when early may start",
        "waits until 2026-11-27 08:40 UTC (10 clusters)",
        "&lt;b&gt;because&lt;/b&gt;",
        "180 clusters",
        "2026-11-27 05:40 UTC",
    } <= {*texts}
    assert ", ring early</span>" in page
    assert page.count(", ring ") == 1
    assert "Rollout" not in render_report([cluster, LARGE])
