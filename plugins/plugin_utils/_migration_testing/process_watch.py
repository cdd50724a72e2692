# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Detects what a check uses besides the cluster: files, programs, sockets, threads and the like.

Python reports these to audit hooks. They count only while :func:`watch_process` is open, and only if a
migration's own code is the cause. The cluster, the kit and imports do not count.

Python does not report the clock, random values and reads of the environment: ``other_process`` finds verdicts
that depend on them.

The garbage collector is disabled meanwhile, because it would run other finalizers in a migration's thread.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from types import FrameType
from typing import Any

from ...module_utils.migration import MigrationError

CHECK = "check"
STEPS_MODULE = f"{__package__}.attempt_record"
"""The module with the function, named like this step, that calls that of a migration."""
OUR_CODE = "ansible_collections.kyma.lifecycle.plugins."
THEIR_CODE = (f"{OUR_CODE}module_utils.migrations.", f"{OUR_CODE}module_utils.migration")
"""Modules of our code that are migrations, or that migrations call."""
NOT_ASKED_FOR = ("importlib", "_frozen_importlib", "linecache", "traceback", "warnings", "inspect")
"""Modules that read files for Python itself."""

USES = {
    "starts a thread": ("_thread.start",),  # Since Python 3.12.
    "waits": ("time.sleep",),  # Since Python 3.13.
    "starts a program": ("subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.fork", "pty."),
    "uses the network": ("socket.", "ssl.", "http.client.", "urllib."),
    "changes its process": ("os.chdir", "os.kill", "os.putenv", "os.unsetenv"),
    "uses a file": ("open", "os.", "shutil.", "tempfile.", "glob.", "pathlib.", "sqlite3."),
}
"""The beginnings of events; the first that matches counts."""
ENDS_PROCESS = (
    "it calls {}: that ends the process that all migrations share, and fails the deployment. Let it raise "
    "MigrationError, or cancel the deployment by ctx.cancel"
)


@dataclass
class ProcessUse:
    """A migration's use of anything but the cluster.

    Attributes:
        in_check: uses in its check, each as a clause: ``uses a file (/etc/hostname)``.
        ended_by: why it would have ended the process, or empty.
    """

    in_check: dict[str, None] = field(default_factory=dict)
    ended_by: str = ""


_watches: list[ProcessUse] = []


@contextmanager
def watch_process() -> Iterator[ProcessUse]:
    """Watch all threads, and prevent them from killing the process."""
    _add_audit_hook()
    use, collects = ProcessUse(), gc.isenabled()
    ends = {name: getattr(os, name) for name in ("_exit", "abort")}
    _watches.append(use)
    gc.disable()
    for name in ends:
        # Python does not report them, and an exit with code 0 would pass for tests that have passed.
        setattr(os, name, partial(_refuse_end, use, f"os.{name}"))
    try:
        yield use
    finally:
        for name, end in ends.items():
            setattr(os, name, end)
        if collects:
            gc.enable()
        _watches.remove(use)


def _refuse_end(use: ProcessUse, called: str, *_arguments: Any) -> None:
    use.ended_by = ENDS_PROCESS.format(called)
    raise MigrationError(use.ended_by)


@cache
def _add_audit_hook() -> None:
    """Add the hook once: a process can't remove it."""
    sys.addaudithook(_audit)


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if not _watches:
        return
    if event in ("os.kill", "os.killpg") and arguments[0] in (0, -1, os.getpid(), os.getpgrp()):
        _refuse_end(_watches[-1], event)
    use = next((use for use, events in USES.items() if event.startswith(events)), "")
    if use and _is_in_check(sys._getframe(1)):
        _watches[-1].in_check[f"{use} ({arguments[0] if event == 'open' else event})"] = None


def is_ours(module: str) -> bool:
    """Whether a module is our code, and no migration or part of their contract."""
    return module.startswith(OUR_CODE) and not module.startswith(THEIR_CODE)


def _is_in_check(frame: FrameType | None) -> bool:
    """Whether code of a check is the caller, and neither our code nor an import."""
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module.partition(".")[0] in NOT_ASKED_FOR:
            return False
        if module == STEPS_MODULE and frame.f_code.co_name == CHECK:
            return True
        if is_ours(module):
            return False
        frame = frame.f_back
    return False
