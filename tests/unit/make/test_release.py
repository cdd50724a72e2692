# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What `make release` refuses, and in which files it sets the version."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.cluster.paths import ROOT
from tests.make import release
from tests.make.command import CommandError

PRESENT = release.version_of(ROOT)


def refusal(version: str, present: str = "1.2.3", changes: str = "", *, has_notes: bool = True) -> str:
    return release.refusal(version, present=present, changes=changes, has_notes=has_notes)


@pytest.mark.parametrize(
    "version", ["", "1.2", "v1.2.4", "1.02.4", "1.2.4-", "1.2.4-dev", "1.2.4\n", "1.2.4 "]
)
def test_no_semantic_version(version: str) -> None:
    assert "no semantic version" in refusal(version)


@pytest.mark.parametrize(
    ("version", "present"),
    [
        ("1.2.4", "1.2.3"),
        ("1.10.0", "1.9.9"),
        ("10.0.0", "9.9.9"),
        ("1.3.0-alpha.1", "1.2.3"),
        ("1.3.0-beta.1", "1.3.0-alpha.2"),
        ("1.3.0-rc.10", "1.3.0-rc.9"),
        ("1.3.0", "1.3.0-rc.10"),
    ],
)
def test_a_release_is_newer_than_the_one_before(version: str, present: str) -> None:
    assert refusal(version, present) == ""
    assert "is not newer than" in refusal(present, version)
    assert "is not newer than" in refusal(version, version)


def test_changes_without_a_commit_are_named() -> None:
    assert " M README.md" in refusal("1.2.4", changes=" M README.md")


def test_without_fragments_there_is_nothing_to_release() -> None:
    assert "no fragments" in refusal("1.2.4", has_notes=False)
    assert "no fragments" in refusal("1.3.0-rc.2", "1.3.0-rc.1", has_notes=False)


def test_the_release_after_its_last_candidate_needs_no_fragments() -> None:
    assert refusal("1.3.0", "1.3.0-rc.1", has_notes=False) == ""
    assert "no fragments" in refusal("1.3.1", "1.3.0-rc.1", has_notes=False)


@pytest.mark.parametrize("version", ["1.0.0", "1.0.0-rc.1"])
def test_the_first_release_may_have_any_version(version: str) -> None:
    assert refusal(version, "") == ""


def test_a_release_without_a_date_was_never_published(tmp_path: Path) -> None:
    assert release.undated_release(tmp_path) == ""
    changelog = tmp_path / release.CHANGELOG
    changelog.parent.mkdir()
    changelog.write_text("releases:\n  1.0.0: {changes: {}}\n")
    assert release.undated_release(tmp_path) == "1.0.0"
    changelog.write_text("releases:\n  1.0.0: {release_date: '2030-01-02'}\n")
    assert release.undated_release(tmp_path) == ""


def test_the_version_is_set_wherever_it_stands(tmp_path: Path) -> None:
    texts = {
        "galaxy.yml": "name: lifecycle\nversion: {}\n",
        "README.md": "install kyma-lifecycle-{}.tar.gz\n",
        "docs/page.md": "registry.example.com/kyma/lifecycle:{} kyma.lifecycle:{}, since 1.2.3\n",
    }
    others = {
        "tests/fixture.py": "kyma-lifecycle-1.2.3.tar.gz\n",
        "CHANGELOG.rst": "kyma.lifecycle:1.2.3\n",
        "docs/other.md": "other-lifecycle-1.2.3.tar.gz, kyma.lifecycle.plan\n",
    }
    for name, text in {**texts, **others}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text.replace("{}", "1.2.3"))
    (tmp_path / "docs" / "picture.png").write_bytes(b"\x89\xff")
    for words in (["init", "--quiet"], ["add", "--all"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    release.set_version(tmp_path, "1.3.0-rc.1")
    for name, text in texts.items():
        assert (tmp_path / name).read_text() == text.replace("{}", "1.3.0-rc.1")
    assert {name: (tmp_path / name).read_text() for name in others} == others
    # Again, from a version with a stage.
    release.set_version(tmp_path, "1.3.0")
    for name, text in texts.items():
        assert (tmp_path / name).read_text() == text.replace("{}", "1.3.0")


@pytest.mark.parametrize(
    ("title", "date"), [("1.2.2", "release_date: '2030-01-02'"), ("1.2.3", "changes: {}")]
)
def test_there_are_no_notes_of_another_version_or_without_a_date(
    title: str, date: str, tmp_path: Path
) -> None:
    (tmp_path / "galaxy.yml").write_text("version: 1.2.3\n")
    (tmp_path / "CHANGELOG.rst").write_text(f"Notes\n=====\n\nv{title}\n======\n")
    (tmp_path / release.CHANGELOG).parent.mkdir()
    (tmp_path / release.CHANGELOG).write_text(f"releases:\n  {title}: {{{date}}}\n")
    with pytest.raises(CommandError, match=r"does not begin with the notes of 1\.2\.3.*\n.*VERSION=1\.2\.3"):
        release.write_notes(tmp_path, tmp_path / "notes.md")


def test_a_work_tree_with_changes_stays_as_it_is(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    (tmp_path / "galaxy.yml").write_text("version: 1.2.3\n")
    with pytest.raises(CommandError, match=r"galaxy\.yml"):
        release.prepare(tmp_path, "1.3.0", "2030-01-02")
    assert (tmp_path / "galaxy.yml").read_text() == "version: 1.2.3\n"


def test_all_pages_and_examples_print_the_present_version() -> None:
    paths = release.mentioning(ROOT)
    assert ROOT / "README.md" in paths
    printed = {
        (str(path.relative_to(ROOT)), version)
        for path in paths
        for version in release.MENTION.findall(path.read_text())
    }
    assert [one for one in sorted(printed) if one[1] != PRESENT] == []


def test_each_addition_was_released_or_will_be() -> None:
    changelog = ROOT / "changelogs" / "changelog.yaml"
    released = set(yaml.safe_load(changelog.read_text())["releases"]) if changelog.exists() else {PRESENT}
    places = [*ROOT.glob("plugins/*/*.py"), *ROOT.glob("roles/*/meta/argument_specs.yml")]
    pattern = re.compile(r"^ *version_added: ['\"]?([^'\"\s]+)", re.MULTILINE)
    added = {
        (str(path.relative_to(ROOT)), version)
        for path in places
        for version in pattern.findall(path.read_text())
    }
    assert len(added) > 20
    wrong = [(path, version) for path, version in sorted(added) if version not in released]
    assert [(path, version) for path, version in wrong if refusal(version, PRESENT)] == []
