# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each requirements file has a lock that belongs to it, with a hash for each file that may be installed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.make import lock_writer, locks
from tests.make.command import CommandError

FILES = sorted(path.name for path in locks.REQUIREMENTS.glob("*.txt"))
ENTRY = re.compile(r"[a-z0-9-]+==[\w.]+( ; [^\\\n]+)?( \\\n    --hash=sha256:[0-9a-f]{64})+\n")
"""Nothing else may be in a lock, such as the address of an index."""
SHA = "a" * 64

Versions = dict[str, list[Requirement]]


def locked(file: str) -> Versions:
    """The entries of a lock by the name of their package; it has several if its version depends on Python."""
    versions: Versions = {}
    for line in re.findall(r"^([^ #].*) \\$", locks.lock_of(file).read_text(encoding="utf-8"), re.MULTILINE):
        requirement = Requirement(line)
        versions.setdefault(canonicalize_name(requirement.name), []).append(requirement)
    return versions


def required(path: Path) -> list[Requirement]:
    """What a requirements file asks for, with those that it includes."""
    requirements = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("-r "):
            requirements += required(path.parent / line.removeprefix("-r "))
        else:
            requirements.append(Requirement(line))
    return requirements


def version(requirement: Requirement) -> str:
    [specifier] = requirement.specifier
    assert specifier.operator == "=="
    return specifier.version


@pytest.fixture
def requirements(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder with one requirements file, which includes another one."""
    monkeypatch.setattr(locks, "REQUIREMENTS", tmp_path)
    (tmp_path / "run.txt").write_text("-r client.txt\nansible-core==2.21.5\n")
    (tmp_path / "client.txt").write_text("urllib3==2.8.0\n")
    locks.lock_of("run.txt").parent.mkdir()
    locks.lock_of("run.txt").write_text(locks.header("run.txt"))
    return tmp_path


@pytest.mark.parametrize("file", FILES)
def test_a_lock_belongs_to_its_requirements(file: str) -> None:
    locks.current_lock_of(file)  # its error says what to do


@pytest.mark.parametrize("file", FILES)
def test_a_lock_has_what_is_required(file: str) -> None:
    versions = locked(file)
    for one in required(locks.REQUIREMENTS / file):
        assert any(
            one.specifier.contains(version(entry)) for entry in versions[canonicalize_name(one.name)]
        ), one


@pytest.mark.parametrize("file", FILES)
def test_a_lock_has_hashes_and_nothing_else(file: str) -> None:
    first, *rest = locks.lock_of(file).read_text(encoding="utf-8").splitlines(keepends=True)
    assert first.startswith("# ")
    assert ENTRY.sub("", "".join(rest)) == ""


def test_there_is_no_lock_without_requirements() -> None:
    assert sorted(path.name for path in locks.lock_of("run.txt").parent.iterdir()) == FILES


@pytest.mark.parametrize("part", lock_writer.PARTS)
def test_locks_that_share_an_environment_agree(part: str) -> None:
    whole = locked(lock_writer.WHOLE)
    assert {name: whole[name] for name in locked(part)} == locked(part)


def test_a_current_lock_is_used(requirements: Path) -> None:
    assert locks.current_lock_of("run.txt") == requirements / "locked" / "run.txt"


@pytest.mark.parametrize("file", ["run.txt", "client.txt"], ids=["itself", "one that it includes"])
def test_after_a_change_the_lock_is_refused(requirements: Path, file: str) -> None:
    with (requirements / file).open("a") as changed:
        changed.write("packaging==26.3\n")
    with pytest.raises(CommandError) as raised:
        locks.current_lock_of("run.txt")
    assert str(raised.value) == (
        "tests/requirements/run.txt or a file that it includes has changed since its lock was written."
        " Only locked packages are installed. Write the locks again:\n  make locks"
    )


@pytest.mark.usefixtures("requirements")
def test_a_missing_lock_is_refused() -> None:
    with pytest.raises(CommandError, match="make locks"):
        locks.current_lock_of("client.txt")


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("py3-none-any", True),
        ("py2.py3-none-any", True),
        ("cp311-cp311-manylinux2014_x86_64.manylinux_2_17_x86_64", True),
        ("cp39-abi3-manylinux_2_28_aarch64", True),
        ("py3-none-macosx_11_0_arm64", True),
        ("cp314-cp314-macosx_10_13_universal2", True),
        ("cp310-cp310-manylinux2014_x86_64", False),
        ("cp313-cp313t-manylinux_2_28_x86_64", False),
        ("cp315-cp315-manylinux_2_28_x86_64", False),
        ("pp311-pypy311_pp73-manylinux_2_28_x86_64", False),
        ("cp313-cp313-manylinux2014_i686.manylinux_2_17_i686", False),
        ("cp313-cp313-musllinux_1_2_x86_64", False),
        ("cp313-cp313-win_amd64", False),
        ("cp313-cp313-macosx_10_13_x86_64", False),
    ],
)
def test_wheels_of_what_the_tests_run_on_are_locked(tags: str, expected: bool) -> None:
    assert lock_writer.fits(f"https://files.example.com/ab/pack_age-1.0-{tags}.whl") is expected


def test_an_entry_has_the_hashes_of_wheels_that_fit() -> None:
    names = (
        "cp311-cp311-manylinux_2_17_x86_64",
        "cp311-cp311-win_amd64",
        "cp312-cp312-manylinux_2_17_x86_64",
    )
    wheels = [
        {"url": f"https://files.example.com/a-1-{name}.whl", "hashes": {"sha256": digit * 64}}
        for name, digit in zip(names, "cba", strict=True)
    ]
    assert lock_writer.entry("a==1 ; python_version < '3.13'", wheels) == (
        f"a==1 ; python_version < '3.13' \\\n    --hash=sha256:{SHA} \\\n    --hash=sha256:{'c' * 64}\n"
    )


def test_a_package_without_a_wheel_is_reported() -> None:
    wheels = [{"url": "https://files.example.com/a-1-cp311-cp311-win_amd64.whl", "hashes": {"sha256": SHA}}]
    with pytest.raises(CommandError, match="a==1 can't be locked: it has no wheel for Linux or macOS"):
        lock_writer.entry("a==1", wheels)
