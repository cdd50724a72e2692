# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One shell line holds a command and its log files, and gives both back; a real shell obeys it."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.command_lines import (
    shell_line,
    split_shell_line,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.core_job import LogFiles
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.extent import examples

BOTH = LogFiles("/data/out", "/data/err")


@pytest.mark.parametrize(
    ("command", "logs", "line"),
    [
        ("a b", LogFiles(), "a b"),
        ("", LogFiles(), ""),
        ("a; b", BOTH, "exec 1>>/data/out;exec 2>>/data/err;a; b"),
        ("a", LogFiles(stderr="/data/err"), "exec 2>>/data/err;a"),
        ("a", LogFiles("/it's my/$HOME"), """exec 1>>'/it'"'"'s my/$HOME';a"""),
        ("", LogFiles("/x"), "exec 1>>/x;"),
        # What only looks like log files is kept apart from them.
        ("exec 2>>/x;a", LogFiles("/y"), "exec 1>>/y;exec;exec 2>>/x;a"),
        ("a 1>>/x", LogFiles(), "a 1>>/x"),
        ("a 1>>/x", BOTH, "exec 1>>/data/out;exec 2>>/data/err;a 1>>/x"),
        ("exec;a", LogFiles(), "exec;exec;a"),
    ],
)
def test_the_line_of_a_command(command: str, logs: LogFiles, line: str) -> None:
    assert shell_line(command, logs) == line
    assert split_shell_line(line) == (command, logs)


@pytest.mark.parametrize(
    ("line", "command", "logs"),
    [
        ("a 1>>/data/out 2>>/data/err", "a", replace(BOTH, suffix=">>")),
        ("a; b  1>>'/data/out'  2>>\"/data/err\" ", "a; b", replace(BOTH, suffix=">>")),
        ("a 1>/dev/null 2>/dev/null", "a", LogFiles("/dev/null", "/dev/null", ">")),
        ("a 1>>job.out", "a", LogFiles("job.out", suffix=">>")),
        ("a >x 1>>/data/out", "a >x", LogFiles("/data/out", suffix=">>")),
        ("a\nb 1>>/data/out", "a\nb", LogFiles("/data/out", suffix=">>")),
        ("a 1>/x 2>>/y", "a 1>/x 2>>/y", LogFiles()),
        # Here the shell expands the name of the file, or it is no redirection at all.
        ("a 1>>$HOME/out", "a 1>>$HOME/out", LogFiles()),
        ('a 1>>"$HOME/out"', 'a 1>>"$HOME/out"', LogFiles()),
        ("exec 1>>~/out;a", "exec 1>>~/out;a", LogFiles()),
        ("echo 'a 1>>b'", "echo 'a 1>>b'", LogFiles()),
        ("a 1>>/x; b", "a 1>>/x; b", LogFiles()),
        ("a 1>>''", "a 1>>''", LogFiles()),
        ("a1>>/x", "a1>>/x", LogFiles()),
    ],
)
def test_older_lines_have_the_files_at_their_end(line: str, command: str, logs: LogFiles) -> None:
    assert split_shell_line(line, has_suffix=True) == (command, logs)
    assert split_shell_line(line) == (line, LogFiles())
    if logs.suffix and "  " not in line:
        assert shell_line(command, logs) == line


lines = st.text() | st.lists(
    st.sampled_from(["exec", ";", " ", "1>>", "2>>", "1>", "/x", "a", "'", '"', "\n", "''", "\\", "#"]),
    max_size=12,
).map("".join)
log_files = st.builds(LogFiles, lines, lines)


@settings(max_examples=examples(100, 400), deadline=None)
@given(lines, log_files)
@example("2>>/x", LogFiles("/y"))
def test_a_command_and_its_files_are_read_back(command: str, logs: LogFiles) -> None:
    assert split_shell_line(shell_line(command, logs)) == (command, logs)


@settings(max_examples=examples(100, 400), deadline=None)
@given(lines)
def test_any_line_can_be_read(line: str) -> None:
    command, logs = split_shell_line(line)
    assert command in line
    if logs == LogFiles():
        assert command == line or line.startswith("exec;")


@pytest.mark.parametrize(
    "command",
    [
        "echo out; echo err >&2",
        "echo out | cat; { echo err >&2; }",
        "echo err >&2; echo out # a comment",
        "echo err >&2\ncat <<END\nout\nEND",
        "if true; then echo out; fi; echo err >&2",
    ],
)
def test_a_shell_appends_all_output_to_the_files(command: str, tmp_path: Path) -> None:
    out, err = tmp_path / "the out", tmp_path / "it's $err"
    for _time in range(2):
        line = shell_line(command, LogFiles(str(out), str(err)))
        run = subprocess.run(["/bin/sh", "-c", "--", line], capture_output=True, check=True, timeout=10)
        assert (run.stdout, run.stderr) == (b"", b"")
    assert (out.read_text(), err.read_text()) == ("out\nout\n", "err\nerr\n")


def test_a_shell_ignores_what_keeps_a_command_apart() -> None:
    line = shell_line("exec;echo out 1>>/dev/stdout", LogFiles())
    assert line == "exec;exec;echo out 1>>/dev/stdout"
    run = subprocess.run(["/bin/sh", "-c", "--", line], capture_output=True, check=True, timeout=10)
    assert run.stdout == b"out\n"
