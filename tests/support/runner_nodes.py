# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Execution nodes as AWX has them: ansible-runner's `transmit | worker | process`, by pipes.

The worker is on a node: it has another hostname, a uid without an entry in passwd, no HOME and no terminal.
It does not see the folder of the job on the controller.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any

from tests.cluster.paths import BIN, ROOT

from .needs import skip

RUNNER = Path(sys.executable).with_name("ansible-runner")
UID = "54321"
"""Without an entry in passwd."""
MARK = "KYMA_TEST_NODE"
"""The variable that all processes of a node have."""
LONGEST = 400.0
ON_NODE = """
echo {name} > /proc/sys/kernel/hostname
mount -t tmpfs tmpfs {job}
exec setpriv --reuid {uid} --regid {uid} --clear-groups {reading} {runner} worker --private-data-dir {folder}
"""
READING = "--inh-caps=+dac_read_search --ambient-caps=+dac_read_search"
"""The checkout and Python may be in a folder of root's, so this uid may read all that root may."""


@dataclass(frozen=True)
class JobResult:
    """What the controller knows of a job.

    Attributes:
        status: e.g. ``successful``, as ansible-runner's artifacts have it; empty without any.
        codes: exit codes of transmit, worker and process.
        text: what ansible-playbook printed.
        artifacts: what ``set_stats`` has set.
    """

    status: str
    codes: tuple[int, ...]
    text: str
    artifacts: Mapping[str, Any]

    def succeeded(self) -> JobResult:
        """The result itself, if the job has succeeded."""
        assert self.status == "successful", self.text
        assert "Traceback" not in self.text
        return self


class Job:
    """What the controller sends: a project, an inventory, extra variables.

    Attributes:
        folder: as ansible-runner wants it.
        project: with the playbooks.
    """

    def __init__(
        self,
        folder: Path,
        hosts: Mapping[str, Mapping[str, Any]],
        variables: Mapping[str, Any],
        groups: Mapping[str, Sequence[str]] = MappingProxyType({}),
    ) -> None:
        self.folder = folder
        self.project = folder / "project"
        for name in ("project", "inventory", "env"):
            (folder / name).mkdir(parents=True)
        local = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
        children = {name: {"hosts": dict.fromkeys(members)} for name, members in groups.items()}
        inventory = {"all": {"vars": local, "hosts": dict(hosts), "children": children}}
        (folder / "inventory" / "hosts.json").write_text(json.dumps(inventory))
        (folder / "env" / "extravars").write_text(json.dumps(dict(variables)))
        settings = {"ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".build"), "ANSIBLE_NOCOLOR": "1"}
        (folder / "env" / "envvars").write_text(json.dumps(settings))

    def play(self, text: str) -> Job:
        """Write the job's playbook."""
        (self.project / "job.yml").write_text(text)
        return self

    def result(self, codes: tuple[int, ...]) -> JobResult:
        """What has come back from the node."""
        artifacts = self.folder / "artifacts"
        status = artifacts / "status"
        # Of a node that is lost, only the events have arrived.
        events = [json.loads(one.read_text("utf-8")) for one in artifacts.glob("job_events/*-*.json")]
        events.sort(key=lambda event: int(event["counter"]))
        stats = [one["event_data"] for one in events if one["event"] == "playbook_on_stats"]
        return JobResult(
            status.read_text() if status.exists() else "",
            codes,
            "\n".join(event["stdout"] for event in events),
            stats[-1].get("artifact_data", {}) if stats else {},
        )


class Node:
    """A machine that runs what it is sent.

    Attributes:
        name: its hostname.
        mark: what stands in the environment of all of its processes.
    """

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.mark = f"{MARK}={folder}"
        self._folder = folder

    def run(self, job: Job, *words: str) -> JobResult:
        """Run a job to its end; `words` are further arguments of ansible-playbook."""
        place = self._folder / job.folder.name
        place.mkdir(exist_ok=True)
        os.chown(place, int(UID), int(UID))
        (job.folder / "env" / "cmdline").write_text(shlex.join(words))
        shutil.rmtree(job.folder / "artifacts", ignore_errors=True)
        transmit = _started([RUNNER, "transmit", job.folder, "-p", "job.yml"], subprocess.DEVNULL)
        worker = _started(self._worker(job, place), transmit.stdout, self._environment())
        process = _started([RUNNER, "process", job.folder], worker.stdout)
        process.communicate(timeout=LONGEST)
        return job.result(tuple(one.wait(LONGEST) for one in (transmit, worker, process)))

    def _worker(self, job: Job, place: Path) -> list[str]:
        script = ON_NODE.format(
            name=self.name, job=job.folder, uid=UID, reading=READING, runner=RUNNER, folder=place
        )
        return ["unshare", "--mount", "--uts", "sh", "-e", "-c", script]

    def _environment(self) -> dict[str, str]:
        name, _equals, folder = self.mark.partition("=")
        path = f"{RUNNER.parent}:{BIN}:/usr/sbin:/usr/bin:/sbin:/bin"
        return {"PATH": path, "LANG": "C.UTF-8", "ANSIBLE_HOME": f"{folder}/ansible", name: folder}


def _started(
    command: Sequence[str | Path],
    source: IO[bytes] | int | None,
    environment: Mapping[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    """Start one part of the pipe, without a terminal."""
    process = subprocess.Popen(
        [str(word) for word in command],
        stdin=source,
        stdout=subprocess.PIPE,
        env=environment,
        start_new_session=True,
    )
    if source and not isinstance(source, int):
        # Its reader alone may hold a pipe, or its writer does not see the end of the reader.
        source.close()
    return process


@contextmanager
def new_node(name: str) -> Iterator[Node]:
    """A node whose folder is removed with the context."""
    if os.geteuid() != 0:
        skip("Only root can make a node with another uid and hostname.")
    # Not in the folder of pytest, which root alone may enter.
    folder = Path(tempfile.mkdtemp(prefix=f"{name}-"))
    os.chown(folder, int(UID), int(UID))
    try:
        yield Node(name, folder)
    finally:
        shutil.rmtree(folder)
