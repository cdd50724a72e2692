# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier import module_runner, stop_cause
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.progress_file import CANCEL_SUFFIX


@pytest.mark.parametrize("cause", [stop_cause.SIGNAL, stop_cause.PLAYBOOK_END])
def test_a_module_reads_the_cause_of_its_stop(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cause: str
) -> None:
    monkeypatch.setattr(stop_cause, "_causes", [])
    progress = str(tmp_path / "progress")
    is_cancelled = module_runner._cancelled(progress)
    assert not is_cancelled()
    Path(progress + CANCEL_SUFFIX).write_text(cause)
    assert is_cancelled()
    assert stop_cause.stop_cause() == cause
