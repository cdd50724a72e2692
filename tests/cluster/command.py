# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run a program to its end."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from . import paths
from .console import MovingLine
from .errors import ClusterError

HEARTBEAT_SECONDS = 1.0
TAIL_LINES = 12
DEBIAN_PACKAGES = {"docker": "docker.io", "ip": "iproute2", "ps": "procps", "umount": "mount"}
"""Where the package of a program has another name."""
_OURS = {"KUBECACHEDIR": str(paths.STATE / "kube-cache")}
"""So that kubectl leaves nothing in the home of whoever runs this."""


def output(
    command: Sequence[str | Path],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    stdin: str = "",
) -> str:
    """Run a command that ends soon; return its output."""
    require(command[0], (env or {}).get("PATH"))
    done = subprocess.run(
        [str(part) for part in command],
        env={**_OURS, **os.environ, **(env or {})},
        cwd=cwd,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise ClusterError(failure(command, done.returncode, (done.stdout + done.stderr).splitlines()))
    return done.stdout


def watched(
    what: str,
    command: Sequence[str | Path],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    log: Path | None = None,
) -> None:
    """Run a command that takes long, and show its progress in one line."""
    require(command[0], (env or {}).get("PATH"))
    begin = time.monotonic()
    lines: list[str] = []
    progress = MovingLine()
    with subprocess.Popen(
        [str(part) for part in command],
        env={**_OURS, **os.environ, **(env or {})},
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        reader = threading.Thread(target=_read, args=(process, lines), daemon=True)
        reader.start()
        try:
            while True:
                try:
                    process.wait(timeout=HEARTBEAT_SECONDS)
                    break
                except subprocess.TimeoutExpired:
                    last = lines[-1][:90] if lines else ""
                    progress.show(
                        f"  {what}: {time.monotonic() - begin:.0f} s, {len(lines)} steps, at {last}"
                    )
        except BaseException:
            process.terminate()
            raise
        finally:
            progress.clear()
        reader.join(timeout=5)
    if log:
        log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    if process.returncode != 0:
        more = f"\nAll of it: {log}" if log else ""
        raise ClusterError(failure(command, process.returncode, lines) + more)


def _read(process: subprocess.Popen[str], lines: list[str]) -> None:
    for line in process.stdout or ():
        if line.strip():
            lines.append(line.rstrip())


def require(program: str | Path, search_path: str | None = None) -> None:
    """Check that a program is there.

    Args:
        program: its path, or its name on the search path.
        search_path: the PATH, by default that of this process.

    Raises:
        ClusterError: it is missing; the message says how to get it.
    """
    if shutil.which(str(program), path=search_path):
        return
    if Path(program).is_absolute():
        raise ClusterError(f"{program} is missing: run `make setup build`.")
    package = DEBIAN_PACKAGES.get(str(program), str(program))
    raise ClusterError(
        f"{program} is missing on the PATH: install it, on Debian with `apt-get install {package}`."
    )


def failure(command: Sequence[str | Path], code: int, lines: Sequence[str]) -> str:
    """Print the last output of a failed command."""
    name = " ".join(str(part) for part in command[:3])
    tail = "\n".join(f"  {line}" for line in lines[-TAIL_LINES:])
    return f"`{name}` failed with exit code {code}" + (f":\n{tail}" if tail else ".")
