# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The log of an engine of errands as lines of JSON, for collectors of logs."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, TypeAlias

from ..._errors import LifecycleError
from ..._timestamp import precise_timestamp

WriteLine: TypeAlias = Callable[[Mapping[str, Any]], None]


@contextmanager
def engine_log(path: str) -> Iterator[WriteLine]:
    """Append lines to a file while this block goes on: what is given, and the time.

    Args:
        path: of the file, which may be a pipe such as ``/proc/1/fd/1``; empty for no log.

    Yields:
        Writes a line; usable from several threads. A line that can't be written is left out, as a full disk
        must stop no errand.

    Raises:
        LifecycleError: the file can't be opened.
    """
    if not path:
        yield lambda _fields: None
        return
    try:
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise LifecycleError(
            f"the log {path} can't be opened: {error.strerror or error}. Set log_file"
            " (kyma_errand_log_file) to a file in a folder that exists, and that the user may write"
        ) from None

    def write(fields: Mapping[str, Any]) -> None:
        # One call for each line, so that lines of threads do not mix.
        with suppress(OSError):
            os.write(file, f"{json.dumps({'time': precise_timestamp(), **fields})}\n".encode())

    try:
        yield write
    finally:
        os.close(file)
