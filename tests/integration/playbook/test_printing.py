# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a deployment prints: documents for programs, and lines for people that tell several clusters apart."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.support.accounts import deployer_of
from tests.support.own_cluster import OwnCluster
from tests.support.playbook_run import PLAYBOOK, Outcome, Playbook
from tests.support.small_release import NAMESPACE, SmallRelease, config_map, deployment

pytestmark = [pytest.mark.control_plane, pytest.mark.night]

REASON = "ImagePullBackOff"
BROKEN = deployment("broken", image="broken.invalid/x", progressDeadlineSeconds=3)
PLAN_TASK = "kyma.lifecycle.kyma : Plan"
KINDS = ("failure", "error")
ESCAPE = "\x1b["
SLOW_SECONDS = 6


def call(
    playbook: Playbook, release: Path, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the playbook with its two streams apart, as a program does."""
    extra = json.dumps({"kyma_release": str(release), "kyma_component_timeout": 40})
    return subprocess.run(
        [str(Path(sys.executable).with_name("ansible-playbook")), PLAYBOOK, "-e", extra, *arguments],
        env={**playbook.environment, "KYMA_TEST_RECORD": str(playbook.folder / "record"), **environment},
        cwd=playbook.folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def tasks_of(document: dict[str, Any], host: str = "localhost") -> dict[str, dict[str, Any]]:
    """The result of each task that a document of ``ansible.posix.json`` has, by the task's name."""
    return {
        task["task"]["name"]: task["hosts"][host]
        for play in document["plays"]
        for task in play["tasks"]
        if host in task["hosts"]
    }


@pytest.fixture(scope="module")
def release(small: SmallRelease) -> SmallRelease:
    """A release with a component that fails, one that needs it, and one that takes longer."""
    small.component("broken", BROKEN)
    small.component("fine", config_map("fine", v="1"))
    small.component("dependent", config_map("dependent"), needs=["broken"])
    return small


@pytest.fixture(scope="module")
def rehearsed(playbook: Playbook, release: SmallRelease) -> subprocess.CompletedProcess[str]:
    """What a program gets of the plan."""
    return call(playbook, release.folder, "--check", "--diff", ANSIBLE_STDOUT_CALLBACK="ansible.posix.json")


@pytest.fixture(scope="module")
def failed(
    playbook: Playbook,
    release: SmallRelease,
    rehearsed: subprocess.CompletedProcess[str],
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[subprocess.CompletedProcess[str], Path]:
    """What a program gets of a deployment that fails, and the folder with JUnit's document."""
    assert rehearsed.returncode == 0
    junit = tmp_path_factory.mktemp("junit")
    done = call(
        playbook,
        release.folder,
        ANSIBLE_STDOUT_CALLBACK="ansible.posix.json",
        ANSIBLE_CALLBACKS_ENABLED="junit,kyma.lifecycle.durations",
        JUNIT_OUTPUT_DIR=str(junit),
        JUNIT_FAIL_ON_IGNORE="true",
    )
    return done, junit


@pytest.fixture(scope="module")
def shown(playbook: Playbook, release: SmallRelease, failed: tuple[object, Path]) -> Outcome:
    """What a person sees of it."""
    assert failed
    report = {"report": "report.html", "report_title": "A deployment that fails"}
    return playbook.deploy(release.folder, component_timeout=40, **report).failed()


def test_a_plan_for_a_program_is_a_document(rehearsed: subprocess.CompletedProcess[str]) -> None:
    planned = tasks_of(json.loads(rehearsed.stdout))[PLAN_TASK]
    assert planned["summary"][-1] == "Plan: 4 to create, 0 to change, 0 to delete, 0 migrations"
    # The diff of a person's screen is above the last lines.
    assert "\nplan: 4 to create, 0 to change, 0 to delete, 0 migrations\n" in rehearsed.stderr
    assert all(one["after_header"].startswith("[localhost] ") for one in planned["diff"])
    # A person who watches still sees it.
    assert "[localhost] Plan: 4 to create" in rehearsed.stderr
    assert ESCAPE not in rehearsed.stderr


def test_a_deployment_for_a_program_is_a_document(
    failed: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    done, _junit = failed
    document = json.loads(done.stdout)
    assert done.returncode != 0
    assert document["stats"]["localhost"]["failures"] == 1
    assert tasks_of(document)[PLAN_TASK]["plan"]["needed"]
    assert "Callback dispatch" not in done.stderr
    assert "[localhost] foundation, fine: succeeded (2 of 4 components)" in done.stderr
    assert "DURATIONS [localhost]" in done.stderr


def test_the_failed_task_is_the_one_whose_component_failed(
    failed: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    done, _junit = failed
    tasks = tasks_of(json.loads(done.stdout))
    broken = [name for name, result in tasks.items() if result.get("failed")]
    assert len(broken) == 2
    assert "Deploy" in broken[0]
    assert "broken" in broken[0]
    first, *rest = tasks[broken[0]]["msg"].splitlines()
    assert first.startswith(f"component broken failed: pod {NAMESPACE}/broken-")
    assert REASON in first
    assert rest == ["never started: dependent (it needs broken, which failed)"]
    # Ansible prints all of a failed result, so the end of the run, which has the plan, is no failure.
    [ended] = [result for name, result in tasks.items() if name.endswith("End the run")]
    assert (ended["state"], ended["failures"][-1]) == ("failed", rest[0])
    assert tasks[broken[1]] == {**tasks[broken[1]], "msg": "Kyma 1.0 is not deployed completely"}


def test_junit_gets_the_reason_of_a_failed_component(
    failed: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    _done, junit = failed
    [file] = junit.iterdir()
    cases = list(ElementTree.parse(file).iter("testcase"))
    # From ansible-core 2.20 on a task that fails has an exception, which JUnit calls an error.
    ends = [(str(case.get("name")), one) for case in cases for kind in KINDS for one in case.iter(kind)]
    failures = {name: one.get("message") for name, one in ends}
    [deploy] = [name for name in failures if "kyma_component : Deploy" in name]
    assert "component broken failed" in str(failures[deploy])


def test_a_person_reads_the_reason_once_and_again_in_the_last_lines(shown: Outcome) -> None:
    during, closing = shown.text.split("PLAY RECAP")
    reasons = [line for line in during.splitlines() if REASON in line and not _is_of_ansible(line)]
    assert closing.count(REASON) == 1
    assert len(reasons) == 1, shown.text
    assert "component broken failed" in reasons[0]
    assert "[localhost] broken: failed" in shown.text.splitlines()
    assert not [line for line in shown.text.splitlines() if "dependent: not started" in line]
    assert shown.recap["ignored"] == 1
    assert shown.recap["failed"] == 1


def _is_of_ansible(line: str) -> bool:
    """Whether a line is a whole result as JSON, which Ansible prints of each task that fails, or progress."""
    return line.startswith("fatal: [") or ": waiting (" in line


def test_the_report_is_written_though_the_deployment_has_failed(shown: Outcome, playbook: Playbook) -> None:
    page = (playbook.folder / "report.html").read_text("utf-8")
    assert "<title>A deployment that fails</title>" in page
    assert "localhost" in page
    assert REASON in page
    assert {"broken", "dependent"} <= set(re.findall(r"\w+", page))
    assert re.search(
        rf"kubectl --kubeconfig \S*{playbook.folder.name}/kubeconfig --context \S+ get kymaruns", page
    )
    # It changes no cluster, and its tasks do not hide that the deployment has failed.
    assert shown.status == 2
    assert shown.results[-1]["changed"] is False


@pytest.mark.parametrize(
    ("level", "is_shown"),
    [
        ("quiet", {"broken: failed": True, "broken: waiting (": False, "fine: succeeded": False}),
        ("normal", {"broken: failed": True, "broken: waiting (": False, "fine: succeeded": True}),
        ("all", {"broken: failed": True, "broken: waiting (": True, "fine: succeeded": True}),
    ],
)
def test_the_user_chooses_how_much_progress_is_printed(
    playbook: Playbook, release: SmallRelease, shown: Outcome, level: str, is_shown: dict[str, bool]
) -> None:
    assert shown.status
    release.write("fine", config_map("fine", v=level))
    done = call(playbook, release.folder, "-e", f"kyma_progress={level}")
    lines = [line for line in done.stdout.splitlines() if line.startswith("[localhost] ")]
    printed = {text: any(line.startswith(f"[localhost] {text}") for line in lines) for text in is_shown}
    assert printed == is_shown, done.stdout


def test_another_level_is_refused_before_anything_happens(playbook: Playbook, release: SmallRelease) -> None:
    done = call(playbook, release.folder, "-e", "kyma_progress=loud")
    assert done.returncode != 0
    message = " ".join((done.stdout + done.stderr).split())
    assert "kyma_progress is 'loud'. Set it to one of: quiet, normal, all" in message
    assert re.search(r"^localhost +: ok=2 +changed=0 ", done.stdout, re.MULTILINE)


def test_the_reason_comes_at_once_where_others_are_still_at_work(
    playbook: Playbook, release: SmallRelease, shown: Outcome
) -> None:
    assert shown.status
    release.write("fine", deployment("fine", ready_after=f"{SLOW_SECONDS}s"))
    outcome = playbook.deploy(release.folder, component_timeout=40, replace_immutable=["Deployment"]).failed()
    lines = [line for _time, line in outcome.lines]
    [at] = [n for n, line in enumerate(lines) if line.startswith("[localhost] broken: failed (")]
    assert REASON in lines[at]


def test_output_of_several_clusters_names_each(
    playbook: Playbook, release: SmallRelease, own_cluster: OwnCluster, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    deployer_of(own_cluster, other, "other")
    inventory = tmp_path / "fleet.ini"
    inventory.write_text(f"one\ntwo kyma_kubeconfig={other}/kubeconfig\n")
    done = call(playbook, release.folder, "--check", "--diff", "-i", str(inventory), ANSIBLE_FORCE_COLOR="0")
    for host in ("one", "two"):
        assert re.search(rf"^\[{host}\] Kyma 1\.0", done.stdout, re.MULTILINE)
        [plan] = re.findall(
            rf"^\[{host}\] Kyma .*\n(?:  .*\n)*\[{host}\] Plan: .*", done.stdout, re.MULTILINE
        )
        assert "resume    broken" in plan
        assert f"+++ after: [{host}] " in done.stdout


def test_a_plan_on_a_terminal_has_colours(playbook: Playbook, release: SmallRelease) -> None:
    release.write("fine", config_map("fine", v="1"), config_map("more"))
    done = call(playbook, release.folder, "--check", ANSIBLE_FORCE_COLOR="1", ANSIBLE_NOCOLOR="0")
    assert f"{ESCAPE}0;32m1 to create" in done.stdout


def test_a_misspelt_variable_is_reported_once_without_a_task(
    playbook: Playbook, release: SmallRelease, tmp_path: Path
) -> None:
    inventory = tmp_path / "fleet.ini"
    inventory.write_text("one\ntwo\n")
    more = ["--check", "-i", str(inventory), "-e", "kyma_componet_timeout=5"]
    done = call(playbook, release.folder, *more)
    warnings = re.findall(r"nothing\s+reads\s+the\s+variable\s+kyma_componet_timeout", done.stderr)
    assert len(warnings) == 1, done.stderr
    assert "did you mean kyma_component_timeout?" in " ".join(done.stderr.split())
    assert re.search(r"^one +: ok=1 ", done.stdout, re.MULTILINE)
