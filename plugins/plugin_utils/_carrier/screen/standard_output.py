# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines of progress that are printed at once, also into a pipe or a file, as in a pod's log."""

from __future__ import annotations

import io
import multiprocessing
import sys


def print_lines_at_once() -> None:
    """Let Ansible's main process print each line at once.

    Ansible leaves the flush of its output to Python. Python waits for 8 KiB unless the output is a terminal,
    so the log of an engine in a pod would stay empty for days.
    """
    stream = sys.stdout
    # A worker does not print: it sends its messages to the main process.
    is_main = multiprocessing.parent_process() is None
    if is_main and isinstance(stream, io.TextIOWrapper) and not stream.line_buffering:
        stream.reconfigure(line_buffering=True)
