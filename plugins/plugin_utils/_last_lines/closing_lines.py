# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The last lines of a playbook: what failed, why, where, and the next command, on one screen. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import PurePath

from ...module_utils._objects.health.named_pods import brief_failure
from ...module_utils._runs.cluster_state import REASONED_STATES, ClusterState
from ...module_utils._runs.hop_lines import hop_lines, plan_lines, reach
from ...module_utils._runs.outcomes import NEVER_STARTED
from ...module_utils._text import MOST_NAMES, counted, short_list
from .playbook_summary import PlaybookSummary, Reason

MOST_ROWS = 14
"""Rows of a terminal. An empty one may stand above them."""
MOST_NEVER_STARTED = 2
"""Lines about what never started."""
INDENT = "  "
ELLIPSIS = " …"


def render_summary(
    summary: PlaybookSummary, width: int, most_rows: int = MOST_ROWS, warnings: Sequence[str] = ()
) -> list[str]:
    """The last lines.

    Args:
        summary: of the playbook.
        width: columns of the terminal. A command is one line, also if that takes several rows.
        most_rows: how many rows all lines take at most.
        warnings: of all tasks. One about an unknown field is shown first.
    """
    is_alone = len(summary.clusters) == 1
    head = _wrapped(_title(summary.clusters), width, 2)
    way = [line for text in _way_lines(summary.clusters) for line in _wrapped(text, width, 2)]
    head += way
    never = [_labelled(one, is_alone) for one in summary.never_started]
    if len(never) > MOST_NEVER_STARTED:
        never[MOST_NEVER_STARTED - 1 :] = [f"{NEVER_STARTED}the same on other clusters"]
    tail = [line for text in never for line in _wrapped(text, width, 1)]
    # The server says neither what is similar, nor of which component.
    for text in sorted(warnings, key=lambda one: ("unknown field" not in one, one.startswith("the API")))[:1]:
        count = counted(len(warnings), "warning") + (", the first" if len(warnings) > 1 else "")
        tail += _wrapped(f"{count}: {text}", width, 2)
    tail += [line for text in summary.next_steps[:2] for line in _wrapped(f"next: {text}", width, 2)]
    for step in summary.rollout:
        tail += [*_wrapped(step.text, width, 3), *([INDENT + step.command] if step.command else [])]
    if where := summary.report or summary.record:
        tail.append(f"{'report' if summary.report else 'record'}: {where}")
    # Each hop of a long way has its line: the reasons need theirs too.
    free = max(most_rows - _rows([*head, *tail], width), min(most_rows // 2, _rows(way, width)))
    return [*head, *_render_reasons(summary, is_alone, free, width), *tail]


def _render_reasons(summary: PlaybookSummary, is_alone: bool, free: int, width: int) -> list[str]:
    reasons = summary.reasons
    commands = [[INDENT + one.command] if one.command else [] for one in reasons]
    shown = len(reasons)
    while shown and _least_rows(commands[:shown], width) + (shown < len(reasons)) > free:
        shown -= 1
    left = free - _least_rows(commands[:shown], width) if shown == len(reasons) else 0
    lines: list[str] = []
    for reason, command in zip(reasons[:shown], commands, strict=False):
        text = _wrapped(_labelled(reason, is_alone), width, 1 + left)
        left -= _rows(text, width) - 1
        lines += [*text, *command]
    if shown < len(reasons):
        record = "the record of the run" if summary.record else "the messages above"
        report_name = PurePath(summary.report).name if summary.report else record
        lines.append(f"and {len(reasons) - shown} more, in {report_name}")
    return lines


def _way_lines(clusters: Sequence[ClusterState]) -> list[str]:
    """The hops of all clusters, and how far each of them gets."""
    reached: dict[str, list[str]] = {}
    for one in clusters:
        reached.setdefault(reach(one.hops), []).append(one.cluster)
    reached.pop("", None)
    ends = [
        f"[{short_list(names, MOST_NAMES)}] {text}" if len(clusters) > 1 else text
        for text, names in reached.items()
    ]
    return [*plan_lines(clusters), *hop_lines(clusters), *ends]


def _title(clusters: Sequence[ClusterState]) -> str:
    if len(clusters) == 1:
        return f"{clusters[0].cluster}: {clusters[0].state}, {_way(clusters)}"
    states = [one.state for one in clusters]
    parts = []
    for state in sorted(set(states), key=[*REASONED_STATES, *states].index):
        names = [one.cluster for one in clusters if one.state == state]
        listed = f" ({short_list(names, MOST_NAMES)})" if state in REASONED_STATES else ""
        parts.append(f"{len(names)} {state}{listed}")
    return f"{', '.join(parts)}: {_way(clusters)}"


def _way(clusters: Sequence[ClusterState]) -> str:
    """The releases before and after, and the seconds of the slowest cluster."""
    sets = [{one.previous for one in clusters}, {one.version for one in clusters}]
    before, after = (", ".join(sorted(filter(None, versions))) for versions in sets)
    versions = (
        f"Kyma {before} → {after}" if before and after and before != after else f"Kyma {after or before}"
    )
    seconds = f"{max(one.seconds for one in clusters):.1f} s"
    return f"{versions}, {seconds}" if before or after else seconds


def _labelled(reason: Reason, is_alone: bool) -> str:
    # The command names the pod.
    text = brief_failure(reason.text) if reason.command else reason.text
    subjects = f"{short_list(reason.subjects, MOST_NAMES)}: " if reason.subjects else ""
    clusters = "" if is_alone else f"[{short_list(reason.clusters, MOST_NAMES)}] "
    return f"{clusters}{subjects}{' '.join(text.split())}"


def _wrapped(text: str, width: int, most: int) -> list[str]:
    """A text in at most ``most`` rows. A path that is longer than a row is not cut if it fits."""
    wrapper = textwrap.TextWrapper(
        width, subsequent_indent=INDENT, max_lines=most, placeholder=ELLIPSIS, break_on_hyphens=False
    )
    wrapper.break_long_words = False
    if _rows(lines := wrapper.wrap(text), width) <= most:
        return lines
    wrapper.break_long_words = True
    return wrapper.wrap(text)


def _least_rows(commands: Sequence[Sequence[str]], width: int) -> int:
    return sum(1 + _rows(one, width) for one in commands)


def _rows(lines: Sequence[str], width: int) -> int:
    return sum(max(1, -(-len(line) // width)) for line in lines)
