# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is done once a whole family of processes has ended, however it did."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest

from tests.unit.plugin_utils._carrier.families import SLEEP, begin, comes_true

FAMILY = """
import multiprocessing, pathlib, signal, sys, time
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier import exit_messages
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.exit_messages import EXIT_MESSAGES
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.exit_watcher import EXIT_WATCHER

# A busy disk may take longer to create a file than a person would wait.
exit_messages.SECONDS_AFTER_WORKERS = 50.0
# A shell has what it starts in the background ignore Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)
folder = pathlib.Path(sys.argv[1])

def afterwards():
    (folder / "done").write_text(str(time.monotonic()))
    EXIT_MESSAGES.send_line("it was done")

def begins():
    EXIT_WATCHER.run_after_exit(afterwards, unless=folder / "note")

def works():
    time.sleep({working})
    (folder / "worked").write_text(str(time.monotonic()))

fork = multiprocessing.get_context("fork")
worker = fork.Process(target=begins)
worker.start()
worker.join(30)
assert worker.exitcode == 0
fork.Process(target=works).start()
print("begun", flush=True)
{then}
"""


def family(folder: Path, then: str, *, working: float = 0.0) -> subprocess.Popen[bytes]:
    """A process with a worker that begins something, and another that works; ``then`` it does that."""
    return begin(FAMILY.format(then=then, working=working), folder)


def appears(file: Path) -> bool:
    return comes_true(file.exists)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_the_work_is_done_after_any_end_of_the_main_process(tmp_path: Path, number: signal.Signals) -> None:
    process = family(tmp_path, SLEEP)
    assert not (tmp_path / "done").exists()
    process.send_signal(number)
    process.wait(30)
    assert appears(tmp_path / "done")


def test_the_main_process_reports_the_work_at_its_exit(tmp_path: Path) -> None:
    process = family(tmp_path, "sys.exit(99)")
    printed, _none = process.communicate(timeout=60)
    assert (process.returncode, printed) == (99, b"it was done\n")


def test_the_work_waits_for_all_other_processes(tmp_path: Path) -> None:
    process = family(tmp_path, SLEEP, working=1.0)
    process.kill()
    process.wait(30)
    assert comes_true(lambda: (tmp_path / "done").exists() and bool((tmp_path / "done").read_text()))
    assert float((tmp_path / "worked").read_text()) <= float((tmp_path / "done").read_text())


def test_nothing_is_done_where_nothing_was_left_undone(tmp_path: Path) -> None:
    then = "(folder / 'note').write_text('ended'); (folder / 'note').unlink()"
    process = family(tmp_path, then)
    printed, _none = process.communicate(timeout=60)
    assert (process.returncode, printed) == (0, b"")
    assert not (tmp_path / "done").exists()
