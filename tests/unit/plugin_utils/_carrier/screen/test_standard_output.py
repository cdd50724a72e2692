# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines are printed at once by the main process, whatever its output is."""

from __future__ import annotations

import io
import multiprocessing
import sys

import pytest
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.screen.standard_output import (
    print_lines_at_once,
)


def piped() -> tuple[io.BytesIO, io.TextIOWrapper]:
    """A file, and what Python makes of it as its standard output."""
    file = io.BytesIO()
    return file, io.TextIOWrapper(file, encoding="utf-8", write_through=False)


def test_a_line_arrives_at_once_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    file, stream = piped()
    monkeypatch.setattr(sys, "stdout", stream)
    print("lost so far")
    assert file.getvalue() == b""
    print_lines_at_once()
    print("a line")
    assert file.getvalue() == b"lost so far\na line\n"


def test_workers_and_other_streams_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    file, stream = piped()
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setattr(multiprocessing, "parent_process", object)
    print_lines_at_once()
    print("a line")
    assert file.getvalue() == b""
    monkeypatch.undo()
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    print_lines_at_once()
