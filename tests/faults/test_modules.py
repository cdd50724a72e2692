# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A deletion of a module, killed at each of its writes: never an operator gone while an instance lives."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.modules import read_module_records

from tests.cluster.paths import ROOT
from tests.support.accounts import binding_of
from tests.support.denials import modules_denied

from .fault import NOTHING, Fault, Request
from .proxy import Script
from .world import ACCOUNT, World
from .writes import Write, writes_of

pytestmark = pytest.mark.control_plane

MODULE = "widgets"
GROUP = "widgets.example.com"
NAMESPACE = "widgets"
KIND = (f"{GROUP}/v1", "Widget")
CRD = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
ROLE: Object = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRole",
    "metadata": {"name": "widgets"},
    "rules": [
        {"apiGroups": [GROUP], "resources": ["widgets"], "verbs": ["*"]},
        # Other tests of this process may have installed their definition.
        {"apiGroups": ["lifecycle.kyma-project.io"], "resources": ["errands"], "verbs": ["list"]},
        {
            "apiGroups": ["admissionregistration.k8s.io"],
            "resources": ["validatingadmissionpolicies", "validatingadmissionpolicybindings"],
            "verbs": ["*"],
        },
    ],
}
FEW = 3
"""Of the writes, where no more are wanted."""
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


def manifest() -> list[Object]:
    """An operator with its definition, as a module's manifest."""
    labels = {"app": "operator"}
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"widgets.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"kind": "Widget", "plural": "widgets", "singular": "widget"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {
                        "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
                    },
                }
            ],
        },
    }
    operator = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": "operator",
            "namespace": NAMESPACE,
            "labels": {"app.kubernetes.io/version": "1.0.0"},
        },
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "manager", "image": "example.com/operator:1.0.0"}]},
            },
        },
    }
    own = {
        "apiVersion": KIND[0],
        "kind": KIND[1],
        "metadata": {"name": "of-the-manifest", "namespace": NAMESPACE},
    }
    return [crd, operator, own]


def template(path: Path) -> Object:
    """The module's template, with a default configuration."""
    return {
        "apiVersion": "operator.kyma-project.io/v1beta2",
        "kind": "ModuleTemplate",
        "metadata": {"name": f"{MODULE}-1.0.0"},
        "spec": {
            "moduleName": MODULE,
            "version": "1.0.0",
            "channel": "regular",
            "manager": {
                "group": "apps",
                "version": "v1",
                "kind": "Deployment",
                "name": "operator",
                "namespace": NAMESPACE,
            },
            "data": {
                "apiVersion": KIND[0],
                "kind": KIND[1],
                "metadata": {"name": "default", "namespace": NAMESPACE},
            },
            "resources": [{"name": "rawManifest", "link": path.as_uri()}],
        },
    }


