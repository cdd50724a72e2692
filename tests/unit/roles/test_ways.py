# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which tasks the role ``kyma`` comes to, by what its modules answer: Ansible's own work, and no cluster."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.paths import ROOT

ANSWERS, CALLS = "KYMA_TEST_ANSWERS", "KYMA_TEST_CALLS"
SCRIPTED = f"""
import json, os
from pathlib import Path
from ansible.plugins.action import ActionBase

class ActionModule(ActionBase):
    _supports_check_mode = True

    def run(self, tmp=None, task_vars=None):
        module, args = self._task.action.rpartition(".")[2], self._task.args
        with open(os.environ["{CALLS}"], "a") as file:
            file.write(json.dumps([module, args]) + "\\n")
        name = " ".join([module, args.get("state", "")]).strip()
        script = Path(os.environ["{ANSWERS}"])
        answers = json.loads(script.read_text())
        answer = answers[name].pop(0) if answers.get(name) else {{}}
        script.write_text(json.dumps(answers))
        return {{"changed": False, "check_mode": self._task.check_mode, **answer}}
"""
"""An action plugin that answers what it is told to answer."""
FOREIGN = ("ANSIBLE_", "K8S_AUTH_", "KUBECONFIG", "PYTHONPATH")
STAGE = {"role": "", "tasks": "main", "components": ["logging"], "phase": ""}
OUTDATED = {"run": "", "outdated": True}


def planned(*versions: str, **more: Any) -> dict[str, Any]:
    """What ``plan`` answers: a way of these versions."""
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
    """What came of a playbook.

    Attributes:
        status: exit code.
        text: what it printed.
        calls: each task of ours, as its module's name and its options.
    """

    status: int
    text: str
    calls: list[tuple[str, Mapping[str, Any]]]

    def succeeded(self) -> Played:
        """Itself, if the playbook has succeeded."""
        assert self.status == 0, self.text
        return self

    @property
    def done(self) -> list[str]:
        """What was done, one after the other."""
        return [
            " ".join(
                str(one)
                for one in (module, args.get("state"), args.get("run"), args.get("release"))
                if one and one != "started"
            )
            for module, args in self.calls
        ]

    def of(self, module: str) -> list[Mapping[str, Any]]:
        return [args for name, args in self.calls if name == module]


