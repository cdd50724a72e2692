# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Follows a module in the background, and reads its progress until it has ended."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import inf
from typing import Any

from ansible.errors import AnsibleConnectionFailure

from ...module_utils._carrier.progress_file import CANCEL_SUFFIX, ProgressLine, ProgressReader
from ...module_utils._carrier.stop_cause import stop_cause
from ...module_utils._errors import LifecycleError

FIRST_POLL = 0.05
"""Seconds until the first look; each later one waits a little longer, up to the window's slowest."""
PATIENCE = 120.0
"""Seconds for which a connection may fail while the job goes on by itself."""
LATENESS = 15.0
"""Seconds after its limit that a job has to leave a result, which async_wrapper then writes for it."""


class JobLost(LifecycleError):
    """A background job has left no result."""


@dataclass(frozen=True)
class Files:
    """The files of a job, on the host where it works.

    Attributes:
        result: the file in which async_wrapper writes the state and then the result, world-readable.
        progress: the file in which the module reports its progress.
    """

    result: str
    progress: str

    @property
    def all(self) -> tuple[str, ...]:
        """All files to remove when the job is over."""
        return (self.result, self.progress, self.cancel)

    @property
    def cancel(self) -> str:
        """The file whose existence asks the module to stop."""
        return self.progress + CANCEL_SUFFIX


class JobReader:
    """Reads a job's files from the controller: one shell command reads both.

    Attributes:
        slowest: seconds between two reads of a job that has been running for a while.
    """

    slowest = 0.5
    _MARK = "kyma-lifecycle-progress-follows"

    def __init__(self, files: Files, run: Callable[[str], str], quote: Callable[[str], str]) -> None:
        self._files = files
        self._run = run
        self._quote = quote

    def read(self, offset: int) -> tuple[str, str]:
        """The result file, and the progress file from ``offset`` on; empty for a missing file.

        They are read in this order: when the result exists, the progress is complete.
        """
        result, progress = self._quote(self._files.result), self._quote(self._files.progress)
        out = self._run(
            f"cat {result} 2>/dev/null; printf '\\n%s\\n' {self._MARK};"
            f" tail -c +{offset + 1} {progress} 2>/dev/null; true"
        )
        # A connection with a terminal ends lines with \r\n, which would make the count of bytes wrong.
        before, mark, after = out.replace("\r\n", "\n").partition(f"\n{self._MARK}\n")
        if not mark:
            raise AnsibleConnectionFailure("the host's answer was cut off")
        return before, after

    def cancel(self) -> None:
        """Ask the job to stop, and say why: the file is complete as soon as it is there."""
        request = self._quote(self._files.cancel)
        self._run(f"printf %s {self._quote(stop_cause())} > {request}.new && mv {request}.new {request}")

    def remove(self) -> None:
        """Remove the job's files."""
        self._run("rm -f " + " ".join(map(self._quote, self._files.all)))


def follow_job(
    window: JobReader,
    limit: float,
    show: Callable[[ProgressLine], None],
    *,
    cancelled: Callable[[], bool] = lambda: False,
    patience: float = inf,
    reconnect: Callable[[], None] = lambda: None,
    meanwhile: Callable[[], None] = lambda: None,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> str:
    """Follow a job until its end and show its progress; return its result file's content.

    Args:
        window: reads its files.
        limit: seconds after which async_wrapper ends it.
        show: called at once with every change.
        cancelled: whether to ask the job to stop.
        patience: seconds to wait for its result after it was asked to stop.
        reconnect: called after a read that failed because of the connection.
        meanwhile: called after each read.
        clock, sleep: for tests.

    Raises:
        JobLost: there is no result although the limit has passed.
        AnsibleConnectionFailure: the host hasn't been reached for :data:`PATIENCE` seconds.
    """
    reader = ProgressReader()
    end = clock() + limit + LATENESS
    last_contact = clock()
    is_stopping = False
    for delay in _delays(window.slowest):
        sleep(delay)
        try:
            if not is_stopping and cancelled():
                end = min(end, clock() + patience)
                window.cancel()
                is_stopping = True
            result, progress = window.read(reader.offset)
            last_contact = clock()
        except AnsibleConnectionFailure as error:
            if clock() - last_contact > PATIENCE:
                raise AnsibleConnectionFailure(
                    f"lost the host for {PATIENCE:.0f} seconds while its job was active: {error}."
                    " The job continues by itself; run the playbook again later to see its result."
                ) from error
            reconnect()
            continue
        for line in reader.feed(progress):
            show(line)
        meanwhile()
        if is_final(result):
            return result
        if clock() > end:
            break
    late = f"{patience:.0f} seconds after it was asked to stop" if is_stopping else f"{limit:.0f} seconds"
    raise JobLost(
        f"the background job left no result within {late}: its process was killed, or its host"
        " restarted. What it has written stays. Run the playbook again to continue."
    )


def _delays(slowest: float) -> Iterator[float]:
    delay = FIRST_POLL
    while True:
        yield delay
        delay = min(delay * 1.2, slowest)


def is_final(result: str) -> bool:
    """Whether a result file has the result of a job, and not the note that it has started."""
    try:
        data: Any = json.loads(result)
    except ValueError:
        return False
    return isinstance(data, dict) and not ("started" in data and not data.get("finished"))
