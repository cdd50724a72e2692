# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The log of an engine has one line of JSON for each report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._errors import LifecycleError
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.shared.engine_log import engine_log


def test_each_line_is_json_with_the_time(tmp_path: Path) -> None:
    path = tmp_path / "engine.log"
    path.write_text("before\n")
    with engine_log(str(path)) as write:
        write({"state": "succeeded", "seconds": 1.5})
        write({"message": "a\nb"})
    before, *lines = path.read_text().splitlines()
    assert before == "before"
    first, second = map(json.loads, lines)
    assert first.keys() == {"time", "state", "seconds"}
    assert second["message"] == "a\nb"


def test_without_a_path_nothing_is_written() -> None:
    with engine_log("") as write:
        write({"state": "started"})


def test_a_log_that_can_not_be_opened_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(LifecycleError, match=r"engine\.log can't be opened: No such file or directory\. Set"),
        engine_log(str(tmp_path / "missing" / "engine.log")),
    ):
        pass


def test_a_full_disk_stops_nothing() -> None:
    with engine_log("/dev/full") as write:
        write({"state": "started"})
