# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All that is printed goes through one place, which knows whether standard output is a program's."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.cluster.paths import ROOT

CONSOLE = ROOT / "plugins" / "plugin_utils" / "_carrier" / "screen" / "console.py"
FOLDERS = (
    "action",
    "callback",
    "filter",
    *(f"plugin_utils/{n}" for n in ("_carrier", "_plan_file", "_release")),
)
PRINTING = {"display", "banner", "print"}
STREAMS = {"sys.stdout", "sys.stderr"}
STREAM_SETTINGS = ROOT / "plugins" / "plugin_utils" / "_carrier" / "screen" / "standard_output.py"
"""It sets when a stream is flushed, and prints nothing."""


def prints(file: Path) -> Iterator[str]:
    """The calls in a file that print, and what they print to."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Call):
            called = node.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            if name in PRINTING:
                yield name
        elif isinstance(node, ast.Attribute) and ast.unparse(node) in STREAMS:
            yield node.attr


def test_only_the_console_prints() -> None:
    files = [file for folder in FOLDERS for file in sorted((ROOT / "plugins" / folder).rglob("*.py"))]
    assert len(files) > 50
    calls_by_file = {
        file.name: list(prints(file)) for file in files if file not in (CONSOLE, STREAM_SETTINGS)
    }
    assert {name: calls for name, calls in calls_by_file.items() if calls} == {}
    assert list(prints(CONSOLE)) != []
