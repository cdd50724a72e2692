# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a run is ended that ansible-playbook did not come back to."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ansible import constants as C
from ansible_collections.kyma.lifecycle.plugins.action import run
from ansible_collections.kyma.lifecycle.plugins.module_utils._task.task import Result
from ansible_collections.kyma.lifecycle.plugins.plugin_utils.arguments import Arguments, validate
from ansible_collections.kyma.lifecycle.plugins.plugin_utils.direct import DirectCarrier


class Here(run.ActionModule):
    """Works on this machine, as this user."""

    works_here = True

    def __init__(self) -> None:
        self._connection = SimpleNamespace(_shell=SimpleNamespace(tmpdir=None))

    def cleanup(self, force: bool = False) -> None:
        """There is nothing to clean up."""


@pytest.mark.parametrize("has_libraries", [True, False])
def test_nobody_is_said_to_be_at_work_only_where_no_module_can_be(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, has_libraries: bool
) -> None:
    ended: list[Any] = []

    def end(_carrier: DirectCarrier, arguments: Arguments, *_more: object) -> Result:
        ended.append(arguments.params["nobody_at_work"])
        return {"changed": False}

    monkeypatch.setattr(C, "DEFAULT_LOCAL_TMP", str(tmp_path))
    monkeypatch.setattr(run, "has_libraries", lambda: has_libraries)
    monkeypatch.setattr(DirectCarrier, "_work", end)
    arguments = validate(run.DEFINITION, {"state": "started", "plan": {}}, "kyma.lifecycle.run")
    Here()._end("r", arguments, {})
    assert ended == [has_libraries]
