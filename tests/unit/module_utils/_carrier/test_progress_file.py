# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import threading
from pathlib import Path

from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.progress_file import (
    ProgressFile,
    ProgressLine,
    ProgressReader,
)


def progress_lines(path: Path) -> list[tuple[str, str, str]]:
    return [(line.subject, line.state, line.detail) for line in ProgressReader().feed(path.read_text())]


def test_written_progress_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "progress"
    progress = ProgressFile(path)
    progress("logging", "applying")
    progress("logging", "failed", 'Pod "lóki-0": can\'t start\nat all')
    assert progress_lines(path) == [
        ("logging", "applying", ""),
        ("logging", "failed", 'Pod "lóki-0": can\'t start\nat all'),
    ]
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.read_bytes().isascii()


def test_lines_of_several_threads_stay_whole(tmp_path: Path) -> None:
    progress = ProgressFile(tmp_path / "progress")
    threads = [
        threading.Thread(
            target=lambda n=n: [progress(f"component-{n}", "at work", "x" * 300) for _i in range(50)]
        )
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(progress_lines(tmp_path / "progress")) == 400


def test_pieces_are_put_together_wherever_they_are_cut(tmp_path: Path) -> None:
    progress = ProgressFile(tmp_path / "progress")
    for step in range(3):
        progress("logging", f"step {step}")
    content = (tmp_path / "progress").read_text()
    for cut in range(len(content) + 1):
        reader = ProgressReader()
        lines = reader.feed(content[:cut])
        assert reader.offset == cut
        lines += reader.feed(content[cut:])
        assert [line.state for line in lines] == ["step 0", "step 1", "step 2"]


def test_other_lines_are_skipped() -> None:
    reader = ProgressReader()
    assert reader.feed('nonsense\n[]\n{"time": 1}\n\n') == []
    assert reader.feed('{"time": 1, "subject": "a", "state": "b"}\r\n') == [ProgressLine(1.0, "a", "b")]


def test_a_line_for_people() -> None:
    assert str(ProgressLine(0, "logging", "healthy")) == "logging: healthy"
    assert str(ProgressLine(0, "logging", "waiting", "Pod loki-0")) == "logging: waiting (Pod loki-0)"


def test_a_full_disk_does_not_stop_a_deployment() -> None:
    progress = ProgressFile("/dev/full")
    progress("logging", "applying")
    progress("logging", "healthy")
