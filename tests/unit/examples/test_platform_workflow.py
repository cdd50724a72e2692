# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The workflow of the platform example: a pull request of a tenant can't get at the token of CI."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import yaml

from tests.cluster.paths import ROOT

EXAMPLE = ROOT / "examples" / "job_store" / "platform"
WORKFLOW: dict[str, Any] = yaml.safe_load((EXAMPLE / ".github" / "workflows" / "check-jobs.yml").read_text())
STEPS: dict[str, dict[str, Any]] = {step["name"]: step for step in WORKFLOW["jobs"]["check"]["steps"]}


def test_the_playbooks_are_those_of_the_main_branch() -> None:
    assert list(WORKFLOW["on"]) == ["pull_request_target"]
    assert WORKFLOW["permissions"] == {"contents": "read"}
    main, proposed = (step["with"] for step in STEPS.values() if "uses" in step)
    assert main == {"persist-credentials": False}
    assert proposed["path"] == "proposed"
    with_token = [name for name, step in STEPS.items() if "secrets." in str(step)]
    assert with_token == ["Check the jobs"]
    # What others may name freely does not become a part of a script.
    assert not any("${{" in step.get("run", "") for step in STEPS.values())


def test_its_commands_are_those_of_the_example() -> None:
    command = STEPS["Check the jobs"]["run"]
    assert "ansible-playbook check.yml --diff -e kyma_kubeconfig=" in command
    assert "kyma_kubeconfig" in (EXAMPLE / "check.yml").read_text()
    for step in STEPS.values():
        subprocess.run(["bash", "-n"], input=step.get("run", ""), text=True, check=True)


def test_only_files_of_tenants_are_taken_and_no_links(tmp_path: Path) -> None:
    for folder in ("tenants", "proposed/tenants/deeper"):
        (tmp_path / folder).mkdir(parents=True)
    for file in ("tenants/gone.yaml", "check.yml"):
        (tmp_path / file).write_text("main")
    for file in ("check.yml", "tenants/new team.yaml", "tenants/notes.txt", "tenants/deeper/other.yaml"):
        (tmp_path / "proposed" / file).write_text("proposed")
    (tmp_path / "proposed" / "tenants" / "link.yaml").symlink_to("/etc/passwd")
    subprocess.run(
        ["bash", "-e", "-c", STEPS["Take the files of tenants from it"]["run"]], cwd=tmp_path, check=True
    )
    assert [path.name for path in (tmp_path / "tenants").iterdir()] == ["new team.yaml"]
    assert (tmp_path / "check.yml").read_text() == "main"
