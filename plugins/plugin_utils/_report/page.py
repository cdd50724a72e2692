# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report as one HTML file. It has no script, and nothing in it makes a browser send a request."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from ...module_utils._runs.cluster_state import STATES
from .advice import next_steps
from .model import ClusterReport, RunReport
from .plain_values import parse_time
from .timeline import duration_text, fleet_timeline, run_timeline

TEMPLATE = "page.html.j2"


def render_report(clusters: Sequence[ClusterReport], title: str = "") -> str:
    """The HTML of a report. The same clusters give the same text.

    Args:
        clusters: of the report, in their order.
        title: its title; by default a sentence on the clusters.
    """
    is_fleet = len(clusters) > 1
    values: dict[str, Any] = {
        "title": title or _title(clusters),
        "subtitle": _subtitle(clusters),
        "counts": _counts(clusters),
        "is_fleet": is_fleet,
        "fleet": fleet_timeline(clusters) if is_fleet else None,
        "clusters": [
            {
                "report": cluster,
                "versions": _versions(cluster),
                "steps": next_steps(cluster),
                "runs": [_run_values(run) for run in cluster.runs],
            }
            for cluster in clusters
        ],
    }
    return _template().render(values)


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
    environment.filters["duration"] = duration_text
    return environment.get_template(TEMPLATE)


def _run_values(run: RunReport) -> dict[str, Any]:
    return {
        "report": run,
        "timeline": run_timeline(run),
        "when": _when(run.started_at, run.finished_at),
        "parts": sorted({part for one in run.components for part in one.parts}),
        "kinds": sorted({one.kind for one in run.work}),
        "migrations": sorted(run.migrations, key=lambda one: (_interest(one.state), one.id)),
        "warnings": [(one.name, text) for one in run.components for text in one.warnings],
    }


def _interest(state: str) -> int:
    """The summary that a person should read first."""
    return {"done": 1, "warned": 0, "not needed": 2}.get(state, 0)


def _title(clusters: Sequence[ClusterReport]) -> str:
    if len(clusters) == 1:
        run = clusters[0].runs[-1] if clusters[0].runs else None
        return f"{run.what if run else 'Kyma'} on {clusters[0].name}"
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
    if not deployed:
        return (
            cluster.version and f"{cluster.version} → {cluster.target}" if cluster.target else cluster.version
        )
    first, last = deployed[0].previous, deployed[-1].version
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
