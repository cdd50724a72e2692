# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The end of a playbook as Markdown, for a ticket, a chat or the page of a CI job: pure."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

from ...module_utils._runs.cluster_state import WAITING
from .._last_lines.closing_lines import render_summary
from .._last_lines.cluster_table import HEAD, cells_of, sums_of
from .._last_lines.playbook_summary import summarize
from .._rollout.ring_views import HEAD as RING_HEAD
from .._rollout.ring_views import ring_views
from .model import ClusterReport, RolloutReport

UNLIMITED = 1_000_000
"""Columns and rows, as neither is scarce in a file."""
_MARKUP = re.compile(r"([\\`*_\[\]|~])")


def render_markdown(
    clusters: Sequence[ClusterReport], title: str, report: str, rollout: RolloutReport | None = None
) -> str:
    """A heading, the tables over rings and clusters, and the last lines of the playbook, with all reasons.

    Args:
        clusters: of the report.
        title: the heading.
        report: the file with the report; empty for none.
        rollout: None without rings.
    """
    states = [one.end for one in clusters]
    lines = closing_lines(clusters, report, rollout)
    # Longer than any fence in the lines, and at least three.
    longest = max(map(len, re.findall(r"`+", "\n".join(lines))), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join(
        [
            f"## {_escaped(title)}",
            "",
            *(_rings(rollout) if rollout else ()),
            # The rings have those that wait, which may be hundreds.
            *_table(HEAD, [cells_of(one) for one in states if not rollout or one.state != WAITING]),
            "",
            sums_of(states),
            "",
            f"{fence}text",
            *lines,
            fence,
            "",
        ]
    )


def _rings(rollout: RolloutReport) -> list[str]:
    rings = ring_views(rollout.decided, is_over=rollout.is_over)
    texts = [
        "; ".join([f"**{_escaped(one.name)}**: {one.verdict}", *map(_escaped, one.reasons)]) for one in rings
    ]
    rows = [[ring.name, *row] for ring in rings for row in ring.rows]
    return [*(f"- {text}" for text in texts), "", *_table(["ring", *RING_HEAD], rows), ""]


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [head, ["---"] * len(head), *(list(map(_escaped, row)) for row in rows)]
    return [f"| {' | '.join(line)} |" for line in lines]


def closing_lines(
    clusters: Sequence[ClusterReport], report: str, rollout: RolloutReport | None = None
) -> list[str]:
    """The last lines of the playbook, without a limit."""
    targets = {one.name: one.commands for one in clusters}
    ends = [one.end for one in clusters]
    notes = {one.name: one.commands.note for one in clusters}
    steps = rollout.steps if rollout else ()
    summary = summarize(
        ends, lambda name, command: str(targets[name].complete(command)), report, steps, notes
    )
    return render_summary(summary, UNLIMITED, UNLIMITED)


def _escaped(text: str) -> str:
    return _MARKUP.sub(r"\\\1", html.escape(" ".join(text.split()), quote=False))
