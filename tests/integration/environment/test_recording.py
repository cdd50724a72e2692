# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The recording of the documentation can be made again, and its results are the same."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from socket import gethostname

import pytest

from tests.pictures.cast import Cast
from tests.pictures.cast_svg import CAST, replay
from tests.pictures.recording import record
from tests.support.control_plane import control_plane
from tests.support.extent import IS_FULL
from tests.support.printed_blocks import missing_lines

pytestmark = pytest.mark.control_plane


def results_of(text: str) -> Sequence[str]:
    """The lines after the recap of each playbook, up to the next one."""
    ends = re.findall(r"^PLAY RECAP .*?$\n.*?\n\n(.*?)(?=^PLAY |\Z)", text, re.MULTILINE | re.DOTALL)
    return [line for end in ends for line in end.splitlines()]


def test_results_are_what_follows_a_recap() -> None:
    first = "PLAY [a] **\nx\nPLAY RECAP **\nlive : ok=1\n\nlive: failed\n$ b\n\n"
    text = f"{first}PLAY [b] **\ny\nPLAY RECAP *\nz\n\nq\n"
    assert results_of(text) == ["live: failed", "$ b", "", "q"]


if IS_FULL:

    def test_the_recording_can_be_made_again(tmp_path: Path) -> None:
        with control_plane(tmp_path) as kubeconfig:
            recorded = record(kubeconfig)
        committed = Cast.parse(CAST.read_text(encoding="utf-8"))
        assert recorded.text.startswith("$ # ")
        assert missing_lines(results_of(committed.text), recorded.text) == []
        assert not re.search(rf"\b{re.escape(gethostname())}\b", recorded.text)
        assert replay(recorded)[1]
