# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the playbook on a terminal, and records the result."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import signal
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.paths import ROOT
from tests.support.audit import AuditLog, Request
from tests.support.result_schema import check_result
from tests.support.terminal import read_lines

PLAYBOOK = "kyma.lifecycle.deploy_kyma"
DELETING_PLAYBOOK = "kyma.lifecycle.delete_kyma"
MIGRATIONS_PLAYBOOK = "kyma.lifecycle.migrations"
MODULES_PLAYBOOK = "kyma.lifecycle.modules"
REPORT_PLAYBOOK = "kyma.lifecycle.report"
RESETTING_PLAYBOOK = "kyma.lifecycle.reset_modules"
UNDOING_PLAYBOOK = "kyma.lifecycle.undo_migrations"
RECORDER = Path(__file__).parent / "callback"
LONGEST = 600.0
UNENDED = ("unchanged", "planned", "running")
"""States of plans, and of tasks that begin runs."""

OWN_PLAYBOOK = """
- hosts: localhost
  gather_facts: false
  tasks:
    - ansible.builtin.import_role: {name: kyma.lifecycle.kyma, rolespec_validate: false}
"""


@dataclass
class Outcome:
    """The result of a playbook.

    Attributes:
        status: exit code.
        lines: of the terminal, each with its time (seconds since the epoch).
        results: of its tasks, in their order.
        requests: to the cluster meanwhile.
    """

    status: int
    lines: list[tuple[float, str]]
    results: list[dict[str, Any]]
    requests: list[Request] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The whole output on the terminal."""
        return "\n".join(line for _time, line in self.lines)

    @property
    def recap(self) -> dict[str, int]:
        """The counts of the recap: ``ok``, ``changed``, ``failed``, ..."""
        line = next(line for line in reversed(self.text.splitlines()) if re.match(r"localhost\s+: ok=", line))
        return {name: int(count) for name, count in re.findall(r"(\w+)=(\d+)", line)}

    @property
    def plan(self) -> dict[str, Any]:
        """The plan."""
        return dict(self._with("plan")["plan"])

    @property
    def planning(self) -> dict[str, Any]:
        """The whole result of the task ``plan``."""
        return self.results[0]

    @property
    def run(self) -> dict[str, Any]:
        """The message at the end of the run."""
        assert self._ended, self.text
        return self._ended

    @property
    def diff(self) -> list[dict[str, str]]:
        """The diff of its first task, without the name of the host in the headers."""
        headers = ("before_header", "after_header")
        return [
            {
                key: value.removeprefix("[localhost] ") if key in headers else value
                for key, value in one.items()
            }
            for one in self.planning["diff"]
        ]

    @property
    def reasons(self) -> str:
        """The reasons why the run failed, a line for each."""
        return "\n".join(f"- {failure}" for failure in self.run["failures"])

    @property
    def components(self) -> dict[str, dict[str, Any]]:
        """The result of each component, by name; of a task that failed in a run, its row of durations."""
        rows = (row for row in self._ended.get("durations", ()) if row["kind"] == "component")
        whole = (one for result in self.results for one in result.get("components") or ())
        return {one["name"]: one for one in (*rows, *whole)}

    @property
    def migrations(self) -> dict[str, dict[str, Any]]:
        """The result of each migration that was run, by id; of a task that failed, its row of durations."""
        rows = (row for row in self._ended.get("durations", ()) if row["kind"] == "migration")
        whole = (one for result in self._flat() for one in result.get("migrations") or ())
        return {row["name"]: row for row in rows} | {one["id"]: one for one in whole}

    def succeeded(self) -> Outcome:
        """The result itself, if the playbook has succeeded."""
        assert self.status == 0, self.text
        assert "Traceback" not in self.text
        return self

    def failed(self) -> Outcome:
        """The result itself, if the playbook has failed as it should, with a message."""
        assert self.status != 0, self.text
        assert "Traceback" not in self.text
        return self

    def refused(self) -> str:
        """The message of a refused plan, deletion or undo; only its failure may follow, and no write."""
        self.failed()
        first, *others = self.results
        assert not [one for one in others if "plan" in one]
        assert self.recap["failed"] == 1
        assert [str(request) for request in self.requests if request.persists] == []
        # Ansible prints all of a failed result.
        assert not re.search(r'"(plan|durations|failures|blockers)": ', self.text), self.text
        return str(first["msg"])

    @property
    def _ended(self) -> dict[str, Any]:
        ended = (one for one in self._flat() if one.get("state", UNENDED[0]) not in UNENDED)
        return next((one for one in ended if "durations" in one and "summary" in one), {})

    def _flat(self) -> Iterator[dict[str, Any]]:
        for result in self.results:
            yield result
            yield from result.get("results") or ()

    def _with(self, *keys: str) -> dict[str, Any]:
        return next(one for one in self._flat() if all(key in one for key in keys))


@dataclass(frozen=True)
class Running:
    """A running playbook: its process, and its terminal."""

    pid: int
    terminal: int


Watch = Callable[[str, Running], None]


def _as_for_people() -> None:
    """Give Ctrl-C and signals their usual effect, also if the tests run under ``nohup``."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


