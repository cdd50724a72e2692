# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Code is loaded only from folders of files that the user named, and never from the working directory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ansible import context
from ansible.module_utils.common.collections import ImmutableDict
from ansible_collections.kyma.lifecycle.plugins.action.run_info import ActionModule
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.migration_info import DEFINITION
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.paths import folders_of_named_files

REPO = Path(__file__).resolve().parents[4]

UNNAMED_CODE = "raise AssertionError('code that nobody named was run')\n"


@pytest.fixture
def working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with code wherever a careless search would find it."""
    for folder in (".", "None"):
        code = tmp_path / folder / "kyma_migrations" / "theirs.py"
        code.parent.mkdir(parents=True)
        code.write_text(UNNAMED_CODE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def searched(task_vars: dict[str, Any]) -> list[str]:
    action = ActionModule.__new__(ActionModule)
    action._task = SimpleNamespace(no_log=False)
    action.definition = DEFINITION
    migration_set = action.materials({"migration_paths": []}, task_vars).migrations()
    assert migration_set.problems == ()
    return [one.partition(" ")[0] for one in migration_set.searched][1:]


@pytest.mark.usefixtures("working_directory")
@pytest.mark.parametrize("inventory_dir", [None, "", "None", "host,", ".", ","])
def test_an_inventory_that_is_no_file_names_no_folder(inventory_dir: str | None) -> None:
    book = "/somewhere/else"
    assert searched({"playbook_dir": book, "inventory_dir": inventory_dir}) == [f"{book}/kyma_migrations"]


def test_one_that_is_a_file_names_its_own(working_directory: Path) -> None:
    assert folders_of_named_files({"inventory_dir": str(working_directory)}) == [working_directory]


@pytest.mark.parametrize(
    ("options", "named"),
    [({}, True), ({"basedir": None}, False), ({"basedir": ""}, False), ({"basedir": "/books"}, True)],
    ids=[
        "ansible-playbook",
        "ansible",
        "ansible with an empty --playbook-dir",
        "ansible with --playbook-dir",
    ],
)
def test_a_command_without_a_playbook_names_no_folder_of_one(
    options: dict[str, Any], named: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context, "CLIARGS", ImmutableDict(options))
    folders = folders_of_named_files({"playbook_dir": "/books", "inventory_dir": None})
    assert folders == ([Path("/books")] if named else [])


def test_a_playbook_that_imports_one_of_a_collection_names_its_own_folder_too(
    working_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (working_directory / "deploy.yml").touch()
    books = ("deploy.yml", "kyma.lifecycle.deploy_kyma")
    monkeypatch.setattr(context, "CLIARGS", ImmutableDict({"args": books}))
    folders = folders_of_named_files({"playbook_dir": "/collection/playbooks", "inventory_dir": None})
    assert folders == [Path("/collection/playbooks"), working_directory]


@pytest.mark.parametrize("inventory", ["host,", "localhost,"])
def test_ansible_itself_runs_nothing_of_the_working_directory(
    inventory: str, working_directory: Path
) -> None:
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("KUBECONFIG")},
        "ANSIBLE_HOME": str(working_directory / "home"),
    }
    # Nobody answers there; migrations are loaded before anybody is asked.
    options = f"host=https://127.0.0.1:1 api_key=none release={REPO / 'examples' / 'release'}"
    program = Path(sys.executable).parent / "ansible"
    command = [
        program,
        "all",
        "-i",
        inventory,
        "-c",
        "local",
        "-m",
        "kyma.lifecycle.migration_info",
        "-a",
        options,
    ]
    shown = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert "127.0.0.1" in shown.stdout + shown.stderr
    assert "nobody named" not in shown.stdout + shown.stderr
