# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A release of six components of which four fail: its output is short, and the last lines are enough."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.kubectl import kubectl
from tests.support.own_cluster import OwnCluster
from tests.support.playbook_run import PLAYBOOK, Playbook
from tests.support.small_release import NAMESPACE, SmallRelease, config_map, deployment

pytestmark = pytest.mark.control_plane

COLUMNS = 80
"""Of Ansible's output into a pipe."""
MOST_ROWS, MOST_LAST, MOST_TIMES = 105, 15, 4
CAUSES = {
    "migrate": "this image always fails",
    "pending": "Unschedulable",
    "pull": "ImagePullBackOff",
    "crash": "CrashLoopBackOff",
}
"""By component, in the order in which they fail."""


def rows(text: str) -> int:
    """How many rows a text takes on a screen."""
    return sum(max(1, -(-len(line) // COLUMNS)) for line in text.splitlines())


@pytest.fixture(scope="module")
def release(small: SmallRelease) -> SmallRelease:
    """The release; each component fails at its own time."""
    pending = deployment("pending", progressDeadlineSeconds=11)
    pending["spec"]["template"]["spec"]["nodeSelector"] = {"disk": "none"}
    containers = [{"name": "main", "image": "failing.invalid/x"}]
    pod = {"spec": {"restartPolicy": "Never", "containers": containers}}
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "migrate"},
        "spec": {"backoffLimit": 0, "template": pod},
    }
    small.component("pull", deployment("pull", image="broken.invalid/x", progressDeadlineSeconds=13))
    small.component("crash", deployment("crash", image="crashing.invalid/x", progressDeadlineSeconds=15))
    small.component("pending", pending)
    small.component("migrate", job)
    small.component("fine", config_map("fine"))
    small.component("dependent", config_map("dependent"), needs=["pull"])
    return small


def play(playbook: Playbook, release: SmallRelease, **settings: str) -> subprocess.CompletedProcess[str]:
    """Deploy the release to the cluster ``eu`` of the default kubeconfig, without a terminal."""
    home = playbook.folder / "user"
    (home / ".kube").mkdir(parents=True, exist_ok=True)
    environment = {**playbook.environment, "HOME": str(home), **settings}
    shutil.copy(environment.pop("KUBECONFIG"), home / ".kube" / "config")
    (playbook.folder / "fleet.ini").write_text("eu\n")
    extra = json.dumps({"kyma_release": str(release.folder), "kyma_component_timeout": 60})
    return subprocess.run(
        [str(Path(sys.executable).with_name("ansible-playbook")), PLAYBOOK, "-i", "fleet.ini", "-e", extra],
        env={**environment, "KYMA_TEST_RECORD": str(playbook.folder / "record")},
        cwd=playbook.folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@pytest.fixture(scope="module")
def first(playbook: Playbook, release: SmallRelease) -> str:
    """The output of the first deployment."""
    return play(playbook, release).stdout


@pytest.fixture(scope="module")
def as_yaml(playbook: Playbook, release: SmallRelease, first: str) -> str:
    """The output of the second one, with results as YAML."""
    assert first
    return play(playbook, release, ANSIBLE_CALLBACK_RESULT_FORMAT="yaml").stdout


@pytest.fixture(scope="module")
def for_a_program(
    playbook: Playbook, release: SmallRelease, as_yaml: str, tmp_path_factory: pytest.TempPathFactory
) -> tuple[dict[str, Any], str, str]:
    """The document of a third one, what is printed beside it, and the document of JUnit."""
    assert as_yaml
    junit = tmp_path_factory.mktemp("junit")
    done = play(
        playbook,
        release,
        ANSIBLE_STDOUT_CALLBACK="ansible.posix.json",
        ANSIBLE_CALLBACKS_ENABLED="ansible.builtin.junit",
        JUNIT_OUTPUT_DIR=str(junit),
        JUNIT_FAIL_ON_IGNORE="true",
    )
    [file] = junit.glob("*.xml")
    return json.loads(done.stdout), done.stderr, file.read_text()


def last_lines(text: str) -> list[str]:
    """The lines below the recap."""
    return text.rpartition("PLAY RECAP")[2].strip().splitlines()[3:]


def assert_short(text: str) -> None:
    assert rows(text) <= MOST_ROWS, text
    for cause in CAUSES.values():
        # In the message, which Ansible prints twice, and in progress or the last lines.
        assert 2 <= text.count(cause) <= MOST_TIMES, (cause, text)
    for word in ('"plan"', "plan:", "durations", "digest", "wide"):
        assert word not in text


def test_all_output_is_short_and_shows_a_cause_at_most_four_times(first: str, as_yaml: str) -> None:
    assert_short(first)
    assert_short(as_yaml)


def test_the_last_lines_say_what_failed_and_why_and_what_to_do(first: str) -> None:
    lines = last_lines(first)
    assert rows("\n".join(lines)) <= MOST_LAST
    assert re.fullmatch(r"eu: failed, Kyma 1\.0, \d+\.\d s", lines[0])
    assert lines[1] == "component migrate: ended with exit code 1 (Error): this image always fails"
    shown = [line.split()[1].rstrip(":") for line in lines if line.startswith("component ")]
    assert shown == list(CAUSES)[: len(shown)]
    left = [int(match[1]) for line in lines if (match := re.match(r"and (\d+) more, in the record", line))]
    assert len(shown) + sum(left) == len(CAUSES)
    assert lines[-3:-1] == [
        "never started: dependent (it needs pull, which failed)",
        "next: correct what failed, then run the same playbook again: it continues",
    ]


def test_the_commands_of_the_last_lines_work_when_they_are_pasted(
    first: str, own_cluster: OwnCluster
) -> None:
    commands = [
        line.strip().removeprefix("record: ") for line in last_lines(first) if " kubectl " in f" {line}"
    ]
    assert len(commands) > 2
    for command in commands:
        words = command.split()
        assert words[0] == "kubectl"
        assert "--context" in words
        # The nodes of this cluster run no container, so it has no log.
        if "logs" not in words:
            assert NAMESPACE in kubectl(own_cluster.kubeconfig, *words[1:]) or "Run" in command


def test_a_document_stays_whole_and_the_last_lines_stand_beside_it(
    for_a_program: tuple[dict[str, Any], str, str],
) -> None:
    document, beside, junit = for_a_program
    tasks = [task for one in document["plays"] for task in one["tasks"]]
    results = {task["task"]["name"]: task["hosts"]["eu"] for task in tasks if "eu" in task["hosts"]}
    [ended] = [one for name, one in results.items() if name.endswith("End the run")]
    assert (ended["state"], len(ended["failures"])) == ("failed", 5)
    assert ended["plan"]["version"] == "1.0"
    assert {row["state"] for row in ended["durations"]} >= {"failed", "not started"}
    assert document["stats"]["eu"]["failures"] == 1
    assert "eu: failed, Kyma 1.0, " in beside
    assert beside.strip().splitlines()[-1].startswith("record: kubectl ")
    assert all(cause in junit for cause in CAUSES.values())
