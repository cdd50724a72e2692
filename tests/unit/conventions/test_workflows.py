# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The workflows call commands of the Makefile for all versions, with pinned actions and few rights."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster.paths import ROOT
from tests.make.cores import SUPPORTED
from tests.make.newest import NAMES
from tests.make.newest import SUPPORTED as SUPPORTED_NAMES
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


def test_each_right_to_write_has_its_job() -> None:
    assert TESTS["permissions"] == RELEASE["permissions"] == {"contents": "read"}
    rights = {
        name: {right for right, access in job["permissions"].items() if access == "write"}
        for workflow in (TESTS, RELEASE)
        for name, job in workflow["jobs"].items()
        if "permissions" in job
    }
    assert rights == {
        "build": {"id-token", "attestations"},
        "publish": {"contents"},
        "site": {"contents"},
    }
    assert RELEASE["jobs"]["publish"]["environment"] == "release"
    secrets = [name for name, job in RELEASE["jobs"].items() if "secrets." in str(job)]
    assert secrets == ["publish"]
    named = set(re.findall(r"secrets\.(\w+)", str(RELEASE)))
    page = (ROOT / "docs" / "support.md").read_text(encoding="utf-8")
    assert len(named) > 2
    assert {name for name in named if f"`{name}`" not in page} == set()


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


def test_each_week_the_newest_versions_are_tried_without_a_lock() -> None:
    job = TESTS["jobs"]["newest"]
    assert _matrix(job)["core"] == list(NAMES)
    unsupported = " || ".join(f"matrix.core == '{name}'" for name in NAMES if name not in SUPPORTED_NAMES)
    assert job["continue-on-error"] == f"${{{{ {unsupported} }}}}"
    assert "schedule" in job["if"]
    assert job["steps"][-1] == {"run": "make build newest", "env": {"CORE": "${{ matrix.core }}"}}


def test_a_release_has_its_own_notes_and_a_candidate_is_a_pre_release(tmp_path: Path) -> None:
    (step,) = [one for one in RELEASE["jobs"]["publish"]["steps"] if "gh release" in one.get("run", "")]
    (tmp_path / "gh").write_text('#!/bin/sh\necho "$@"\n')
    (tmp_path / "gh").chmod(0o755)
    (tmp_path / "release").mkdir()
    (tmp_path / "release" / "a.tar.gz").touch()
    for tag, kind in (("1.2.0", "--latest"), ("1.2.0-rc.1", "--prerelease")):
        printed = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", step["run"]],
            cwd=tmp_path,
            env={"PATH": f"{tmp_path}:/usr/bin:/bin", "TAG": tag},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        words = f"{tag} --verify-tag {kind} --title {tag} --notes-file notes.md release/a.tar.gz"
        assert printed == f"release create {words}\n"


def test_a_release_is_attested_and_its_site_is_published_after_it() -> None:
    build, site = RELEASE["jobs"]["build"], RELEASE["jobs"]["site"]
    runs = [step.get("run", step.get("uses", "")) for step in build["steps"]]
    made = runs.index("make tarball notes")
    (attested,) = [place for place, run in enumerate(runs) if "attest-build-provenance" in run]
    assert made < attested
    assert build["steps"][attested]["with"] == {"subject-checksums": ".build/tarball/SHA256SUMS"}
    assert site["needs"] == "publish"


def test_sites_of_all_versions_are_pushed_together(tmp_path: Path) -> None:
    steps = [step for step in RELEASE["jobs"]["site"]["steps"] if "pages" in step.get("run", "")]
    remote = tmp_path / "remote"
    subprocess.run(["git", "init", "--quiet", "--bare", remote], check=True)
    program = tmp_path / "bin" / "gh"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    for tag in ("1.0.0", "1.1.0"):
        folder = tmp_path / tag
        python = folder / ".build" / "venv" / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.write_text(f"#!/bin/sh\nmkdir $3/{tag} && touch $3/{tag}/index.html\n")
        python.chmod(0o755)
        for step in steps:
            subprocess.run(
                ["bash", "-euo", "pipefail", "-c", step["run"]],
                cwd=folder,
                env={"PATH": f"{program.parent}:/usr/bin:/bin", "TAG": tag, "REPOSITORY": str(remote)},
                check=True,
            )
    command = ["git", "-C", remote, "ls-tree", "-r", "--name-only", "gh-pages"]
    published = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert published.split() == ["1.0.0/index.html", "1.1.0/index.html"]


def test_a_release_and_the_last_job_need_all_tests() -> None:
    jobs = set(TESTS["jobs"]) - {"all"}
    assert set(TESTS["jobs"]["all"]["needs"]) == jobs
    assert RELEASE["jobs"]["tests"] == {"uses": "./.github/workflows/tests.yml"}
    assert RELEASE["jobs"]["build"]["needs"] == "tests"
    assert RELEASE["jobs"]["publish"]["needs"] == "build"


def _matrix(job: dict[str, Any]) -> dict[str, list[str]]:
    matrix: dict[str, list[str]] = job.get("strategy", {}).get("matrix", {})
    return matrix
