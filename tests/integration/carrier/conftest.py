# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running playbooks over modules made for these tests, whose functions need no cluster."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

REPO = Path(__file__).resolve().parents[3]
CARRIED = "tests/integration/carrier/collection"
FOREIGN = ("ANSIBLE_", "K8S_AUTH_", "KUBECONFIG", "PYTHONPATH")
HERE, THERE = "here", "there"
CONNECTION = {"host": "https://127.0.0.1:1", "api_key": "a-secret-key"}
"""Nobody answers there; nobody is asked."""


@dataclass
class Outcome:
    """What came of a playbook.

    Attributes:
        lines: what the terminal showed, each line with the time (seconds since the epoch) it came at.
        results: by host and task name.
    """

    status: int
    lines: list[tuple[float, str]]
    results: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return "\n".join(line for _time, line in self.lines)


class Playbooks:
    """Runs plays on two hosts: on ``here`` the work is done in place, ``there`` is shipped to."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.async_dir = folder / "async"
        self.remote_tmp = folder / "remote"
        self.record = folder / "record"
        collections = folder / "collections" / "ansible_collections"
        for name, target in (("kyma/lifecycle", REPO), ("kyma_test/carried", REPO / CARRIED)):
            (collections / name).parent.mkdir(parents=True)
            (collections / name).symlink_to(target)
        (folder / "inventory").mkdir()
        hosts = {HERE: "local", THERE: "kyma_test.carried.elsewhere"}
        inventory = {
            "all": {
                "hosts": {name: {"ansible_connection": connection} for name, connection in hosts.items()},
            }
        }
        inventory["all"]["hosts"][THERE]["ansible_python_interpreter"] = sys.executable
        (folder / "inventory" / "hosts.yml").write_text(json.dumps(inventory))
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)},
            "ANSIBLE_HOME": str(folder / "home"),
            "ANSIBLE_COLLECTIONS_PATH": str(folder / "collections"),
            "ANSIBLE_ASYNC_DIR": str(self.async_dir),
            "ANSIBLE_REMOTE_TMP": str(self.remote_tmp),
            "ANSIBLE_INVENTORY": str(folder / "inventory" / "hosts.yml"),
            "ANSIBLE_CALLBACKS_ENABLED": "kyma_test.carried.record,kyma.lifecycle.durations",
            "ANSIBLE_NOCOLOR": "1",
            "KYMA_TEST_RECORD": str(self.record),
        }

    def start(self, book: list[dict[str, Any]]) -> tuple[subprocess.Popen[bytes], int]:
        """Start plays on a terminal; answers with the process and the terminal."""
        path = self.folder / "book.yml"
        path.write_text(json.dumps(book))
        terminal, side = pty.openpty()
        command = [str(Path(sys.executable).parent / "ansible-playbook"), str(path)]
        process = subprocess.Popen(
            command, stdin=side, stdout=side, stderr=side, env=self.environment, cwd=self.folder
        )
        os.close(side)
        return process, terminal

    def run(self, *book: dict[str, Any]) -> Outcome:
        """Run plays to their end."""
        return self.result(*self.start(list(book)))

    def result(
        self,
        process: subprocess.Popen[bytes],
        terminal: int,
        look: Callable[[str], None] = lambda _line: None,
    ) -> Outcome:
        """Wait for the end of plays, and look at each line when it comes."""
        lines = []
        for seen, line in read_lines(terminal):
            lines.append((seen, line))
            look(line)
        try:
            outcome = Outcome(process.wait(5), lines)
        except subprocess.TimeoutExpired:
            process.kill()
            pytest.fail("ansible-playbook hangs:\n" + "\n".join(line for _time, line in lines))
        for line in self.record.read_text().splitlines() if self.record.exists() else ():
            entry = json.loads(line)
            outcome.results[entry["host"], entry["task"]] = entry["result"]
        return outcome


def play(*tasks: dict[str, Any], hosts: str = f"{HERE},{THERE}", **keywords: Any) -> dict[str, Any]:
    """A play on both hosts, or only on one."""
    return {"hosts": hosts, "gather_facts": False, **keywords, "tasks": list(tasks)}


def read_lines(terminal: int, seconds: float = 300.0) -> Iterator[tuple[float, str]]:
    """The lines of a terminal, each when it comes, until its other side is closed."""
    rest, end = b"", time.monotonic() + seconds
    while time.monotonic() < end:
        ready, _writable, _broken = select.select([terminal], [], [], 1.0)
        if not ready:
            continue
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # the other side was closed
            break
        if not piece:
            break
        *whole, rest = (rest + piece).split(b"\n")
        yield from ((time.time(), line.decode().rstrip("\r")) for line in whole)
    os.close(terminal)


@pytest.fixture(scope="module")
def playbooks(tmp_path_factory: pytest.TempPathFactory) -> Playbooks:
    """What the tests of a file play in: mostly one book, as each start of Ansible takes a second."""
    return Playbooks(tmp_path_factory.mktemp("carrier"))
