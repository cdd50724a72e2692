# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The scripts of holding containers, in the shells that there are: when they end, and what they read."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.holding_container import (
    GIVEN_UP,
    HOLD_SCRIPT,
    IRREGULAR,
    LARGEST_FILE,
    MISSING,
    READ_SCRIPT,
    RELEASED,
    TIMED_OUT,
    TOO_LARGE,
    UNREADABLE,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.output import read_contents

from tests.support.played_jobs import OddFile, read_answer

BUSYBOX = shutil.which("busybox")
SHELLS = [["sh"], *([[BUSYBOX, "sh"]] if BUSYBOX else [])]
UNPRIVILEGED_USER = 65534


class Folders:
    """The folders of a holding container, and its scripts as they use them."""

    def __init__(self, root: Path, shell: list[str]) -> None:
        self.output, self.hold = root / "output", root / "hold"
        self.output.mkdir()
        self.hold.mkdir()
        # As an emptyDir.
        self.hold.chmod(0o777)
        self._shell = shell
        self._began: list[subprocess.Popen[bytes]] = []

    def _command(self, script: str, *arguments: str) -> list[str]:
        script = script.replace("/output", str(self.output)).replace("/hold", str(self.hold))
        return [*self._shell, "-c", script, "script", *arguments]

    def read(
        self, *files: str, user: int | None = None, script: str = READ_SCRIPT
    ) -> subprocess.CompletedProcess[bytes]:
        """Read files."""
        command = self._command(script, *files)
        return subprocess.run(command, capture_output=True, timeout=120, check=False, user=user)

    def begin_hold(self, seconds: int, *files: str) -> subprocess.Popen[bytes]:
        """Begin to hold files."""
        paths = [str(self.output / file) for file in files]
        # Short sleeps make short tests; a second of the script is one of these.
        script = HOLD_SCRIPT.replace("sleep 1\n", "sleep 0.05\n")
        assert script != HOLD_SCRIPT
        self._began.append(subprocess.Popen(self._command(script, str(seconds), *paths)))
        return self._began[-1]

    def end(self) -> None:
        """End what still runs."""
        for one in self._began:
            one.kill()
            one.wait()


@pytest.fixture(params=SHELLS, ids=lambda shell: Path(shell[0]).name)
def folders(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Folders]:
    shell_folders = Folders(tmp_path, request.param)
    yield shell_folders
    shell_folders.end()


@pytest.mark.parametrize(
    "content", [b"", b"{}", b'{"a": "\xc3\xa4"}\n', b"\x00\n\n\xff", b"x" * LARGEST_FILE]
)
def test_a_file_is_read_with_its_size_and_digest(folders: Folders, content: bytes) -> None:
    (folders.output / "output.json").write_bytes(content)
    answer = folders.read("output.json")
    assert (answer.returncode, answer.stderr) == (0, b"")
    assert answer.stdout == read_answer(content).stdout


def test_a_file_that_is_missing_irregular_or_too_large_has_an_exit_code_of_its_own(folders: Folders) -> None:
    secret = folders.output / "secret"
    secret.write_text("geheim")
    (folders.output / "link").symlink_to(secret)
    (folders.output / "broken").symlink_to("nothing")
    os.mkfifo(folders.output / "pipe")
    (folders.output / "folder").mkdir()
    (folders.output / "large").write_bytes(b"x" * (LARGEST_FILE + 1))
    expected = {
        "missing": MISSING,
        "link": IRREGULAR,
        "broken": IRREGULAR,
        "pipe": IRREGULAR,
        "folder": IRREGULAR,
        "large": TOO_LARGE,
    }
    answers = {name: folders.read(name) for name in expected}
    assert {name: one.returncode for name, one in answers.items()} == expected
    assert {one.stdout for one in answers.values()} == {b""}


def test_files_are_read_in_their_order_up_to_the_first_one_with_a_problem(folders: Folders) -> None:
    for name in "ab":
        (folders.output / name).write_text(name)
    answer = folders.read("b", "a", "missing", "b")
    assert answer.returncode == MISSING
    assert read_contents(answer.stdout, "here") == [b"b", b"a"]
    assert list(folders.hold.iterdir()) == []


def test_a_sparse_file_of_a_terabyte_is_too_large_at_once(folders: Folders) -> None:
    with (folders.output / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    answer = folders.read("sparse")
    assert (answer.returncode, answer.stdout) == (TOO_LARGE, b"")


@pytest.mark.parametrize(
    ("change", "expected"), [("mkfifo", TIMED_OUT), ("truncate -s 1099511627776", TOO_LARGE)]
)
def test_a_file_that_becomes_a_pipe_or_grows_after_the_check_leaves_no_process(
    folders: Folders, change: str, expected: int
) -> None:
    file = folders.output / "output.json"
    file.write_text("{}")
    script = READ_SCRIPT.replace("  timeout -s", f'  rm "$file"; {change} "$file"\n  timeout -s')
    assert script != READ_SCRIPT
    answer = folders.read("output.json", script=script)
    assert (answer.returncode, answer.stdout) == (expected, b"")
    left = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert not [line for line in left.splitlines() if line.startswith("head ") and str(file) in line]


def test_a_file_of_another_user_may_be_unreadable(folders: Folders) -> None:
    file = folders.output / "output.json"
    file.write_text("{}")
    file.chmod(0o600)
    if os.getuid() != 0:
        file.chmod(0)
        assert folders.read("output.json").returncode == UNREADABLE
        return
    for folder in (folders.output, *folders.output.parents):
        if folder.stat().st_uid == 0 and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o055)
    assert folders.read("output.json", user=UNPRIVILEGED_USER).returncode == UNREADABLE


def test_the_exit_codes_in_memory_are_those_of_the_script() -> None:
    assert read_answer(None).exit_code == MISSING
    assert read_answer(OddFile.LINK).exit_code == IRREGULAR
    assert read_answer(OddFile.PIPE).exit_code == IRREGULAR
    assert read_answer(OddFile.UNREADABLE).exit_code == UNREADABLE
    assert read_answer(b"x" * (LARGEST_FILE + 1)).exit_code == TOO_LARGE


def test_a_container_with_output_holds_until_it_is_released(folders: Folders) -> None:
    holder = folders.begin_hold(1, "output.json")
    # By then it ignores the signal, also on a busy machine.
    time.sleep(1)
    holder.terminate()
    time.sleep(0.2)
    assert holder.poll() is None
    (folders.hold / "released").touch()
    assert holder.wait(60) == RELEASED


def test_a_holding_container_gives_up_after_its_time_which_begins_with_the_output(folders: Folders) -> None:
    holder = folders.begin_hold(4, "a", "b")
    time.sleep(0.5)
    assert holder.poll() is None
    (folders.output / "b").write_text("{}")
    assert holder.wait(60) == GIVEN_UP


def test_its_time_begins_again_with_a_newer_file_and_with_a_renewal(folders: Folders) -> None:
    holder = folders.begin_hold(60, "a")
    for path in (
        folders.output / "a",
        folders.hold / "renewed",
        folders.output / "a",
        folders.hold / "renewed",
    ):
        path.touch()
        time.sleep(0.4)
        assert holder.poll() is None, path
    assert holder.wait(60) == GIVEN_UP
