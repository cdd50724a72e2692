# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a release tells its version, and what else it says of itself."""

from __future__ import annotations

import pwd
import subprocess
from pathlib import Path
from typing import NoReturn

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.release_error import ReleaseError
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.release_file import (
    ReleaseDeclaration,
    parse_release_file,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.version import (
    version_in_decorations,
    version_in_name,
    version_of_checkout,
)


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("2.9", "2.9"),
        ("v2.9.1", "2.9.1"),
        ("kyma-2.10.1", "2.10.1"),
        ("kyma-release-2.9", "2.9"),
        ("release-2.11", "2.11"),
        ("kyma-2.9.0-rc1", "2.9.0-rc1"),
        ("2.9.3.tar.gz", "2.9.3"),
        ("kyma-2.9.tgz", "2.9"),
        ("kyma", ""),
        ("main", ""),
        ("python-3.11", ""),
        ("2", ""),
        ("2.9-old", ""),
    ],
)
def test_a_version_is_read_from_a_name(name: str, version: str) -> None:
    assert version_in_name(name) == version


@pytest.mark.parametrize(
    ("decorations", "version"),
    [
        ("HEAD -> refs/heads/release-2.9", "2.9"),
        ("HEAD -> refs/heads/release-2.9, tag: refs/tags/2.9.10, tag: refs/tags/2.9.9", "2.9.10"),
        ("HEAD, refs/remotes/origin/release-2.10, refs/heads/mine", "2.10"),
        ("HEAD -> refs/heads/main", ""),
        ("", ""),
    ],
)
def test_decorations_of_a_commit(decorations: str, version: str) -> None:
    assert version_in_decorations(decorations) == version


def test_a_git_checkout_by_branch_and_by_packed_annotated_tag(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
        subprocess.run(["git", "-C", str(tmp_path), *identity, *arguments], check=True, capture_output=True)

    assert version_of_checkout(tmp_path) == ""
    git("init", "-q", "-b", "release-2.9")
    git("commit", "-q", "--allow-empty", "-m", "x")
    assert version_of_checkout(tmp_path) == "2.9"
    git("tag", "-a", "2.9.3", "-m", "x")
    git("pack-refs", "--all")
    git("checkout", "-q", "--detach")
    assert version_of_checkout(tmp_path) == "2.9.3"


def test_a_user_without_a_home_reads_the_version_of_a_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_entry(uid: int) -> NoReturn:
        raise KeyError(uid)

    subprocess.run(["git", "init", "-q", "-b", "release-2.9", str(tmp_path)], check=True)
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    commit = ["git", "-C", str(tmp_path), *identity, "commit", "-q", "--allow-empty", "-m", "x"]
    subprocess.run(commit, check=True)
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(pwd, "getpwuid", no_entry)
    assert version_of_checkout(tmp_path) == "2.9"


@pytest.mark.parametrize("remote", ["url = {objects}\nuploadpack = {command}", "url = ext::{command}"])
def test_no_command_in_the_settings_of_a_checkout_runs(tmp_path: Path, remote: str) -> None:
    trace = tmp_path / "trace"
    command = f"touch {trace}"
    repository, objects = tmp_path / "release", tmp_path / "objects"
    for folder in (repository, objects):
        subprocess.run(["git", "init", "-q", str(folder)], check=True)
    (repository / ".git" / "HEAD").write_text("1" * 40)
    (repository / ".git" / "config").write_text(
        "[core]\nrepositoryformatversion = 1\n[extensions]\npartialClone = origin\n"
        '[protocol]\nallow = always\n[protocol "ext"]\nallow = always\n'
        f'[remote "origin"]\npromisor = true\n{remote.format(objects=objects, command=command)}\n'
    )
    assert version_of_checkout(repository) == ""
    assert not trace.exists()


@pytest.mark.parametrize("content", ["ref: refs/heads/release-2.9", b"\xff"])
def test_the_head_of_a_checkout_is_no_file_outside_of_it(tmp_path: Path, content: str | bytes) -> None:
    (tmp_path / "head").write_bytes(content if isinstance(content, bytes) else content.encode())
    git = tmp_path / "release" / ".git"
    git.mkdir(parents=True)
    (git / "HEAD").symlink_to(tmp_path / "head")
    assert version_of_checkout(git.parent) == ""
    (git / "HEAD").unlink()
    (git / "HEAD").write_bytes((tmp_path / "head").read_bytes())
    assert version_of_checkout(git.parent) == ("2.9" if isinstance(content, str) else "")


def test_the_branch_names_the_version_without_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/release-2.9\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert version_of_checkout(tmp_path) == "2.9"


def test_a_release_file_is_parsed() -> None:
    text = 'version: 2.10\nupgrades_from: [2.9, "v2.8.3"]\nkubernetes: ">=1.24,<1.30"\n'
    assert parse_release_file(text, "f") == ReleaseDeclaration("2.10", ("2.9", "2.8.3"), ">=1.24,<1.30")
    assert parse_release_file("version: '2.9'", "f") == ReleaseDeclaration("2.9")
    assert parse_release_file("upgrades_from: 2.8", "f").upgrades_from == ("2.8",)


def test_all_errors_of_a_release_file_are_reported() -> None:
    with pytest.raises(ReleaseError) as caught:
        parse_release_file(
            "versoin: 1\nversion: main\nupgrades_from: [old]\nkubernetes: 1.24 - 1.30\n", "r.yaml"
        )
    assert [str(problem) for problem in caught.value.problems] == [
        "r.yaml:1: the key 'versoin' is unknown here: did you mean version?",
        "r.yaml:1: 'main' is not a version",
        "r.yaml:1: 'old' is not a version",
        "r.yaml:1: kubernetes: '1.24 - 1.30' is not a range like '>=1.24,<1.30'",
    ]
