# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A user who manages a module by tasks that are separate processes, and when one of them is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.cluster.paths import ROOT

from .fault import NOTHING, Fault, Request
from .proxy import Script
from .world import World
from .writes import Counting, Write

TASK = """
import json, sys
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task_call import call_task_function
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.module import DEFINITION
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.arguments import validate
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.materials import ControllerMaterials
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._modules.module_sources import ModuleSources

arguments = validate(DEFINITION, json.loads(sys.argv[1]), "kyma.lifecycle.module")
assert not arguments.problem, arguments.problem
result = call_task_function(
    DEFINITION,
    arguments.params,
    materials=ControllerMaterials(None, modules=ModuleSources(arguments.params)),
    progress=lambda subject, state, detail="", _step=None: None,
    cancelled=lambda: False,
    check_mode=False,
    diff=False,
)
print(json.dumps(result))
"""


@dataclass
class ModuleUser:
    """A user who manages a module.

    Attributes:
        world: where it happens.
        catalog: the folder with the template.
        name: of the module.
        running: the process of the task, while there is one.
    """

    world: World
    catalog: Path
    name: str = ""
    running: subprocess.Popen[str] | None = field(default=None)

    def task(self, state: str, script: Script | None = None) -> dict[str, Any]:
        """The result of a task; empty if it was killed."""
        arguments = {
            "name": self.name,
            "state": state,
            "catalog": [str(self.catalog)],
            "catalog_cache": str(self.catalog / "cache"),
            "kubeconfig": str(self.world.kubeconfig),
            "timeout": 60,
            "lease_seconds": 6,
            "lease_wait": 120,
            "grace": 5,
        }
        if script is None:
            self.world.proxy.pass_all()
        else:
            self.world.proxy.play(script)
        environment = {**os.environ, "PYTHONPATH": str(ROOT / ".build")}
        self.running = subprocess.Popen(
            [sys.executable, "-c", TASK, json.dumps(arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        printed, errors = self.running.communicate(timeout=240)
        if self.running.returncode == -signal.SIGKILL:
            return {}
        assert self.running.returncode == 0, errors
        return dict(json.loads(printed))

    def kill(self) -> None:
        """End the process of the task as a power failure does."""
        assert self.running is not None
        self.running.kill()
        self.running.wait(timeout=30)


def succeeded(result: dict[str, Any]) -> None:
    assert result
    assert not result.get("failed"), result["msg"]


def killed_before(number: int, owner: ModuleUser) -> Script:
    """Kill the task before one of its writes, counted from 1."""
    return _killed(_at_number(number), owner, before=True)


def killed_after(number: int, owner: ModuleUser) -> Script:
    """Kill the task once one of its writes has taken effect."""
    return _killed(_at_number(number), owner, before=False)


def killed_at(write: Write, owner: ModuleUser, *, before: bool) -> Script:
    """Kill the task before a certain write, or once it has taken effect."""
    counting = Counting()
    return _killed(lambda request: counting.write(request) == write, owner, before=before)


def _at_number(number: int) -> Callable[[Request], bool]:
    seen = 0

    def is_it(_request: Request) -> bool:
        nonlocal seen
        seen += 1
        return seen == number

    return is_it


def _killed(is_it: Callable[[Request], bool], owner: ModuleUser, *, before: bool) -> Script:
    def script(request: Request) -> Fault:
        if not request.writes or not is_it(request):
            return NOTHING
        if before:
            return Fault("killed before", before=owner.kill, reset_before=True)
        return Fault("killed after", after=owner.kill, reset_after=True)

    return script