class Plays:
    """Plays the role with modules that answer by a script.

    Args:
        folder: is the tests' own.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        ours = folder / "collections" / "ansible_collections" / "kyma" / "lifecycle"
        actions = ours / "plugins" / "action"
        actions.mkdir(parents=True)
        (ours / "roles").symlink_to(ROOT / "roles")
        for module in ("plan", "run", "component", "migration"):
            (actions / f"{module}.py").write_text(SCRIPTED)

    def play(
        self, answers: Mapping[str, Sequence[Mapping[str, Any]]], *options: str, **keywords: Any
    ) -> Played:
        """Play the role, with keywords; what the script has no more answers for changes nothing."""
        role = {"name": "kyma.lifecycle.kyma", "rolespec_validate": False}
        tasks = [{"ansible.builtin.import_role": role, **keywords}]
        play = {"hosts": "localhost", "gather_facts": False, "tasks": tasks}
        book, script, calls = (self._folder / name for name in ("book.json", "answers", "calls"))
        book.write_text(json.dumps([play]))
        script.write_text(json.dumps(answers))
        calls.touch()
        own = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
        ended = subprocess.run(
            [str(Path(sys.executable).parent / "ansible-playbook"), str(book), *options],
            env={
                **own,
                "ANSIBLE_HOME": str(self._folder / "home"),
                "ANSIBLE_COLLECTIONS_PATH": str(self._folder / "collections"),
                ANSWERS: str(script),
                CALLS: str(calls),
            },
            cwd=self._folder,
            capture_output=True,
            text=True,
            check=False,
        )
        made = [tuple(json.loads(line)) for line in calls.read_text().splitlines()]
        return Played(ended.returncode, ended.stdout + ended.stderr, made)


@pytest.fixture
def plays(tmp_path: Path) -> Plays:
    return Plays(tmp_path)


def test_a_plan_that_is_made_anew_is_carried_out_to_its_last_hop(plays: Plays) -> None:
    # Somebody has brought an empty cluster to 2.9 meanwhile, from where there are two hops.
    answers = {
        "plan": [planned("2.11"), planned("2.10", "2.11"), planned("2.11")],
        "run started": [OUTDATED, begun("first"), begun("second")],
    }
    played = plays.play(answers, "-e", "kyma_release=2.11", "-e", "kyma_hops=auto").succeeded()
    assert played.done[:-1] == [
        "plan 2.11",
        "run",
        "plan 2.11",
        "run",
        "component first 2.10",
        "run finished first",
        "plan 2.11",
        "run",
        "component second 2.11",
        "run finished second",
    ]
    # Of which objects change a run is told nothing, and of all else that it was planned with everything.
    begins = [one["plan"] for one in played.of("run") if one["state"] == "started"]
    expected = {**planned("2.11")["plan"], "components": [{"name": "shop", "action": "install"}]}
    assert begins[-1] == expected
    # Where it was outdated nothing was begun; what has ended says again how.
    assert played.done[-1] == "run finished second"
    assert [(one["hops"], one["plan_hop"]) for one in played.of("plan")] == [
        ("auto", 1),
        ("auto", 1),
        ("refuse", 2),
    ]


def test_a_way_whose_first_hop_is_planned_anew_is_gone_once(plays: Plays) -> None:
    answers = {
        "plan": [planned("2.10", "2.11"), planned("2.10", "2.11"), planned("2.11")],
        "run started": [OUTDATED, begun("first"), begun("second")],
    }
    played = plays.play(answers, "-e", "kyma_release=2.11", "-e", "kyma_hops=auto").succeeded()
    assert [args["release"] for args in played.of("component")] == ["2.10", "2.11"]
    assert len(played.of("plan")) == 3


def test_a_later_hop_that_is_planned_anew_is_that_hop_alone(plays: Plays) -> None:
    answers = {
        "plan": [planned("2.10", "2.11"), planned("2.11"), planned("2.11")],
        "run started": [begun("first"), OUTDATED, begun("second")],
    }
    played = plays.play(answers, "-e", "kyma_release=2.12", "-e", "kyma_hops=auto").succeeded()
    assert [(one["release"], one["hops"], one["plan_hop"]) for one in played.of("plan")] == [
        ("2.12", "auto", 1),
        ("2.11", "refuse", 2),
        ("2.11", "refuse", 2),
    ]
    assert [args["release"] for args in played.of("component")] == ["2.10", "2.11"]


def test_a_plan_made_anew_that_finds_nothing_left_to_do_notes_what_it_has_seen(plays: Plays) -> None:
    seen = planned("2.11", needed=False, noted={"logging": ["something"]})
    played = plays.play({"plan": [planned("2.11"), seen], "run started": [OUTDATED]}).succeeded()
    assert [one.get("state") for one in played.of("run")] == ["started", "noted"]


def test_what_keeps_a_plan_made_anew_from_beginning_is_all_that_fails(plays: Plays) -> None:
    held = {"failed": True, "msg": "the cluster is held"}
    played = plays.play({"plan": [planned("2.11"), planned("2.11")], "run started": [OUTDATED, held]})
    assert played.status
    assert "the cluster is held" in played.text
    assert played.text.count("fatal: ") == 1, played.text


@pytest.mark.parametrize(("options", "keywords"), [(["--check"], {}), ([], {"check_mode": True})])
def test_check_mode_ends_after_the_plan_however_it_was_asked_for(
    plays: Plays, options: list[str], keywords: dict[str, Any]
) -> None:
    played = plays.play({"plan": [planned("2.10", "2.11")]}, *options, **keywords).succeeded()
    assert [module for module, _args in played.calls] == ["plan"]


def test_what_is_taken_out_of_check_mode_is_carried_out(plays: Plays) -> None:
    answers = {"plan": [planned("2.11")], "run started": [begun("first")]}
    played = plays.play(answers, "--check", check_mode=False).succeeded()
    assert [module for module, _args in played.calls] == ["plan", "run", "component", "run"]
