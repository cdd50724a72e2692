# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plays of the role ``kyma`` whose modules answer from a script: Ansible's own work, and no cluster."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.paths import ROOT

from .processes import descendants

ANSWERS, CALLS = "KYMA_TEST_ANSWERS", "KYMA_TEST_CALLS"
SCRIPTED = f"""
import json, os
from pathlib import Path
from ansible.plugins.action import ActionBase
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.role_options import role_options

class ActionModule(ActionBase):
    _supports_check_mode = True

    def run(self, tmp=None, task_vars=None):
        module = self._task.action.rpartition(".")[2]
        # Those that show what is done; all of them would need the imports of the modules.
        run = {{"require_healthy": {{}}}}
        spec = run if module == "run" else {{"run": {{}}, "release": {{}}, "hops": {{}}}}
        args = self._task.args | role_options(self._task, spec, task_vars, self._templar.template)
        with open(os.environ["{CALLS}"], "a") as file:
            file.write(json.dumps([module, args, task_vars["inventory_hostname"]]) + "\\n")
        name = " ".join([module, args.get("state", "")]).strip()
        script = Path(os.environ["{ANSWERS}"]) / task_vars["inventory_hostname"]
        answers = json.loads(script.read_text())
        answer = answers[name].pop(0) if answers.get(name) else {{}}
        # As the real ones do: the result of a step of a deployment has its plan and its run too.
        given = {{key: args[key] for key in ("plan", "run") if module == "run" and args.get(key)}}
        script.write_text(json.dumps(answers))
        return {{"changed": False, "check_mode": self._task.check_mode, **given, **answer}}
"""
"""An action plugin that answers what it is told to answer."""
LONGEST = 300.0
"""Seconds for a playbook, which takes some."""
FOREIGN = ("ANSIBLE_", "K8S_AUTH_", "KUBECONFIG", "PYTHONPATH")
STAGE = {"role": "", "tasks": "main", "components": ["logging"], "phase": ""}
OUTDATED = {"run": "", "outdated": True}


def planned(*versions: str, **more: Any) -> dict[str, Any]:
    """The answer of ``plan``: a way of these versions."""
    empty = {"release_checksum": "", "release_version": "", "profile": ""}
    plan = {
        "needed": True,
        "noted": {},
        "components": [{"name": "shop", "action": "install", "changes": [{"name": "a", "action": "create"}]}],
        "hops": [{"release": version, **empty} for version in versions],
        "options": {},
        "stages": [STAGE],
        "later": [],
        **more,
    }
    return {"plan": plan}


def begun(name: str) -> dict[str, Any]:
    return {"run": name, "outdated": False}


@dataclass
class Played:
    """The result of a playbook.

    Attributes:
        status: exit code.
        text: what it printed.
        calls: each task of ours, as its module's name, its options and its host.
    """

    status: int
    text: str
    calls: list[tuple[str, Mapping[str, Any], str]]

    def succeeded(self) -> Played:
        """The result itself, if the playbook has succeeded."""
        assert self.status == 0, self.text
        return self

    @property
    def recap(self) -> dict[str, dict[str, int]]:
        """The counts of each host: ``ok``, ``changed``, ``failed``, ..."""
        lines = re.findall(r"^(\S+)\s+: (ok=.*)$", self.text, re.MULTILINE)
        return {
            host: {name: int(count) for name, count in re.findall(r"(\w+)=(\d+)", counts)}
            for host, counts in lines
        }

    @property
    def done(self) -> list[str]:
        """The actions, one after the other."""
        return [
            " ".join(
                str(one)
                for one in (module, args.get("state"), args.get("run"), args.get("release"))
                if one and one != "started"
            )
            for module, args, _host in self.calls
        ]

    def of(self, module: str) -> list[Mapping[str, Any]]:
        return [args for name, args, _host in self.calls if name == module]


class Plays:
    """Plays the role with modules that answer from a script.

    Attributes:
        plugins: of a collection whose modules answer from the script.
    Args:
        folder: is the tests' own.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        ours = folder / "collections" / "ansible_collections" / "kyma" / "lifecycle"
        self.plugins = ours / "plugins"
        actions = self.plugins / "action"
        actions.mkdir(parents=True)
        (ours / "roles").symlink_to(ROOT / "roles")
        for name in ("module_utils", "plugin_utils"):
            (self.plugins / name).symlink_to(ROOT / "plugins" / name)
        for module in ("plan", "run", "component", "migration"):
            (actions / f"{module}.py").write_text(SCRIPTED)

    def play(
        self, answers: Mapping[str, Sequence[Mapping[str, Any]]], *options: str, **keywords: Any
    ) -> Played:
        """Play the role, with keywords; a call without an answer in the script changes nothing."""
        role = {"name": "kyma.lifecycle.kyma", "rolespec_validate": False}
        tasks = [{"ansible.builtin.import_role": role, **keywords}]
        return self.play_tasks({"localhost": answers}, tasks, *options)

    def play_tasks(
        self,
        answers: Mapping[str, Mapping[str, Sequence[Mapping[str, Any]]]],
        tasks: Sequence[Mapping[str, Any]],
        *options: str,
        **keywords: Any,
    ) -> Played:
        """Play tasks on each host that has answers; the keywords are the play's."""
        play = {"hosts": ",".join(answers), "gather_facts": False, "tasks": tasks, **keywords}
        book = self._folder / "book.json"
        book.write_text(json.dumps([play]))
        return self.play_book(str(book), answers, *options)

    def play_book(
        self, book: str, answers: Mapping[str, Mapping[str, Sequence[Mapping[str, Any]]]], *options: str
    ) -> Played:
        """Play a playbook, by its path or by the name of one of ours, with the answers of each host."""
        script, calls = (self._folder / name for name in ("answers", "calls"))
        script.mkdir(exist_ok=True)
        for host, own_answers in answers.items():
            (script / host).write_text(json.dumps(own_answers))
        calls.write_text("")
        own = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
        environment = {
            **own,
            "ANSIBLE_HOME": str(self._folder / "home"),
            "ANSIBLE_COLLECTIONS_PATH": str(self._folder / "collections"),
            "PYTHONFAULTHANDLER": "1",
            ANSWERS: str(script),
            CALLS: str(calls),
        }
        command = [str(Path(sys.executable).parent / "ansible-playbook"), book, *options]
        status, text = _ended(command, environment, self._folder)
        made = [tuple(json.loads(line)) for line in calls.read_text().splitlines()]
        return Played(status, text, made)


def _ended(command: Sequence[str], environment: Mapping[str, str], folder: Path) -> tuple[int, str]:
    """The exit code and the output of a playbook; one that hangs fails the test with all its stacks."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        command, env=environment, cwd=folder, stdout=pipe, stderr=subprocess.STDOUT, text=True
    )
    try:
        text, _none = process.communicate(timeout=LONGEST)
    except subprocess.TimeoutExpired:
        for one in [*descendants(process.pid), process.pid]:
            os.kill(one, signal.SIGABRT)
        text, _none = process.communicate()
        pytest.fail(f"ansible-playbook hangs: {text}")
    return process.returncode, text