class Playbook:
    """Runs the playbook against one cluster, from the user's folder.

    Attributes:
        collections: the user's collections path.
        settings: further variables of the user's environment.
    """

    def __init__(self, folder: Path, kubeconfig: Path, audit: AuditLog) -> None:
        self.folder = folder
        self.collections = [ROOT / ".build"]
        self.settings: dict[str, str] = {}
        self._book = PLAYBOOK
        self._kubeconfig = kubeconfig
        self._audit = audit

    def migration(self, file: str, code: str) -> Path:
        """Put a file with migrations next to a playbook of the user, which is the one that runs then."""
        place = self.folder / "kyma_migrations" / f"{file}.py"
        place.parent.mkdir(exist_ok=True)
        place.write_text(code)
        self.own_book()
        return place

    def deploy(
        self, release: Path | str, *arguments: str, watch: Watch = lambda _line, _it: None, **variables: Any
    ) -> Outcome:
        """Deploy a release; ``variables`` are the role's, without ``kyma_`` before their names.

        ``watch`` is called at once with every line. The ``kyma_result`` must be as documented.
        """
        outcome = self._call(self._book, arguments, {"release": str(release), **variables}, watch)
        kyma_results = [one for one in outcome.results if {"cluster", "changes"} <= one.keys()]
        if kyma_results and kyma_results[-1]["state"] != "running":
            check_result(kyma_results[-1])
        return outcome

    def delete(self, *arguments: str, watch: Watch = lambda _line, _it: None, **variables: Any) -> Outcome:
        """Delete the deployment; the arguments are those of :meth:`deploy`."""
        return self._call(DELETING_PLAYBOOK, arguments, variables, watch)

    def undo(self, *arguments: str, **variables: Any) -> Outcome:
        """Undo migrations."""
        return self._call(UNDOING_PLAYBOOK, arguments, variables)

    def modules(self, *arguments: str, **variables: Any) -> Outcome:
        """Manage modules; the arguments are those of :meth:`deploy`."""
        return self._call(MODULES_PLAYBOOK, arguments, variables)

    def reset_modules(self, *arguments: str, **variables: Any) -> Outcome:
        """Return to the default modules, without a question."""
        return self._call(RESETTING_PLAYBOOK, arguments, {"modules_reset_confirmed": True, **variables})

    def _call(
        self,
        book: str,
        arguments: Sequence[str],
        variables: Mapping[str, Any],
        watch: Watch = lambda _line, _it: None,
    ) -> Outcome:
        # Tests follow a run by each change that it reports.
        given = {"kyma_progress": "all", **{f"kyma_{name}": value for name, value in variables.items()}}
        return self._recorded([book, "-e", json.dumps(given), *arguments], watch)

    def migrations(self, *arguments: str, **variables: Any) -> Outcome:
        """Read the migrations of all clusters of an inventory."""
        return self._call(MIGRATIONS_PLAYBOOK, arguments, variables)

    def report(self, *arguments: str, **variables: Any) -> Outcome:
        """Write a report from the records of all clusters of an inventory."""
        return self._call(REPORT_PLAYBOOK, arguments, variables)

    def play(self, text: str, *arguments: str, **variables: Any) -> Outcome:
        """Run a playbook of the user, this once."""
        (self.folder / "own.yml").write_text(text)
        return self._recorded(["own.yml", "-e", json.dumps(variables), *arguments])

    def own_book(self) -> None:
        """From now on, run a playbook of the user, which calls the role."""
        self._book = "site.yml"
        (self.folder / self._book).write_text(OWN_PLAYBOOK)

    def _recorded(self, arguments: list[str], watch: Watch = lambda _line, _it: None) -> Outcome:
        with self._audit.recorded() as requests:
            outcome = self._run(arguments, watch)
        outcome.requests += requests
        return outcome

    def _run(self, arguments: list[str], watch: Watch) -> Outcome:
        record = self.folder / "record"
        record.unlink(missing_ok=True)
        terminal, side = pty.openpty()
        process = subprocess.Popen(
            [str(Path(sys.executable).with_name("ansible-playbook")), *arguments],
            stdin=side,
            stdout=side,
            stderr=side,
            env={**self.environment, "KYMA_TEST_RECORD": str(record)},
            cwd=self.folder,
            start_new_session=True,
            preexec_fn=_as_for_people,
        )
        os.close(side)
        lines = []
        for seen, line in read_lines(terminal, LONGEST):
            lines.append((seen, line))
            watch(line, Running(process.pid, terminal))
        try:
            status = process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            pytest.fail("ansible-playbook hangs:\n" + "\n".join(line for _time, line in lines))
        entries = record.read_text().splitlines() if record.exists() else []
        return Outcome(status, lines, [json.loads(entry)["result"] for entry in entries])

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment of Ansible's commands: the user and the cluster."""
        inherited = {
            name: value for name, value in os.environ.items() if not name.startswith(("ANSIBLE_", "K8S_"))
        }
        return {
            **inherited,
            "ANSIBLE_HOME": str(self.folder / "home"),
            "ANSIBLE_COLLECTIONS_PATH": ":".join(map(str, self.collections)),
            "ANSIBLE_CALLBACK_PLUGINS": str(RECORDER),
            "ANSIBLE_CALLBACKS_ENABLED": "record",
            "ANSIBLE_NOCOLOR": "1",
            "KUBECONFIG": str(self._kubeconfig),
            "PYTHONPATH": "",
            **self.settings,
        }
