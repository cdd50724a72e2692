# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The processes of one deployment: found by a word in their environment; killed, paused and continued."""

from __future__ import annotations

import os
import resource
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path

from tests.cluster.procfs import stat_of


class Processes:
    """Everything that runs with a certain word in its environment."""

    def __init__(self, mark: str) -> None:
        self._mark = mark.encode()
        self._disk_is_full = threading.Event()
        self._killing = threading.Lock()

    def pids(self) -> list[int]:
        """Those that are there now."""
        own = os.getpid()
        candidates = (int(one.name) for one in Path("/proc").glob("[0-9]*") if self._is_one(one))
        return [pid for pid in candidates if pid != own]

    def kill(self) -> None:
        """Kill all of them at once, as a power failure would: none may see another one's end."""
        self._disk_is_full.clear()
        with self._killing:
            while pids := self.pids():
                self._signal(pids, signal.SIGSTOP)
                self._signal(pids, signal.SIGKILL)
                time.sleep(0.01)

    def let_kill_end(self) -> None:
        """Wait for who kills in another thread, or the next deployment is killed, too."""
        with self._killing:
            pass

    def kill_peer(self, port: int) -> None:
        """Kill the one that holds the other end of a connection to this machine, and no other."""
        self._signal([pid for pid in self.pids() if _holds(pid, port)], signal.SIGKILL)

    def pause(self) -> None:
        """Stop all of them where they are."""
        self._signal(self.pids(), signal.SIGSTOP)

    def resume(self) -> None:
        """Let all of them go on."""
        self._signal(self.pids(), signal.SIGCONT)

    def signal_main(self, number: int) -> None:
        """Signal the one that began all of it: ansible-playbook itself."""
        self._signal([pid for pid in self.pids() if os.getsid(pid) == pid], number)

    def fill_disk(self) -> None:
        """Let none of them write a file any more, nor what they start, as where a disk is full.

        But for the one that we have started: Ansible's locks are files, too, though in memory. So what it
        starts from now on is found as soon as it is there.
        """
        self._disk_is_full.set()
        self._fill_disk()
        threading.Thread(target=self._keep_disk_full, daemon=True).start()

    def _keep_disk_full(self) -> None:
        while self._disk_is_full.is_set():
            self._fill_disk()
            time.sleep(0.005)

    def _fill_disk(self) -> None:
        for pid in self.pids():
            with suppress(ProcessLookupError):
                if _parent_of(pid) != os.getpid():
                    resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, 0))

    def have_ended(self, seconds: float = 15.0) -> bool:
        """Whether none is there, after a moment."""
        end = time.monotonic() + seconds
        while self.pids():
            if time.monotonic() > end:
                return False
            time.sleep(0.05)
        self._disk_is_full.clear()
        return True

    def _is_one(self, process: Path) -> bool:
        try:
            # A zombie has no environment any more.
            return self._mark in (process / "environ").read_bytes()
        except OSError:
            return False

    def _signal(self, pids: list[int], number: int) -> None:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, number)


def _holds(pid: int, port: int) -> bool:
    inodes = _inodes_of(port)
    try:
        return any(str(fd.readlink()) in inodes for fd in Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return False


def _parent_of(pid: int) -> int:
    try:
        return int(stat_of(pid)[1])
    except OSError:
        return 0


def _inodes_of(port: int) -> set[str]:
    """The sockets that this port is the local end of, as they stand in /proc."""
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    fields = (line.split() for line in lines)
    return {f"socket:[{one[9]}]" for one in fields if int(one[1].partition(":")[2], 16) == port}
