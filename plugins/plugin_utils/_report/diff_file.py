# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What plans would write, as unified diffs in one file for the hosts of an ansible-playbook."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import unified_diff
from pathlib import Path

from ansible import constants as C

from .gathered import GatheredCluster, GatheredClusters
from .report_file import write_report


def write_diffs(path: Path, title: str, diffs: Iterable[Mapping[str, str]]) -> None:
    """Write the diffs of a plan, beside those of other plans of this ansible-playbook.

    Args:
        path: of the file.
        title: the line above the diffs, which says of which plan they are.
        diffs: as Ansible shows them, each with ``before``, ``after``, ``before_header`` and ``after_header``.

    Raises:
        BadReportPath: the file can't be written.
    """
    path = path.absolute()
    gathered = GatheredClusters(Path(C.DEFAULT_LOCAL_TMP), path)
    with gathered.locked():
        gathered.add(GatheredCluster(title, title, [{"text": render_diffs(title, diffs)}]))
        text = "\n".join(one.results[0]["text"] for one in gathered.read())
        write_report(path, text, "diff_file (kyma_diff_file)")


def render_diffs(title: str, diffs: Iterable[Mapping[str, str]]) -> str:
    """A comment with the title, and the diffs, as ``diff -u`` prints them."""
    lines = [f"# {title}\n"]
    for one in diffs:
        before, after = (one[key].splitlines(keepends=True) for key in ("before", "after"))
        lines += unified_diff(before, after, one["before_header"], one["after_header"])
    return "".join(lines)
