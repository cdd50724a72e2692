# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs end within their limits, with all that they have started."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._errors import LifecycleError
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.limits import Limits, limits_of
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import ReleaseRequest
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.release_error import ReleaseError
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release import programs
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.loader import load_release
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.programs import (
    ProgramFailed,
    ProgramMissing,
    run_program,
)

from tests.cluster.procfs import is_running
from tests.support.eventually import eventually
from tests.unit.conftest import Write


def script(tmp_path: Path, text: str) -> list[str]:
    path = tmp_path / "program"
    path.write_text(f"#!/bin/sh\n{text}")
    path.chmod(0o755)
    return [str(path), str(tmp_path / "child")]


def ends(pid: int) -> bool:
    """Wait until a process has ended."""
    return eventually(lambda: not is_running(pid))


CHILD = 'sleep 1e6 & echo $! > "$1"\n'


@pytest.mark.parametrize(
    ("then", "limits", "message"),
    [
        ("sleep 1e6", Limits(rendering_seconds=3), "more than 3 seconds.* raise the limit rendering_seconds"),
        ("exec yes", Limits(rendered_mb=1), "has more than 1 MB.* raise the limit rendered_mb"),
        ("yes & wait", Limits(rendered_mb=1), "has more than 1 MB"),
        ("exit 3", Limits(), "ended with status 3"),
    ],
)
@pytest.mark.parametrize("start", ["", "setsid "])
def test_a_killed_program_ends_with_its_children(
    tmp_path: Path, start: str, then: str, limits: Limits, message: str
) -> None:
    with pytest.raises(ProgramFailed, match=message):
        run_program(script(tmp_path, start + CHILD + then), limits=limits)
    assert ends(int((tmp_path / "child").read_text()))


def test_a_child_that_holds_the_output_open_is_not_waited_for(tmp_path: Path) -> None:
    assert run_program(script(tmp_path, f"{CHILD}echo done")) == "done\n"
    assert ends(int((tmp_path / "child").read_text()))


def test_much_input_output_and_errors_at_once(tmp_path: Path) -> None:
    text = "word\n" * 200_000
    command = script(tmp_path, "tee /dev/stderr")
    assert run_program(command, stdin=text) == text
    assert run_program(script(tmp_path, "exec true"), stdin=text) == ""


def test_memory_is_limited() -> None:
    code = "import time; data = bytearray(80 * 1024 * 1024); time.sleep(60)"
    with pytest.raises(ProgramFailed, match=r"used memory of more than 50 MB.* raise the limit memory_mb"):
        run_program([sys.executable, "-c", code], limits=Limits(memory_mb=50))


def test_the_error_output_of_a_program_is_limited(tmp_path: Path) -> None:
    with pytest.raises(ProgramFailed) as caught:
        run_program(script(tmp_path, "head -c 9000000 /dev/zero | tr '\\0' x >&2; exit 1"))
    assert len(str(caught.value)) <= 65536


def test_a_program_that_does_not_exist_is_missing() -> None:
    with pytest.raises(ProgramMissing):
        run_program(["/no/such/program"])


def test_a_chart_without_end_is_refused_and_its_release_too(write: Write, helm: str) -> None:
    root = write(
        {
            "components.yaml": "components:\n- name: a\n",
            "a/Chart.yaml": "apiVersion: v2\nname: a\nversion: 0.1.0\n",
            "a/templates/m.yaml": (
                'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: {{ repeat 2000000 "x" }}}\n'
            ),
        }
    )
    with pytest.raises(ReleaseError, match=r"more than 1 MB.* raise the limit rendered_mb"):
        load_release(ReleaseRequest(str(root), version="2.9", helm_binary=helm, limits=Limits(rendered_mb=1)))


def test_a_file_that_is_too_large_is_not_read_to_its_end(write: Write) -> None:
    root = write({"components.yaml": "components:\n- name: a\n", "a/m.yaml": ""})
    os.truncate(root / "a" / "m.yaml", 2_000_000)
    with pytest.raises(ReleaseError, match=r"a/m.yaml.* more than 1 MB.* raise the limit rendered_mb"):
        load_release(ReleaseRequest(str(root), version="2.9", limits=Limits(rendered_mb=1)))


def test_limits_are_numbers_above_0() -> None:
    assert limits_of({}) == limits_of({"limits": None}) == Limits()
    assert limits_of({"limits": {"download_mb": 1}}) == Limits(download_mb=1)
    with pytest.raises(LifecycleError, match=r"limits \(kyma_limits\): download_mb is 0"):
        limits_of({"limits": {"download_mb": 0}})


def test_output_just_before_the_end_of_a_program_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """It writes and ends after a look that has found nothing, and before the next one."""
    look = programs._refuse_excess

    def slow(*arguments: Any) -> None:
        time.sleep(0.4)
        look(*arguments)

    monkeypatch.setattr(programs, "_refuse_excess", slow)
    assert run_program(["sh", "-c", "sleep 0.6; echo all"]) == "all\n"