@dataclass
class ModuleOwner:
    """Someone who manages the module, by tasks that are processes of their own.

    Attributes:
        world: where it happens.
        catalog: the folder with the template.
        running: the process of the task, while there is one.
    """

    world: World
    catalog: Path
    running: subprocess.Popen[str] | None = field(default=None)

    def task(self, state: str, script: Script | None = None) -> dict[str, Any]:
        """What a task answers; nothing, if it was killed."""
        arguments = {
            "name": MODULE,
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
        """End the task's process as the power does."""
        assert self.running is not None
        self.running.kill()
        self.running.wait(timeout=30)

    def write_instance(self) -> None:
        """Create a resource of a user's own, as soon as the server allows it."""
        obj = {
            "apiVersion": KIND[0],
            "kind": KIND[1],
            "metadata": {"name": "of-a-user", "namespace": "default"},
        }
        self.world.api.apply(obj)

    def delete_instance(self) -> None:
        """Delete it."""
        self.world.api.delete(*KIND, "of-a-user", "default")

    def instances(self) -> set[str]:
        """The names of all that live."""
        return {obj["metadata"]["name"] for obj in self.world.api.list(*KIND, metadata_only=True).items}

    def has_operator(self) -> bool:
        """Whether the operator is there, and stays."""
        found = self.world.api.get("apps/v1", "Deployment", "operator", NAMESPACE)
        return found is not None and not found["metadata"].get("deletionTimestamp")

    def assert_operator_outlives(self) -> None:
        """See that no operator is gone while an instance lives."""
        if self.instances():
            assert self.has_operator(), f"the operator is gone, and {self.instances()} live"

    def assert_gone(self) -> None:
        """See that nothing of the module is left."""
        assert not self.has_operator()
        assert self.world.api.get(*CRD, f"widgets.{GROUP}") is None
        assert MODULE not in read_module_records(self.world.api)
        assert MODULE not in modules_denied(self.world.api)


@pytest.fixture
def owner(world: World, tmp_path: Path) -> Iterator[ModuleOwner]:
    """Someone with the module installed, and with all rights."""
    path = tmp_path / "manifest.yaml"
    path.write_text(yaml.safe_dump_all(manifest()))
    (tmp_path / "template.yaml").write_text(yaml.safe_dump(template(path)))
    for obj in (ROLE, binding_of("widgets", ACCOUNT)):
        world.api.apply(obj)
    found = ModuleOwner(world, tmp_path)
    yield found
    world.proxy.pass_all()
    if read_module_records(world.api):
        world.api.delete(*KIND, "of-a-user", "default")
        assert not found.task("absent").get("failed")


def succeeded(result: dict[str, Any]) -> None:
    assert result
    assert not result.get("failed"), result["msg"]


def killed_before(number: int, owner: ModuleOwner) -> Script:
    """Kill the task before one of its writes, counted from 1."""
    return _killed(number, owner, before=True)


def killed_after(number: int, owner: ModuleOwner) -> Script:
    """Kill it once one of its writes has taken effect."""
    return _killed(number, owner, before=False)


def _killed(number: int, owner: ModuleOwner, *, before: bool) -> Script:
    seen = 0

    def script(request: Request) -> Fault:
        nonlocal seen
        seen += request.writes
        if not request.writes or seen != number:
            return NOTHING
        if before:
            return Fault("killed before", before=owner.kill, reset_before=True)
        return Fault("killed after", after=owner.kill, reset_after=True)

    return script


def writes_of_deletion(owner: ModuleOwner) -> Sequence[Write]:
    """The writes of a deletion that nothing befalls."""
    succeeded(owner.task("managed"))
    owner.world.proxy.forget()
    succeeded(owner.task("absent"))
    owner.assert_gone()
    return list(writes_of(owner.world.proxy.passages))


def chosen(count: int, chance: random.Random, whole: bool) -> Collection[int]:
    numbers = range(1, count + 1)
    return numbers if whole else sorted(chance.sample(numbers, FEW))


@pytest.mark.fault("a module's deletion killed at a write")
@pytest.mark.parametrize("moment", [killed_before, killed_after])
def test_a_killed_deletion_goes_on_with_the_next_run(
    owner: ModuleOwner, moment: Callable[[int, ModuleOwner], Script], chance: random.Random, whole: bool
) -> None:
    count = len(writes_of_deletion(owner))
    assert count > 15
    for number in chosen(count, chance, whole):
        succeeded(owner.task("managed"))
        owner.task("absent", moment(number, owner))
        owner.assert_operator_outlives()
        succeeded(owner.task("absent"))
        owner.assert_gone()


@pytest.mark.fault("a module's deletion killed at a write")
def test_a_killed_deletion_that_is_blocked_keeps_the_operator_and_the_resource(
    owner: ModuleOwner, chance: random.Random, whole: bool
) -> None:
    succeeded(owner.task("managed"))
    owner.write_instance()
    owner.world.proxy.forget()
    assert "of-a-user" in owner.task("absent")["msg"]
    count = len(list(writes_of(owner.world.proxy.passages)))
    for number in chosen(count, chance, whole):
        owner.task("absent", killed_after(number, owner))
        assert owner.has_operator()
        assert "of-a-user" in owner.instances()
    assert "of-a-user" in owner.task("absent")["msg"]
    owner.delete_instance()
    succeeded(owner.task("absent"))
    owner.assert_gone()


@pytest.mark.fault("a module's deletion killed at a write")
def test_a_module_that_is_wanted_again_after_a_kill_has_no_denial_and_is_whole(
    owner: ModuleOwner, chance: random.Random, whole: bool
) -> None:
    count = len(writes_of_deletion(owner))
    for number in chosen(count, chance, whole):
        succeeded(owner.task("managed"))
        owner.task("absent", killed_before(number, owner))
        owner.assert_operator_outlives()
        succeeded(owner.task("managed"))
        assert MODULE not in modules_denied(owner.world.api)
        assert owner.has_operator()
        assert {"default", "of-the-manifest"} <= owner.instances()
        assert read_module_records(owner.world.api)[MODULE].status.state == "Ready"
    succeeded(owner.task("absent"))
