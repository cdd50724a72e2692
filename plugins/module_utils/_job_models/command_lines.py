# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Converts between a command with its log files and the one shell line of a container: pure.

The redirections come before the command, so that they apply to all of it: also to ``a; b``, ``a | b``, and a
command that ends with a comment or a here-document. Toolforge does the same. In its version 1, they end the
line.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import replace

from .core_job import LogFiles

_LITERAL = r"""(?!(?:''|"")+(?:[\s;]|\Z))(?:[\w@%+=:,./-]|'[^']*'|"[^"$`\\]*")+"""
"""A word of the shell that is not empty and in which nothing is expanded."""
_END_OF_LOGS = "exec;"
"""Does nothing. Keeps a command that begins or ends like redirections apart from those of the log files."""
_PREFIX = re.compile(
    rf"(?:exec 1>>(?P<stdout>{_LITERAL});)?(?:exec 2>>(?P<stderr>{_LITERAL});)?(?:{_END_OF_LOGS})?", re.ASCII
)
_SUFFIX = re.compile(
    rf"\s+1(?P<suffix>>>?)(?P<stdout>{_LITERAL})(?:\s+2(?P=suffix)(?P<stderr>{_LITERAL}))?\s*\Z", re.ASCII
)


def shell_line(command: str, logs: LogFiles) -> str:
    """The line for ``sh -c`` that runs a command and appends its output to files.

    Args:
        command: any shell line or script; empty if only the files are of interest.
        logs: the files; a command without them is returned unchanged.
    """
    files = {number: shlex.quote(file) for number, file in ((1, logs.stdout), (2, logs.stderr)) if file}
    if logs.suffix:
        return command + "".join(f" {number}{logs.suffix}{file}" for number, file in files.items())
    prefix = "".join(f"exec {number}>>{file};" for number, file in files.items())
    line = prefix + command
    return line if split_shell_line(line) == (command, logs) else prefix + _END_OF_LOGS + command


def split_shell_line(line: str, *, has_suffix: bool = False) -> tuple[str, LogFiles]:
    """The command and the log files of a shell line: the inverse of :func:`shell_line`.

    Args:
        line: of a container.
        has_suffix: whether the line may end in ``1>>file 2>>file``, or in ``1>file 2>file``. With other
            spaces, :func:`shell_line` makes another line: a caller who needs the same one has to compare.
    """
    if (prefix := _PREFIX.match(line)) and prefix.end():
        return line[prefix.end() :], _log_files(prefix)
    if has_suffix and (suffix := _SUFFIX.search(line)):
        return line[: suffix.start()], replace(_log_files(suffix), suffix=suffix["suffix"])
    return line, LogFiles()


def _log_files(redirections: re.Match[str]) -> LogFiles:
    stdout, stderr = ("".join(shlex.split(redirections[name] or "")) for name in ("stdout", "stderr"))
    return LogFiles(stdout, stderr)
