# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role and the playbook of errands as users start them, and the modules in processes of their own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster.paths import ROOT

from .conftest import Author, job_template

pytestmark = pytest.mark.cluster


class Playbooks:
    """Runs playbooks on the cluster of an author."""

    def __init__(self, folder: Path, author: Author) -> None:
        self._folder = folder
        self._author = author

    def play(self, name: str, *arguments: str, fails: bool = False, **variables: Any) -> str:
        """What a playbook prints; it has to succeed or to fail.

        Args:
            name: of a playbook, or its path.
            arguments: of ansible-playbook.
            fails: whether it has to fail.
            variables: extra variables.
        """
        given = {"kyma_kubeconfig": self._author.kubeconfig, **variables}
        done = subprocess.run(
            [sys.executable, "-m", "ansible.cli.playbook", name, *arguments, "-e", json.dumps(given)],
            cwd=self._folder,
            env={**os.environ, "ANSIBLE_NOCOLOR": "1", "ANSIBLE_LOCALHOST_WARNING": "0"},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert (done.returncode != 0) is fails, done.stdout + done.stderr
        assert "Traceback" not in done.stdout + done.stderr
        return done.stdout + done.stderr

    def tasks(self, *tasks: dict[str, Any], **keywords: Any) -> str:
        """What a play of some tasks prints, with the role's variables as they are given."""
        play = {"hosts": "localhost", "gather_facts": False, "tasks": list(tasks), **keywords}
        path = self._folder / "play.yml"
        path.write_text(yaml.safe_dump([play]))
        return self.play(str(path))


@pytest.fixture
def playbooks(tmp_path: Path, author: Author) -> Playbooks:
    return Playbooks(tmp_path, author)


def recap(text: str) -> dict[str, int]:
    line = next(line for line in reversed(text.splitlines()) if re.match(r"localhost\s+: ok=", line))
    return {name: int(count) for name, count in re.findall(r"(\w+)=(\d+)", line)}


def test_the_role_declares_and_runs_and_changes_nothing_a_second_time(
    playbooks: Playbooks, author: Author
) -> None:
    role = {"ansible.builtin.import_role": {"name": "kyma.lifecycle.kyma_errand"}}
    variables = {
        "kyma_errand_name": "setup",
        "kyma_errand_namespace": author.namespace,
        "kyma_errand_template": job_template(),
        "kyma_errand_trigger": "once",
        "kyma_errand_timeout": 60,
    }
    first = playbooks.tasks(role, vars=variables)
    assert recap(first)["changed"] == 1
    assert f"[localhost] Errand {author.namespace}/setup: succeeded" in first
    assert recap(playbooks.tasks(role, vars=variables))["changed"] == 0
    assert recap(playbooks.tasks(role, vars={**variables, "kyma_errand_state": "absent"}))["changed"] == 1
    assert author.info() == {}


def test_the_playbook_reconciles_until_nothing_is_left(playbooks: Playbooks, author: Author) -> None:
    author.errand(
        name="setup", template=job_template(), trigger="once", reconcile=False, wait=False
    ).succeeded()
    name, variables = "kyma.lifecycle.reconcile_errands", {"kyma_errand_namespaces": [author.namespace]}
    rehearsed = playbooks.play(name, "--check", **variables)
    assert "create Job setup-1" in rehearsed
    assert author.info()["setup"]["run"] is None
    assert "create Job setup-1" in playbooks.play(name, **variables)
    for _each in range(10):
        if recap(playbooks.play(name, **variables))["changed"] == 0:
            break
    assert author.info()["setup"]["phase"] == "Succeeded"


@pytest.mark.parametrize("asynchronous", [False, True], ids=["in process", "shipped"])
def test_results_are_the_same_wherever_the_module_works(
    playbooks: Playbooks, author: Author, asynchronous: bool
) -> None:
    connection = {"kubeconfig": author.kubeconfig}
    options = {**connection, "name": "backup", "namespace": author.namespace, "template": job_template()}
    # With poll 0 the module is shipped, and left alone.
    keywords: dict[str, Any] = {"async": 100, "poll": 0} if asynchronous else {}
    tasks: list[dict[str, Any]] = [
        {"kyma.lifecycle.errand": {**options, "trigger": "now"}, "register": "done", **keywords}
    ]
    if asynchronous:
        tasks.append(
            {
                "ansible.builtin.async_status": {"jid": "{{ done.ansible_job_id }}"},
                "register": "done",
                "until": "done.finished",
                "retries": 100,
                "delay": 1,
            }
        )
    text = playbooks.tasks(
        *tasks,
        {"kyma.lifecycle.errand_info": {**connection, "names": ["backup"]}, "register": "found"},
        {
            "ansible.builtin.assert": {
                "that": [
                    "done is changed",
                    "done.run == 1",
                    "done.outcome == 'Completed'",
                    "done.errand.phase == 'Succeeded'",
                    f"'--namespace {author.namespace} ' in done.log_command",
                    f"(found.errands | selectattr('namespace', 'eq', '{author.namespace}') | first)"
                    ".phase == 'Succeeded'",
                ]
            }
        },
    )
    assert recap(text)["failed"] == 0


def test_the_example_can_be_rehearsed(playbooks: Playbooks, author: Author) -> None:
    example = str(ROOT / "examples" / "errands.yml")
    text = playbooks.play(
        example,
        "--check",
        "--diff",
        kyma_errand_namespace=author.namespace,
        kyma_errand_holder_image="busybox",
    )
    assert "+kind: Errand" in text
    assert recap(text)["changed"] == 1
