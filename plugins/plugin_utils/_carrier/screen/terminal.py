# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the output of a task safe for a terminal: pure. See :mod:`~...module_utils._text`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ....module_utils._text import without_controls

LONGEST_LINE = 10_000
"""Characters of a printed line: of several texts of others, each of which is bounded."""

DIFF_HEADERS = ("before_header", "after_header")


def printable_line(text: str) -> str:
    """One line of progress or of a summary. Its spaces, which align it, stay."""
    line = without_controls(" ".join(text.splitlines()))
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}... ({len(line)} characters)"


def sanitize_result(result: dict[str, Any]) -> dict[str, Any]:
    """A task's result, safe in the parts that Ansible prints unchanged: its message and its warnings."""
    fit = dict(result)
    if isinstance(fit.get("msg"), str):
        fit["msg"] = without_controls(fit["msg"])
    if fit.get("warnings"):
        fit["warnings"] = [changed_warning(one, without_controls) for one in fit["warnings"]]
    return fit


def with_host(result: dict[str, Any], host: str) -> dict[str, Any]:
    """A task's result with the host's name in each header of its diff, as Ansible prints a diff without it.

    Args:
        result: of the task.
        host: its name in the inventory.
    """
    diff = result.get("diff")
    entries = [diff] if isinstance(diff, dict) else diff or ()
    if not entries or not host:
        return result
    headed = [
        {key: f"[{host}] {value}" if key in DIFF_HEADERS else value for key, value in entry.items()}
        for entry in entries
    ]
    return {**result, "diff": headed[0] if isinstance(diff, dict) else headed}


def changed_warning(warning: Any, change: Callable[[str], str]) -> Any:
    """A warning with another text; that of a shipped module is an object of Ansible's, whose event has it."""
    event = getattr(warning, "event", None)
    if event is None:
        return change(str(warning))
    return replace(warning, event=replace(event, msg=change(event.msg)))
