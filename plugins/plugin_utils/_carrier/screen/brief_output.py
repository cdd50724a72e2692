# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A shorter result for a terminal at normal verbosity, in fewer lines than ``-v`` shows: pure.

The result itself stays whole: programs, ``--check`` and ``--diff`` get all of it.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from ....module_utils._runs.durations import render_brief_durations, render_durations

FEWEST_FOLDED = 3
"""Components that are installed one after the other share lines from this number on."""
WIDTH = 80
"""Columns of such a line."""
MANIFEST_WARNINGS = (
    "the API server warns: ",
    " is there twice; the last one counts",
    ": written without server-side apply, which ",
    ": fields that only the API server sets were left out, ",
)
"""Parts of warnings about the manifests of a release, which only their authors can change."""

_INSTALL = re.compile(r"  install   (?P<name>\S(?:.*?\S)?) +(?P<count>\d+) to create$")
_INDENT = " " * 12
_NOTE = _INDENT + "  "


def brief_summary(result: Mapping[str, Any]) -> list[str]:
    """The lines of a result's ``summary``, without those that a person rarely needs.

    Components that are only installed share lines. A table of durations has the longest rows.
    """
    lines = [str(line) for line in result.get("summary") or ()]
    rows = result.get("durations") or ()
    table = render_durations(rows)
    if table and lines[-len(table) :] == table:
        # Of a run that has failed, the last lines of the playbook have the result.
        lines = [] if result.get("failures") else [*lines[: -len(table)], *render_brief_durations(rows)]
    return list(_folded(lines)) if "plan" in result else lines


def brief_warnings(warnings: Sequence[Any]) -> list[Any]:
    """Warnings with one in place of several about the manifests of a release, which comes last.

    Args:
        warnings: texts; those of a shipped module are objects of Ansible's and stay.
    """
    about_manifests = [one for one in warnings if isinstance(one, str) and _is_about_manifests(one)]
    if len(about_manifests) < 2:
        return list(warnings)
    others = [one for one in warnings if one not in about_manifests]
    count = len(about_manifests)
    return [*others, f"{count} warnings about manifests of the release (-v shows all): {about_manifests[0]}"]


def _folded(lines: Sequence[str]) -> Iterator[str]:
    # The task that applies them warns of the manifests.
    shown = [one for one in lines if not (one.startswith(_NOTE) and _is_about_manifests(one))]
    has_note = [one.startswith(_NOTE) for one in [*shown, ""][1:]]
    installs = [None if skip else _INSTALL.match(one) for one, skip in zip(shown, has_note, strict=True)]
    for is_install, group in groupby(zip(installs, shown, strict=True), lambda one: one[0] is not None):
        members = list(group)
        if is_install and len(members) >= FEWEST_FOLDED:
            yield from _one_for([install for install, _line in members if install])
        else:
            yield from (line for _install, line in members)


def _one_for(installs: Sequence[re.Match[str]]) -> list[str]:
    total = sum(int(one["count"]) for one in installs)
    # A count must stay with its component.
    parts = [f"{one['name']} {one['count']}".replace(" ", "\0") for one in installs]
    text = textwrap.fill(
        f"{len(installs)} components, {total} to create: {', '.join(parts)}",
        WIDTH,
        initial_indent="  install   ",
        subsequent_indent=_INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return text.replace("\0", " ").splitlines()


def _is_about_manifests(text: str) -> bool:
    return any(part in text for part in MANIFEST_WARNINGS)
