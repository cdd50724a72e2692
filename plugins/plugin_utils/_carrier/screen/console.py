# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints the collection's own output: progress, plans and tables.

Standard output belongs to Ansible's stdout callback. The callback ``default``, its subclasses and ``minimal``
print lines for people. These lines go there too, and a runner records each as an event. Any other callback
may print a document for programs, such as ``ansible.posix.json``. Then these lines go to standard error.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from ansible import constants as C
from ansible import context
from ansible.plugins.callback import CallbackBase
from ansible.plugins.loader import callback_loader
from ansible.utils.color import stringc
from ansible.utils.display import Display

from .terminal import printable_line

_COUNT = re.compile(r"\b[1-9]\d* to (create|change|replace|delete)\b")
_ACTION = re.compile(
    r"(?<=^  )(install|upgrade|downgrade|drifted|resume|migrate|settles|abandons|prune|delete)(?= )"
)
_ADDING, _REMOVING = ("create", "install"), ("replace", "delete", "prune", "abandons")


def print_line(text: str, color: str | None = None) -> None:
    """Print one line at once.

    Args:
        text: the line; commands for a terminal are removed from it.
        color: a name of Ansible's, such as ``C.COLOR_ERROR``.
    """
    Display().display(printable_line(text), color=color, stderr=not is_stdout_for_people())


def print_block(lines: Iterable[str], *, is_plan: bool = False, title_color: str = "") -> None:
    """Print lines that belong together: those of another host never come between them.

    Args:
        lines: of a plan or a table.
        is_plan: whether to colour them as Ansible colours diffs.
        title_color: of the first line, a name of Ansible's; empty for none.
    """
    is_for_people = is_stdout_for_people()
    printable = [printable_line(line) for line in lines]
    if is_plan and is_for_people:
        printable = [paint_plan_line(line) for line in printable]
    if title_color and is_for_people:
        printable[:1] = [str(stringc(line, title_color)) for line in printable[:1]]
    if printable:
        Display().display("\n".join(printable), stderr=not is_for_people)


def print_banner(title: str) -> None:
    """Print a title as Ansible prints those of plays and tasks."""
    if is_stdout_for_people():
        Display().banner(title)
    else:
        print_line(title)


def label_lines(lines: Iterable[str], host: str) -> list[str]:
    """Lines with the host's name before each line that is not indented below another one."""
    return [line if line.startswith(" ") or not line else host_label(host, line) for line in lines]


def host_label(host: str, text: str) -> str:
    """A text with the name of the host that it is about."""
    return f"[{host}] {text}"


def paint_plan_line(line: str) -> str:
    """A line of a plan in the colours of Ansible's diffs; unchanged if Ansible prints no colours."""
    return _ACTION.sub(_painted, _COUNT.sub(_painted, line))


def _painted(match: re.Match[str]) -> str:
    word = match[1]
    color = C.COLOR_DIFF_ADD if word in _ADDING else C.COLOR_CHANGED
    return str(stringc(match[0], C.COLOR_DIFF_REMOVE if word in _REMOVING else color))


@cache
def is_stdout_for_people() -> bool:
    """Whether Ansible's stdout callback prints lines for people, and not a document for programs."""
    if context.CLIARGS.get("one_line"):
        return False
    return is_for_people(callback_loader.get(C.DEFAULT_STDOUT_CALLBACK, class_only=True))


def is_for_people(callback: type[CallbackBase] | None) -> bool:
    """Whether a stdout callback prints lines for people. A runner's ``awx_display`` extends another one."""
    # Imported here, as a callback for programs may not need it.
    from ansible.plugins.callback.default import CallbackModule as DefaultCallback
    from ansible.plugins.callback.minimal import CallbackModule as MinimalCallback

    return callback is not None and issubclass(callback, (DefaultCallback, MinimalCallback))
