# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Detects what a migration uses besides the cluster: files, programs, threads, the clock and the like.

Python reports files, programs and sockets to audit hooks, and calls of C functions to profilers. Both count
only while :func:`watch_process` is open, and only if a migration's own code is the cause. The cluster, the
kit and imports do not count.

The garbage collector is disabled meanwhile, because it would run other finalizers in a migration's thread.

A thread is stopped when it calls a function that would end the process. It can't raise instead: Python stops
profiling a thread once its profiler has raised, so that a second call would end the process.
"""

from __future__ import annotations

import _thread
import datetime
import gc
import os
import random
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

CHECK, RUN = "check", "run"
WAITS = "waits ({}): ctx.sleep ends with the step's time"
STEPS_MODULE = f"{__package__}.attempt_record"
"""The module with the functions, named like these steps, that call those of a migration."""
OUR_CODE = "ansible_collections.kyma.lifecycle.plugins."
THEIR_CODE = (f"{OUR_CODE}module_utils.migrations.", f"{OUR_CODE}module_utils.migration")
"""Modules of our code that are migrations, or that migrations call."""
NOT_ASKED_FOR = ("importlib", "_frozen_importlib", "linecache", "traceback", "warnings", "inspect")
"""Modules that read files for Python itself."""

_ENDS = {os._exit: "os._exit", os.abort: "os.abort", os.kill: "os.kill", os.killpg: "os.killpg"}
_ENDS |= {signal.raise_signal: "signal.raise_signal"}
_CONDITION = threading.Condition.wait.__code__
_USES: dict[Any, str] = {
    **{
        function: f"reads the clock ({name})"
        for name, function in (
            *(
                (f"time.{one}", getattr(time, one))
                for one in ("time", "time_ns", "monotonic", "monotonic_ns", "clock_gettime", "process_time")
            ),
            *((f"time.{one}", getattr(time, one)) for one in ("perf_counter", "localtime", "gmtime")),
            *((f"time.{one}", getattr(time, one)) for one in ("ctime", "strftime")),
            *((f"datetime.{one}", getattr(datetime.datetime, one)) for one in ("now", "utcnow", "today")),
            ("date.today", datetime.date.today),
        )
    },
    time.sleep: WAITS.format("time.sleep"),
    select.select: WAITS.format("select"),
    **{
        getattr(os, one): f"asks for its process or machine (os.{one})"
        for one in ("getpid", "getppid", "uname", "getcwd", "cpu_count", "getuid")
    },
    # Python 3.11 raises no audit event for threads.
    **{
        getattr(_thread, one): f"starts a thread (_thread.{one})"
        for one in ("start_new_thread", "start_joinable_thread")
        if hasattr(_thread, one)
    },
    os.urandom: "uses a random value (os.urandom)",
    random.random: "uses a random value (random)",
    random.getrandbits: "uses a random value (random)",
    **dict.fromkeys((os.stat, os.lstat, os.access), "reads a file's state"),
}
_THREADS = ("_thread.start",)
_PROGRAMS = ("subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "pty.")
_SOCKETS = ("socket.", "ssl.", "http.client.", "urllib.")
_FILES = ("os.", "shutil.", "tempfile.", "glob.", "pathlib.", "sqlite3.")


@dataclass
class ProcessUse:
    """A migration's use of anything but the cluster.

    Attributes:
        in_check: uses in its check, each as a clause: ``reads the clock (time.time)``.
        ended_by: the function that would have ended the process, or empty.
    """

    in_check: dict[str, None] = field(default_factory=dict)
    ended_by: str = ""


_watches: list[ProcessUse] = []


@contextmanager
def watch_process() -> Iterator[ProcessUse]:
    """Watch threads that are started from now on, and prevent them from ending the process."""
    _add_audit_hook_once()
    use, before, collects = ProcessUse(), threading.getprofile(), gc.isenabled()
    _watches.append(use)
    gc.disable()
    threading.setprofile(_profile)
    try:
        yield use
    finally:
        threading.setprofile(before)
        if collects:
            gc.enable()
        _watches.remove(use)


def _profile(frame: FrameType, event: str, called: Any) -> None:
    if event != "c_call" or not _watches:
        return
    if name := _ENDS.get(called):
        _watches[-1].ended_by = name
        _stop_thread()
    use = WAITS.format("threading") if frame.f_code is _CONDITION else _USES.get(called)
    if use and _step_of(frame) == CHECK:
        _watches[-1].in_check[use] = None


def _stop_thread() -> None:
    if not threading.current_thread().daemon:
        # Python would wait for this thread for ever. A second call in it is not detected.
        raise SystemExit
    threading.Event().wait()


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if not _watches or (
        event != "open" and not event.startswith((*_THREADS, *_PROGRAMS, *_SOCKETS, *_FILES))
    ):
        return
    if _step_of(sys._getframe(1)) == CHECK:
        _watches[-1].in_check[_described(event, arguments)] = None


def _described(event: str, arguments: tuple[Any, ...]) -> str:
    if event.startswith(_THREADS):
        return f"starts a thread ({event})"
    if event.startswith(_PROGRAMS):
        return f"starts a program ({event})"
    if event.startswith(_SOCKETS):
        return f"uses the network ({event})"
    return f"uses a file ({arguments[0] if event == 'open' else event})"


def _step_of(frame: FrameType | None) -> str:
    """The step of a migration whose code is the caller; empty if our code or an import is."""
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module.partition(".")[0] in NOT_ASKED_FOR:
            return ""
        if module == STEPS_MODULE and frame.f_code.co_name in (CHECK, RUN):
            return frame.f_code.co_name
        if module.startswith(OUR_CODE) and not module.startswith(THEIR_CODE):
            return ""
        frame = frame.f_back
    return ""


def _add_audit_hook_once() -> None:
    # A process can't remove an audit hook.
    if not _hooks:
        _hooks.append(_audit)
        for one in (os.environ, os.environb):
            one.encodekey, one.decodekey = _watched(one.encodekey), _watched(one.decodekey)
        sys.addaudithook(_audit)


def _watched(convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function through which each use of an environment variable passes, as neither hook reports that."""

    def convert_watched(key: Any) -> Any:
        if _watches and _step_of(sys._getframe(1)) == CHECK:
            _watches[-1].in_check["reads environment variables (os.environ)"] = None
        return convert(key)

    return convert_watched


_hooks: list[Callable[[str, tuple[Any, ...]], None]] = []
