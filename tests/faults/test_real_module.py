# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The deletion of the real template-operator, killed at each write between its operator and its definitions.

Its operator runs as a separate process. The audit log of the API server names the writes.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import (
    ClusterError,
    Forbidden,
    KindNotServed,
    NotFound,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.lease import LIFECYCLE_NAMESPACE
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.inventories import read_inventories
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.modules import read_module_records

from tests.support.accounts import binding_of
from tests.support.audit import AuditLog
from tests.support.denials import modules_denied
from tests.support.eventually import eventually
from tests.support.extent import IS_FULL
from tests.support.operator_process import operator_process
from tests.support.real_modules import real_modules, template_operator

from .fault import Request
from .module_user import ModuleUser, killed_at, succeeded
from .world import ACCOUNT, DEPLOYER, World
from .writes import Counting, Write

pytestmark = pytest.mark.control_plane

NAME = "template-operator"
LEASE = "deployment"
PLACE = "template-operator-system"
OPERATOR = "template-operator-controller-manager"
V1 = "operator.kyma-project.io/v1alpha1"
CRD = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
DEFINITIONS = ("samples.operator.kyma-project.io", "manageds.operator.kyma-project.io")
GONE = [
    ("apps/v1", "Deployment", OPERATOR, PLACE),
    ("v1", "ServiceAccount", OPERATOR, PLACE),
    ("rbac.authorization.k8s.io/v1", "ClusterRole", "template-operator-manager-role"),
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "template-operator-manager-rolebinding"),
    *((*CRD, name) for name in DEFINITIONS),
]
METHODS = {"create": "POST", "update": "PUT", "patch": "PATCH", "delete": "DELETE"}
FEW = 1
"""Of the kills, where no more are wanted."""


@pytest.fixture
def owner(world: World, tmp_path: Path) -> Iterator[ModuleUser]:
    """A user with the real module in the catalog, while its operator runs."""
    folder = real_modules()
    manifest = folder / "manifests" / "template-operator-1.0.6.yaml"
    (tmp_path / "template.yaml").write_text(yaml.safe_dump(template_operator(folder, str(manifest))))
    # The operator's roles have rights that the deployer of the other tests lacks.
    world.api.apply(binding_of("cluster-admin", ACCOUNT))
    user = ModuleUser(world, tmp_path, NAME)
    with operator_process(world.state / "kubeconfig", OPERATOR):
        yield user
        world.proxy.pass_all()
        if read_module_records(world.api):
            succeeded(user.task("absent"))
    binding = binding_of("cluster-admin", ACCOUNT)
    world.api.delete(binding["apiVersion"], binding["kind"], binding["metadata"]["name"])


def install(owner: ModuleUser) -> None:
    """Install the module, and wait until its operator has put its finalizers on."""
    succeeded(owner.task("managed"))

    def is_held(kind: str) -> bool:
        items = owner.world.api.list(V1, kind, metadata_only=True).items
        return bool(items) and all(one["metadata"].get("finalizers") for one in items)

    eventually(lambda: is_held("Sample") and is_held("Managed"))


def writes_without_operator(owner: ModuleUser) -> list[Write]:
    """The writes of a deletion from that of the operator to that of the last definition."""
    install(owner)
    with AuditLog(owner.world.state / "audit.log").recorded() as requests:
        succeeded(owner.task("absent"))
    counting, writes = Counting(), list[Write]()
    user = f"system:serviceaccount:{ACCOUNT['namespace']}:{DEPLOYER}"
    for one in requests:
        parts = urlsplit(one.uri)
        sent = Request(0, METHODS.get(one.verb, "GET"), parts.path, parts.query, 0)
        if one.user == user and sent.writes:
            writes.append(counting.write(sent))
    # A lease is renewed by the clock, so a renewal is no write that the next deletion makes, too.
    first = next(i for i, one in enumerate(writes) if one.what.endswith(f"/deployments/{OPERATOR}"))
    last = max(i for i, one in enumerate(writes) if one.what.rpartition("/")[2] in DEFINITIONS)
    return [one for one in writes[first : last + 1] if "/leases/" not in one.what]


def assert_nothing_gets_in(owner: ModuleUser) -> None:
    """While the operator is gone, no instance lives, and none can be created."""
    api = owner.world.api
    deployed = api.get(*GONE[0])
    if deployed is not None and not deployed["metadata"].get("deletionTimestamp"):
        return
    for kind in ("Sample", "Managed"):
        with suppress(KindNotServed, NotFound):
            assert api.list(V1, kind, metadata_only=True).items == []
    sample: Object = {
        "apiVersion": V1,
        "kind": "Sample",
        "metadata": {"name": "late", "namespace": "default"},
        "spec": {},
    }
    with pytest.raises((Forbidden, KindNotServed, NotFound)):
        api.create(sample)


def assert_gone(owner: ModuleUser) -> None:
    api = owner.world.api
    assert [place for place in GONE if api.get(*place)] == []
    assert NAME not in read_module_records(api)
    assert NAME not in modules_denied(api)
    assert read_inventories(api, owner_kind="module") == {}


def chosen(writes: Sequence[Write], chance: random.Random, *, whole: bool) -> list[tuple[Write, bool]]:
    """The writes at which to kill, each with whether to kill before it."""
    kills = [(write, before) for write in writes for before in (True, False)]
    return kills if whole else chance.sample(kills, FEW)


@pytest.mark.fault("a real module's deletion killed while its operator is gone")
def test_a_deletion_that_is_killed_once_the_operator_is_gone_goes_on(
    owner: ModuleUser, chance: random.Random, whole: bool
) -> None:
    writes = writes_without_operator(owner)
    assert_gone(owner)
    assert len(writes) > len(GONE)
    failures = []
    for write, before in chosen(writes, chance, whole=whole or IS_FULL):
        install(owner)
        try:
            assert owner.task("absent", killed_at(write, owner, before=before)) == {}, "it was not killed"
            assert_nothing_gets_in(owner)
            # Other tests show that the next run waits for the lease of the killed one.
            owner.world.api.delete("coordination.k8s.io/v1", "Lease", LEASE, LIFECYCLE_NAMESPACE)
            succeeded(owner.task("absent"))
            assert_gone(owner)
        except (AssertionError, ClusterError) as failure:
            failures.append(f"killed {'before' if before else 'after'} {write}: {failure}")
            owner.task("absent")
    assert failures == [], "\n".join(failures)
