# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of reports: reads and writes them."""

from __future__ import annotations

import os
from pathlib import Path

from ...module_utils._errors import LifecycleError


class BadReportPath(LifecycleError):
    """The file of a report can't be read or written."""


def read_report(path: Path, option: str) -> str | None:
    """The text of the file; None if there is none.

    Args:
        path: of the file.
        option: that names it, for the error.

    Raises:
        BadReportPath: the file can't be read.
    """
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _bad(path, option, "read", error) from error


def write_report(path: Path, text: str, option: str) -> None:
    """Write the file in one step: a reader sees the whole old file or the whole new one.

    Args:
        path: of the file.
        text: of the file.
        option: that names it, for the error.

    Raises:
        BadReportPath: it can't be written.
    """
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_text(text, encoding="utf-8", errors="replace")
        unfinished.replace(path)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise _bad(path, option, "written", error) from error


def _bad(path: Path, option: str, what: str, error: OSError) -> BadReportPath:
    return BadReportPath(
        f"{option}: {path} can't be {what}: {error.strerror}. Name a file in a folder that exists."
    )
