# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A migration that ends the process that it runs in fails its task, here and there, and is named."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.extent import cases

from .conftest import CONNECTION, HERE, REPO, THERE, Playbooks, play

ENDS = {
    "os._exit(0)": "ended itself with exit code 0",
    "os.kill(os.getpid(), 9)": "was killed by SIGKILL",
}
TASKS = ("plan", "migration_info")


@pytest.mark.parametrize("code", cases(["os._exit(0)"], ["os.kill(os.getpid(), 9)"]))
def test_the_task_fails_and_names_the_file(code: str, playbooks: Playbooks) -> None:
    folder = playbooks.folder / f"migrations{len(code)}"
    folder.mkdir()
    (folder / "bad.py").write_text(f"import os\n\n{code}\n")
    options: dict[str, Any] = {
        **CONNECTION,
        "release": str(REPO / "examples" / "release"),
        "migration_paths": [str(folder)],
    }
    tasks = [{"name": name, f"kyma.lifecycle.{name}": options, "ignore_errors": True} for name in TASKS]
    last = {"name": "last", "ansible.builtin.debug": {"msg": "it goes on"}}
    outcome = playbooks.run(play(*tasks, last))
    for host in (HERE, THERE):
        assert outcome.results[host, "last"]["msg"] == "it goes on"
        for name in TASKS:
            result = outcome.results[host, name]
            assert result["failed"] is True
            assert ENDS[code] in result["msg"], result["msg"]
            assert str(folder / "bad.py") in result["msg"]
