# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs other programs: without a shell, in bounded time and memory, and without access to a cluster."""

from __future__ import annotations

import contextlib
import os
import secrets
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from ...module_utils._release.limits import DEFAULT_LIMITS, MEGABYTE, Limits, beyond

_PASSED_ON = ("PATH", "TMPDIR", "LD_LIBRARY_PATH", "SYSTEMROOT")
_MARK = "KYMA_LIFECYCLE_PROGRAM"
"""A variable of a program and of all its children, whose value no other program has."""
_PIECE = 65536
_MOST_SAID = 65536
"""Bytes of the standard error that are recorded; a program may write more."""
_PAGE = os.sysconf("SC_PAGE_SIZE")
_PAUSE_SECONDS = 0.005
_LOOK_SECONDS = 0.1
"""How often to look whether the program has ended, as its children may hold its output open."""


Outputs = Callable[[str, Callable[[], str]], str]
"""Returns the output of a program: the known one for a key, or else that of the function, which runs it."""


def run_always(_key: str, run: Callable[[], str]) -> str:
    """The output of a program, which runs each time."""
    return run()


class ProgramFailed(Exception):
    """A program that failed or exceeded a limit; the message is its standard error, or names the limit."""


class ProgramMissing(Exception):
    """The program does not exist on this machine."""


@dataclass(frozen=True)
class CompletedProgram:
    """A program that has ended: its exit status, its output, and its standard error."""

    status: int
    output: str
    errors: str


def run_program(
    command: Sequence[str],
    *,
    limits: Limits = DEFAULT_LIMITS,
    stdin: str = "",
    more_environment: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """The output of a program.

    It gets its own environment with an empty home: no KUBECONFIG, no HELM_* and no settings of the user. So
    it can reach no cluster, and its output is the same on every machine, unless ``more_environment`` says
    otherwise. No process that it has started is left when it ends.

    Raises:
        ProgramMissing: the program does not exist, or may not be run.
        ProgramFailed: its exit status is not zero, or it exceeded the limit of time or output.
    """
    with tempfile.TemporaryDirectory(prefix="kyma-home-") as home:
        environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        environment |= {"HOME": home, "LC_ALL": "C.UTF-8", **more_environment}
        # Programs in Go then free memory before they reach the limit.
        environment["GOMEMLIMIT"] = f"{limits.memory_mb * 3 // 4}MiB"
        completed = complete_program(command, environment, limits=limits, stdin=stdin)
    if completed.status:
        error = completed.errors.strip()
        raise ProgramFailed(error or f"{command[0]} ended with status {completed.status}")
    return completed.output


def complete_program(
    command: Sequence[str], environment: Mapping[str, str], *, limits: Limits, stdin: str = ""
) -> CompletedProgram:
    """Run a program to its end, whatever its exit status is; no process that it has started is left then.

    Raises:
        ProgramMissing: the program does not exist, or may not be run.
        ProgramFailed: it exceeded the limit of time or output.
    """
    marked = {**environment, _MARK: secrets.token_hex()}
    with _started(command, marked) as process:
        output, errors = _exchange(process, command[0], stdin.encode(), limits)
    texts = (data.decode(errors="replace") for data in (output, errors))
    return CompletedProgram(process.returncode, *texts)


@contextmanager
def _started(command: Sequence[str], environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """A program, which is killed at the end with its process group, and with its children in other ones."""
    pipe = subprocess.PIPE
    try:
        process = subprocess.Popen(
            list(command), stdin=pipe, stdout=pipe, stderr=pipe, env=environment, start_new_session=True
        )
    except OSError as error:
        raise ProgramMissing(f"{command[0]} can't be run: {error.strerror}") from error
    try:
        yield process
    finally:
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        _kill_marked(f"{_MARK}={environment[_MARK]}".encode())
        for file in filter(None, (process.stdin, process.stdout, process.stderr)):
            with contextlib.suppress(OSError):
                file.close()


def _kill_marked(mark: bytes) -> None:
    """Kill the processes with a variable in their environment, where the system tells it."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark in (folder / "environ").read_bytes().split(b"\0"):
                os.kill(int(folder.name), signal.SIGKILL)


def _exchange(
    process: subprocess.Popen[bytes], name: str, stdin: bytes, limits: Limits
) -> tuple[bytearray, bytearray]:
    """The output and the standard error of a program, when it has ended."""
    end = time.monotonic() + limits.rendering_seconds
    output, errors = bytearray(), bytearray()
    with selectors.DefaultSelector() as waiting:
        for file, data in ((process.stdin, None), (process.stdout, output), (process.stderr, errors)):
            if file:
                os.set_blocking(file.fileno(), False)
                event = selectors.EVENT_WRITE if data is None else selectors.EVENT_READ
                waiting.register(file, event, data)
        while True:
            # Only an empty look after its end shows that all is read.
            has_ended = process.poll() is not None
            ready = waiting.select(_LOOK_SECONDS if len(waiting.get_map()) else _PAUSE_SECONDS)
            for key, _event in ready:
                if key.data is None:
                    stdin = _give(key.fd, stdin)
                    is_done = not stdin
                else:
                    is_done = not _take_piece(key.fd, key.data)
                if is_done:
                    waiting.unregister(key.fileobj)
                    if key.data is None and process.stdin:
                        process.stdin.close()
            _refuse_excess(process, name, output, end, limits)
            del errors[_MOST_SAID:]
            if has_ended and not ready:
                return output, errors


def _take_piece(source: int, data: bytearray) -> bytes:
    """Add the next piece of a program's output and return it; empty at the end of the output."""
    piece = os.read(source, _PIECE)
    data += piece
    return piece


def _give(target: int, rest: bytes) -> bytes:
    """Send the next piece to a program, and return the rest; nothing if it does not want it."""
    try:
        return rest[os.write(target, rest[:_PIECE]) :]
    except BrokenPipeError:
        return b""


def _refuse_excess(
    process: subprocess.Popen[bytes], name: str, output: bytearray, end: float, limits: Limits
) -> None:
    if len(output) > limits.rendered:
        raise ProgramFailed(f"the output of {name} has {beyond('rendered_mb', limits.rendered_mb)}")
    if time.monotonic() > end:
        raise ProgramFailed(
            f"{name} was stopped: it took {beyond('rendering_seconds', limits.rendering_seconds, 'seconds')}"
        )
    if _resident(process.pid) > limits.memory_mb * MEGABYTE:
        raise ProgramFailed(f"{name} was stopped: it used memory of {beyond('memory_mb', limits.memory_mb)}")


def _resident(pid: int) -> int:
    """The memory of a process in bytes, where the system tells it."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * _PAGE
    except (OSError, IndexError, ValueError):
        return 0
