# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report as one HTML file. It has no script, and nothing in it makes a browser send a request."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from ...module_utils._objects.health.named_pods import without_random_names
from ...module_utils._runs.cluster_state import STATES
from ...module_utils._runs.hop_lines import describe_way
from ...module_utils._timestamp import parse_time
from .._carrier.command_target import PLACEHOLDER, CommandTarget
from .._rollout.ring_views import HEAD, ring_views
from .advice import next_steps
from .model import ClusterReport, RolloutReport, RunReport
from .timeline import NEUTRAL, Timeline, duration_text, fleet_timeline, run_timeline, tone

TEMPLATE = "page.html.j2"
ANY_CLUSTER = CommandTarget(context=PLACEHOLDER, variables={"kyma_context": PLACEHOLDER})
LEGEND = {
    "kind-phase": "phase",
    "kind-component": "component",
    "part-pre": "migrations before",
    "part-apply": "apply",
    "part-wait": "wait until healthy",
    "part-post": "migrations after",
    "part-narrow": "narrow definitions",
    "kind-migration": "migration",
    "kind-module": "module",
    "kind-errand": "errand",
}


def render_report(
    clusters: Sequence[ClusterReport], title: str = "", rollout: RolloutReport | None = None
) -> str:
    """The HTML of a report. The same clusters give the same text.

    Args:
        clusters: of the report.
        title: its title; by default a sentence on the clusters.
        rollout: None without rings.
    """
    groups = grouped_clusters(clusters)
    ordered = [cluster for group in groups for cluster in group]
    fleet = fleet_timeline(ordered) if len(ordered) > 1 else None
    values: dict[str, Any] = {
        "title": title or title_of(clusters),
        "subtitle": _subtitle(clusters),
        "counts": _counts(clusters),
        "is_fleet": fleet is not None,
        "fleet": fleet,
        "rollout": _rollout_values(rollout) if rollout else None,
        "ring_of": rollout.ring_of if rollout else {},
        "fleet_legend": [(f"tone-{NEUTRAL}", "another run")] if fleet and _has_other_runs(fleet) else [],
        "clusters": [
            {
                "report": cluster,
                # A group begins with its size.
                "group_size": len(group) if cluster is group[0] else 0 if len(group) > 1 else 1,
                "group_reason": ANY_CLUSTER.complete(without_random_names(cluster.end.reason)),
                "versions": _versions(cluster),
                "steps": next_steps(cluster),
                "way": describe_way(cluster.end),
                "runs": [_run_values(run) for run in cluster.runs],
            }
            for group in groups
            for cluster in group
        ],
    }
    return _template().render(values)


def _rollout_values(rollout: RolloutReport) -> dict[str, Any]:
    return {
        "decided": rollout.decided,
        "rings": ring_views(rollout.decided, UTC, is_over=rollout.is_over),
        "head": HEAD,
        "steps": [replace(one, text=_sentence(one.text.removeprefix("next: "))) for one in rollout.steps],
    }


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def grouped_clusters(clusters: Sequence[ClusterReport]) -> list[list[ClusterReport]]:
    """Clusters with the same state for the same reason, in the order in which a person should read them."""
    groups: dict[tuple[str, str], list[ClusterReport]] = {}
    for one in clusters:
        groups.setdefault((one.state, without_random_names(one.end.reason)), []).append(one)
    rank = {state: number for number, state in enumerate(STATES)}
    return sorted(groups.values(), key=lambda group: (rank.get(group[0].state, len(rank)), -len(group)))


def _has_other_runs(fleet: Timeline) -> bool:
    return any(one.style == f"tone-{NEUTRAL}" for lane in fleet.lanes for one in lane.bars)


@functools.cache
def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"duration": duration_text, "tone": tone}
    return environment.get_template(TEMPLATE)


def _run_values(run: RunReport) -> dict[str, Any]:
    timeline = run_timeline(run)
    return {
        "report": run,
        "timeline": timeline,
        "legend": _legend(timeline),
        "when": _when(run.started_at, run.finished_at),
        "parts": sorted({part for one in run.components for part in one.phases}),
        "migrations": sorted(run.migrations, key=lambda one: (_interest(one.state), one.id)),
        "warnings": [(one.name, text) for one in run.components for text in one.warnings],
    }


def _legend(timeline: Timeline) -> list[tuple[str, str]]:
    """The colours of the bars that are drawn, with their meaning."""
    drawn = {one.style.replace("plan", "phase") for lane in timeline.lanes for one in lane.bars}
    states: dict[str, str] = {}
    for lane in timeline.lanes:
        if lane.bars and lane.bars[0].style.startswith("tone-"):
            states.setdefault(lane.state, lane.bars[0].style)
    return [(style, text) for style, text in LEGEND.items() if style in drawn] + [
        (style, state) for state, style in states.items()
    ]


def _interest(state: str) -> int:
    """The summary that a person should read first."""
    return {"done": 1, "warned": 0, "not needed": 2}.get(state, 0)


def title_of(clusters: Sequence[ClusterReport]) -> str:
    """The title of a report for which the user gives none."""
    if len(clusters) == 1:
        run = clusters[0].runs[-1] if clusters[0].runs else None
        what = run.what if run else "Kyma"
        if run and len(clusters[0].end.hops) > 1:
            # The last run may be that of a release on the way.
            what = what.replace(run.version, clusters[0].end.version)
        return f"{what} on {clusters[0].name}"
    return f"Kyma on {len(clusters)} clusters"


def _subtitle(clusters: Sequence[ClusterReport]) -> str:
    runs = [run for cluster in clusters for run in cluster.runs]
    started = min((run.started_at for run in runs if run.started_at), default="")
    finished = max((run.finished_at for run in runs), default="")
    return _when(started, finished)


def _counts(clusters: Sequence[ClusterReport]) -> list[tuple[str, int]]:
    counts = Counter(cluster.state for cluster in clusters)
    return [(state, counts[state]) for state in STATES if counts[state]]


def _versions(cluster: ClusterReport) -> str:
    deployed = [run for run in cluster.runs if run.version and run.what.startswith("Deploy")]
    if deployed and not cluster.end.hops:
        first, last = deployed[0].previous, deployed[-1].version
    elif cluster.end.version:
        first, last = cluster.end.previous, cluster.end.version
    else:
        first, last = cluster.version, cluster.target or cluster.version
    return f"{first} → {last}" if first and first != last else last


def _when(started: str, finished: str) -> str:
    """The time from a start to an end, for people, in UTC."""
    begin, end = parse_time(started), parse_time(finished)
    if begin is None:
        return ""
    begin = begin.astimezone(UTC)
    text = f"{begin:%Y-%m-%d %H:%M:%S}"
    if end is None:
        return f"{text} UTC"
    return f"{text} to {_clock(end.astimezone(UTC), begin)} UTC"


def _clock(moment: datetime, before: datetime) -> str:
    return f"{moment:%H:%M:%S}" if moment.date() == before.date() else f"{moment:%Y-%m-%d %H:%M:%S}"
