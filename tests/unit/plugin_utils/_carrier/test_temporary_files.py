# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A folder is gone once a whole family of processes has ended, however it did."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest

from tests.unit.plugin_utils._carrier.families import SLEEP, begin, comes_true

FAMILY = """
import multiprocessing, os, pathlib, shutil, signal, sys, time
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier import temporary_files
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.exit_watcher import EXIT_WATCHER

# A shell has what it starts in the background ignore Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)
folder, beside = map(pathlib.Path, sys.argv[1:])

def afterwards():
    time.sleep(0.5)
    (beside / "saw").write_text(str(folder.exists()))

def leaves_late(_leave=os.setsid):
    time.sleep({late})
    _leave()

def begins():
    (folder / "secret").touch()
    os.setsid()
    os.setsid = leaves_late
    temporary_files.TEMPORARY_FOLDER_CLEANUP.remove_after_exit(folder)
    temporary_files.TEMPORARY_FOLDER_CLEANUP.remove_after_exit(folder)
    if "{then}" != "return":
        EXIT_WATCHER.run_after_exit(afterwards, unless=beside / "note")
    if {late}:
        os.killpg(0, signal.SIGTERM)

def works():
    time.sleep({working})
    (beside / "worked").write_text(str((folder / "secret").exists()))

fork = multiprocessing.get_context("fork")
worker = fork.Process(target=begins)
worker.start()
worker.join(30)
assert worker.exitcode == (-signal.SIGTERM if {late} else 0)
fork.Process(target=works).start()
print("begun", flush=True)
if "{then}" == "return":
    shutil.rmtree(folder)
else:
    {sleep}
"""


def family(
    folder: Path, then: str = "wait", *, working: float = 0.0, late: float = 0.0
) -> subprocess.Popen[bytes]:
    """A process with a worker that has a folder removed, and another that works and needs it.

    Args:
        folder: to make and to have removed.
        then: what the process does once both are at it.
        working: how long the second one works, in seconds.
        late: how long whoever waits needs to get away from the first one, whose group is ended meanwhile.
    """
    folder.mkdir()
    return begin(FAMILY.format(then=then, sleep=SLEEP, working=working, late=late), folder, folder.parent)


def goes(folder: Path) -> bool:
    return comes_true(lambda: not folder.exists())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_the_folder_is_removed_after_any_end_of_the_main_process(
    tmp_path: Path, number: signal.Signals
) -> None:
    process = family(tmp_path / "folder")
    process.send_signal(number)
    process.wait(30)
    assert goes(tmp_path / "folder")


def test_the_folder_is_removed_after_its_users_and_the_work_at_exit(tmp_path: Path) -> None:
    process = family(tmp_path / "folder", working=1.0)
    process.kill()
    process.wait(30)
    assert goes(tmp_path / "folder")
    assert (tmp_path / "worked").read_text() == "True"
    assert (tmp_path / "saw").read_text() == "True"


def test_the_folder_is_removed_if_the_group_of_the_worker_is_ended(tmp_path: Path) -> None:
    process = family(tmp_path / "folder", late=0.5)
    process.kill()
    process.wait(30)
    assert goes(tmp_path / "folder")
    assert comes_true((tmp_path / "saw").exists)


def test_a_folder_that_is_already_removed_is_not_reported(tmp_path: Path) -> None:
    process = family(tmp_path / "folder", "return")
    printed, _none = process.communicate(timeout=60)
    assert (process.returncode, printed) == (0, b"")
