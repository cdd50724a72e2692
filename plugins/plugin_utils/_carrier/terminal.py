# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What others have written, made fit for a terminal: pure.

A condition's message, a field manager's name, an annotation may hold anything. Printed as they are, control
characters recolour, overwrite and hide what stands there, and those of writing direction turn it around.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Control characters (Unicode's Cc, but for tab and new line), separators of lines, directions."""


def sanitize_text(text: str) -> str:
    """A text of any number of lines without what a terminal would take for commands."""
    return _CONTROLS.sub("?", text)


def sanitize_line(text: str) -> str:
    """The same on one line, so that nobody can add one that looks like ours."""
    return sanitize_text(" ".join(text.splitlines()) if "\n" in text else text)


def sanitize_result(result: dict[str, Any]) -> dict[str, Any]:
    """A task's result with what Ansible prints of it as it is: its message and its warnings."""
    fit = dict(result)
    if isinstance(fit.get("msg"), str):
        fit["msg"] = sanitize_text(fit["msg"])
    if fit.get("warnings"):
        fit["warnings"] = [_printable_warning(one) for one in fit["warnings"]]
    return fit


def _printable_warning(warning: Any) -> Any:
    """A warning; of a module that was shipped it is an object of Ansible's, whose event has the text."""
    event = getattr(warning, "event", None)
    if event is None:
        return sanitize_text(str(warning))
    return replace(warning, event=replace(event, msg=sanitize_text(event.msg)))
