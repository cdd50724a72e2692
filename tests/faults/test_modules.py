# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A deletion of a module, killed at each of its writes: never an operator gone while an instance lives."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.modules import read_module_records

from tests.support.accounts import binding_of
from tests.support.denials import modules_denied

from .module_user import ModuleUser, killed_after, killed_before, succeeded
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
class ModuleOwner(ModuleUser):
    """A user who manages the module of this file."""

    name: str = MODULE

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
        operator = self.world.api.get("apps/v1", "Deployment", "operator", NAMESPACE)
        return operator is not None and not operator["metadata"].get("deletionTimestamp")

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
    module_owner = ModuleOwner(world, tmp_path)
    yield module_owner
    world.proxy.pass_all()
    if read_module_records(world.api):
        world.api.delete(*KIND, "of-a-user", "default")
        assert not module_owner.task("absent").get("failed")


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
