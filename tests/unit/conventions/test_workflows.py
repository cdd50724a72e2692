# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The workflows call commands of the Makefile for all versions, with pinned actions and few rights."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from tests.cluster.paths import ROOT
from tests.make.cores import SUPPORTED
from tests.make.steps import STEPS

FOLDER = ROOT / ".github"
TESTS: dict[str, Any] = yaml.safe_load((FOLDER / "workflows" / "tests.yml").read_text(encoding="utf-8"))
RELEASE: dict[str, Any] = yaml.safe_load((FOLDER / "workflows" / "release.yml").read_text(encoding="utf-8"))
FILES = sorted([*FOLDER.glob("workflows/*.yml"), *FOLDER.glob("actions/*/action.yml")])
MAKE = re.compile(r"\bmake ([a-z][a-z -]*)")
VERBS = set(re.findall(r"^([a-z-]+): ## ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name + "/" + path.name)
def test_actions_are_pinned_to_a_commit(path: Any) -> None:
    used = re.findall(r"uses: (\S+)(.*)", path.read_text(encoding="utf-8"))
    others = [(action, note) for action, note in used if not action.startswith("./")]
    loose = [
        action
        for action, note in others
        if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action) or not re.fullmatch(r" # v[\d.]+", note)
    ]
    assert loose == []


def test_only_the_job_that_publishes_may_write() -> None:
    assert TESTS["permissions"] == RELEASE["permissions"] == {"contents": "read"}
    rights = {
        name: job["permissions"]
        for workflow in (TESTS, RELEASE)
        for name, job in workflow["jobs"].items()
        if "permissions" in job
    }
    assert rights == {"publish": {"contents": "write"}}
    assert RELEASE["jobs"]["publish"]["environment"] == "release"


def test_each_command_is_one_of_the_makefile() -> None:
    jobs = [*TESTS["jobs"].values(), *RELEASE["jobs"].values()]
    commands = [step.get("run", "") for job in jobs for step in job.get("steps", ())]
    words = {word for text in commands for command in MAKE.findall(text) for word in command.split()}
    words |= {word for job in jobs for step in _matrix(job).get("step", ()) for word in step.split()}
    assert {"integration", "unit-all", "sanity-all", "tarball", "build"} <= words <= VERBS & set(STEPS)


def test_each_supported_ansible_core_has_its_jobs() -> None:
    job = TESTS["jobs"]["ansible-core"]
    assert _matrix(job)["core"] == [core.version for core in SUPPORTED]
    pythons = job["steps"][1]["with"]["pythons"].split()
    assert sorted(pythons) == sorted(
        {".".join(map(str, python)) for core in SUPPORTED for python in core.pythons}
    )


def test_a_release_and_the_last_job_need_all_tests() -> None:
    jobs = set(TESTS["jobs"]) - {"all"}
    assert set(TESTS["jobs"]["all"]["needs"]) == jobs
    assert RELEASE["jobs"]["tests"] == {"uses": "./.github/workflows/tests.yml"}
    assert RELEASE["jobs"]["build"]["needs"] == "tests"
    assert RELEASE["jobs"]["publish"]["needs"] == "build"


def _matrix(job: dict[str, Any]) -> dict[str, list[str]]:
    matrix: dict[str, list[str]] = job.get("strategy", {}).get("matrix", {})
    return matrix
