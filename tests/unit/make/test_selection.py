# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which tests belong to a room and to changed files."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from tests.make import command, selection, suites
from tests.make.command import CommandError
from tests.make.outcome import Outcome, passed
from tests.make.selection import changed_files, find_tests, folders_of, rooms
from tests.make.steps import STEPS

FILES = (
    "tests/unit/module_utils/_errands/output/test_output.py",
    "tests/unit/module_utils/_errands/test_errand_engine.py",
    "tests/unit/module_utils/test_text.py",
    "tests/unit/plugin_utils/_report/test_page.py",
    "tests/unit/make/test_steps.py",
    "tests/unit/docs/test_links.py",
    "tests/unit/conventions/test_rooms.py",
    "tests/unit/roles/test_options.py",
    "tests/unit/cluster_tools/test_daemon.py",
    "tests/integration/errands/test_task.py",
    "tests/integration/playbook/test_lease.py",
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in FILES:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path


def test_a_room_has_the_folders_with_its_name(root: Path) -> None:
    folders = ["tests/unit/module_utils/_errands", "tests/integration/errands"]
    assert folders_of("_errands", root) == folders
    assert folders_of("make", root) == ["tests/unit/make"]


def test_an_unknown_room_is_refused_with_those_that_there_are(root: Path) -> None:
    with pytest.raises(CommandError, match=r"ROOM=errand: .*\n  _errands, _report, cluster_tools, conv"):
        folders_of("errand", root)


def test_each_package_with_tests_is_a_room() -> None:
    packages = {
        path.name for path in (selection.ROOT / "tests/unit/module_utils").glob("_*") if path.is_dir()
    }
    assert packages - {"__pycache__"} <= rooms().keys()


@pytest.mark.parametrize(
    ("changed", "tests"),
    [
        ("plugins/module_utils/_errands/errand_engine.py", ["module_utils/_errands"]),
        ("plugins/module_utils/_errands/output/output.py", ["module_utils/_errands/output"]),
        ("plugins/module_utils/_errands/new/part.py", ["module_utils/_errands"]),
        ("plugins/module_utils/_text.py", ["module_utils/test_text.py"]),
        ("plugins/module_utils/_lost.py", []),
    ],
)
def test_code_has_the_folder_of_the_same_name_and_the_conventions(
    root: Path, changed: str, tests: Sequence[str]
) -> None:
    expected = ["tests/unit/conventions", *(f"tests/unit/{test}" for test in tests)]
    assert find_tests([changed], root) == expected


@pytest.mark.parametrize(
    ("changed", "tests"),
    [
        ("tests/make/steps.py", ["tests/unit/make"]),
        ("tests/cluster/daemon.py", ["tests/unit/cluster_tools"]),
        ("roles/deploy/defaults/main.yml", ["tests/unit/roles"]),
        ("docs/guide.md", ["tests/unit/docs"]),
        ("tests/unit/make/test_steps.py", ["tests/unit/make/test_steps.py"]),
        ("tests/unit/make/conftest.py", ["tests/unit/make"]),
        ("tests/unit/make/test_deleted.py", []),
        ("tests/integration/errands/test_task.py", ["tests/integration/errands/test_task.py"]),
        ("tests/faults/test_kills.py", []),
        ("pyproject.toml", []),
    ],
)
def test_other_files_select_the_tests_of_their_folder(root: Path, changed: str, tests: Sequence[str]) -> None:
    assert find_tests([changed], root) == tests


def test_a_file_of_a_folder_is_not_run_twice(root: Path) -> None:
    changed = ["tests/unit/make/test_steps.py", "tests/make/steps.py"]
    assert find_tests(changed, root) == ["tests/unit/make"]


def test_differences_from_the_main_branch_count_as_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def git(*words: str) -> None:
        author = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *author, *words], cwd=tmp_path, check=True, capture_output=True)

    for function in (command.read, command.must_read):
        monkeypatch.setattr(selection, function.__name__, partial(function, cwd=tmp_path))
    git("init", "--initial-branch", "main")
    for name in ("same", "edited", "committed"):
        (tmp_path / name).write_text("1")
    git("add", ".")
    git("commit", "-m", "first")
    git("switch", "-c", "branch")
    (tmp_path / "committed").write_text("2")
    git("commit", "-am", "second")
    git("switch", "main")
    (tmp_path / "same").write_text("2")
    git("commit", "-am", "later on main")
    git("switch", "branch")
    (tmp_path / "edited").write_text("2")
    (tmp_path / "new").touch()
    assert sorted(changed_files()) == ["committed", "edited", "new"]


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[str]]:
    """What pytest is called with."""
    calls: list[Sequence[str]] = []

    def run_pytest(_environment: object, _suite: str, arguments: Sequence[str], **_how: object) -> Outcome:
        calls.append(arguments)
        return passed()

    monkeypatch.setattr(suites.setup, "for_tests", lambda: None)
    monkeypatch.setattr(suites, "run_pytest", run_pytest)
    monkeypatch.delenv("ROOM", raising=False)
    return calls


def test_make_unit_runs_one_room_or_all(ran: list[Sequence[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    STEPS["unit"].do()
    monkeypatch.setenv("ROOM", "_errands")
    STEPS["unit"].do()
    of_unit = [*suites.UNIT.selection]
    assert ran == [
        [*suites.UNIT.folders, *of_unit],
        ["tests/unit/module_utils/_errands", "tests/integration/errands", *of_unit],
    ]


def test_make_changed_runs_nothing_where_nothing_has_changed(
    ran: list[Sequence[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selection, "changed_files", lambda: ["galaxy.yml"])
    assert STEPS["changed"].do() == passed()
    assert ran == []
    monkeypatch.setattr(selection, "changed_files", lambda: ["tests/make/steps.py"])
    STEPS["changed"].do()
    assert ran == [["tests/unit/make", *suites.UNIT.selection]]
