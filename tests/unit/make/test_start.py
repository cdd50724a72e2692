# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which Python the commands are handed to, played with programs that only say a version."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

START = Path(__file__).resolve().parents[3] / "tests" / "make" / "start"
TOOLS = ("sh",)


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A machine with a clone of the script, an empty home, and no Python."""
    (tmp_path / "clone" / "tests" / "make").mkdir(parents=True)
    shutil.copy(START, tmp_path / "clone" / "tests" / "make" / "start")
    (tmp_path / "home").mkdir()
    (tmp_path / "bin").mkdir()
    for tool in TOOLS:
        program = shutil.which(tool)
        if program:
            (tmp_path / "bin" / tool).symlink_to(program)
    # The usual places of a system's Python are those of the machine that the test runs on.
    script = tmp_path / "clone" / "tests" / "make" / "start"
    script.write_text(script.read_text().replace("/usr/local/bin/python3 /usr/bin/python3", ""))
    return tmp_path


def python(place: Path, version: str) -> None:
    """Put a program there that answers like a Python of this version, or doesn't start without one."""
    place.parent.mkdir(parents=True, exist_ok=True)
    major, _dot, minor = version.partition(".")
    answer = f'[ "$1" = -c ] && echo {major}{minor:0>2} || echo "{version} $*"' if version else "exit 127"
    place.write_text(f"#!/bin/sh\n{answer}\n")
    place.chmod(0o755)


def start(machine: Path, path: str = "") -> subprocess.CompletedProcess[str]:
    """Run the script."""
    return subprocess.run(
        ["sh", machine / "clone" / "tests" / "make" / "start", "unit"],
        env={"PATH": f"{machine / 'bin'}{os.pathsep}{path}", "HOME": str(machine / "home")},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_newest_that_starts(machine: Path) -> None:
    python(machine / "bin" / "python3.14", "")
    python(machine / "bin" / "python3.11", "3.11")
    python(machine / "home" / ".pyenv" / "versions" / "3.13.0" / "bin" / "python3", "3.13")
    python(machine / "home" / ".pyenv" / "versions" / "3.7.0" / "bin" / "python3", "3.12")
    python(machine / "home" / ".pyenv" / "versions" / "3.9.1" / "bin" / "python3", "3.9")
    assert start(machine).stdout == "3.13 -m tests.make unit\n"


def test_the_versions_beside_a_version_manager_s_wrappers(machine: Path) -> None:
    python(machine / "opt" / "shims" / "python3.12", "")
    python(machine / "opt" / "versions" / "3.12.7" / "bin" / "python3", "3.12")
    assert start(machine, str(machine / "opt" / "shims")).stdout == "3.12 -m tests.make unit\n"


def test_the_environment_that_is_there(machine: Path) -> None:
    python(machine / "bin" / "python3.13", "3.13")
    python(machine / "clone" / ".build" / "venv" / "bin" / "python", "3.12")
    assert start(machine).stdout == "3.12 -m tests.make unit\n"


def test_none_that_will_do(machine: Path) -> None:
    python(machine / "bin" / "python3.12", "")
    python(machine / "bin" / "python3", "3.10")
    python(machine / "home" / ".pyenv" / "versions" / "3.15.0" / "bin" / "python3", "3.15")
    done = start(machine)
    assert done.returncode == 1
    assert "Install a Python from 3.11 to 3.14" in done.stderr
    assert "bin/python3.12: doesn't start" in done.stderr
    assert "bin/python3: is 3.10" in done.stderr
    assert "3.15.0/bin/python3: is 3.15" in done.stderr
