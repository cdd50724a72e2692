# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Real modules of Kyma, and kinds that a test has for itself."""

from __future__ import annotations

import os
import secrets
import string
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.connection import connect
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._module_lifecycle import denial

from tests.cluster.paths import BIN, ROOT
from tests.support.denials import modules_denied
from tests.support.eventually import eventually
from tests.support.module_cleanup import remove_modules
from tests.support.module_driver import ModuleDriver
from tests.support.needs import skip
from tests.support.own_cluster import OwnCluster, new_cluster
from tests.support.own_module import OwnModule, definition

CRD = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
MODULE = ("lifecycle.kyma-project.io/v1", "KymaModule")


@pytest.fixture(scope="session")
def kyma_modules() -> Path:
    """The folder with real modules of Kyma; without them the test is skipped (but not in CI)."""
    folder = Path(os.environ.get("KYMA_TEST_DATA") or ROOT.parent / "shared" / "data") / "kyma-modules"
    if not folder.is_dir():
        skip(f"no real modules: there is no {folder} (KYMA_TEST_DATA)")
    return folder


@dataclass(frozen=True)
class Kubectl:
    """The real kubectl, on the cluster of the tests."""

    kubeconfig: str

    def __call__(self, *arguments: str | Path) -> str:
        """What it prints; it has to succeed."""
        done = self._run(*arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def install(self, manifest: Path) -> None:
        """Apply a manifest as a person does: again, if a kind that it brings was not served yet."""
        apply = ("apply", "--server-side", "-f", manifest)
        eventually(lambda: self._run(*apply).returncode == 0)

    def uninstall(self, manifest: Path) -> None:
        """Delete what a manifest has made, and wait until it is gone."""
        self("delete", "-f", manifest, "--ignore-not-found", "--timeout=60s")

    def _run(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        command = [BIN / "kubectl", f"--kubeconfig={self.kubeconfig}", *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture
def kubectl(kubeconfig: str) -> Kubectl:
    """The real kubectl; without it the test is skipped (but not in CI)."""
    if not (BIN / "kubectl").exists():
        skip("The program kubectl is missing. Build it: make build")
    return Kubectl(kubeconfig)


@dataclass(frozen=True)
class OwnKinds:
    """The kinds Widget (v1, v2; namespaced) and Place (v1; cluster-scoped) of a group of a test's own."""

    group: str

    @property
    def kinds(self) -> frozenset[tuple[str, str]]:
        """Group and plural of each."""
        return frozenset({(self.group, "widgets"), (self.group, "places")})

    def widget(self, namespace: str, version: str = "v1", **metadata: Any) -> Object:
        meta = {"namespace": namespace, **(metadata or {"name": "one"})}
        return {"apiVersion": f"{self.group}/{version}", "kind": "Widget", "metadata": meta, "spec": {}}

    def place(self, name: str) -> Object:
        return {"apiVersion": f"{self.group}/v1", "kind": "Place", "metadata": {"name": name}, "spec": {}}


@pytest.fixture
def own_kinds(live_cluster: LiveCluster) -> Iterator[OwnKinds]:
    """Two kinds, deleted afterwards."""
    own = OwnKinds(f"g{secrets.token_hex(4)}.modules.test")
    made = [
        definition(own.group, "Widget", "Namespaced", "v1", "v2"),
        definition(own.group, "Place", "Cluster"),
    ]
    for one in made:
        live_cluster.apply(one)
        # Once it is listed, it is served.
        live_cluster.list(f"{own.group}/v1", one["spec"]["names"]["kind"])
    yield own
    for one in made:
        live_cluster.delete(*CRD, one["metadata"]["name"])


@pytest.fixture(scope="package")
def own_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnCluster]:
    """A cluster for tests of whole runs, which have a lease and records: one for all of this folder."""
    with new_cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture
def api(own_cluster: OwnCluster) -> LiveCluster:
    """A connection to the cluster of whole runs, by the field manager of another program."""
    return connect({"kubeconfig": str(own_cluster.kubeconfig)}, field_manager="tests")


@pytest.fixture
def driver(
    own_cluster: OwnCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ModuleDriver]:
    """Runs the tasks on the cluster of whole runs; no module is left of them."""
    # There is one API server only, so its first refusal says it all.
    monkeypatch.setattr(denial, "REFUSAL_PAUSE_SECONDS", 0.05)
    yield ModuleDriver(own_cluster.kubeconfig, tmp_path)
    remove_modules(own_cluster.api)


@pytest.fixture
def shop(driver: ModuleDriver, own_cluster: OwnCluster) -> OwnModule:
    """A module of the test's own, in a namespace of its own; nothing of it is in the catalog yet."""
    return own_module(driver, own_cluster.api, "shop", has_kinds=True)


@pytest.fixture
def plain(driver: ModuleDriver, own_cluster: OwnCluster) -> OwnModule:
    """The same without kinds of its own."""
    return own_module(driver, own_cluster.api, "plain")


def own_module(driver: ModuleDriver, api: LiveCluster, name: str, *, has_kinds: bool = False) -> OwnModule:
    """A module of the test's own; its namespace goes with the test."""
    # The definition of ModuleTemplates allows letters only.
    suffix = "".join(secrets.choice(string.ascii_lowercase) for _each in range(6))
    module = OwnModule(f"{name}-{suffix}", f"test-{name}-{suffix}", driver.catalog, has_kinds)
    api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": module.namespace}})
    return module


def install(driver: ModuleDriver, module: OwnModule, version: str = "1.0.0", **published: Any) -> None:
    """Publish a version in channel regular, and install or upgrade the module."""
    module.publish(version, **published)
    module.offer(version)
    assert driver.manage(module.name).succeeded().row["state"] == "Ready"


def named(obj: Object) -> tuple[str, str, str, str | None]:
    """The arguments of ``Cluster.get`` for an object."""
    meta = obj["metadata"]
    return obj["apiVersion"], obj["kind"], meta["name"], meta.get("namespace")


def module_record(api: LiveCluster, module: OwnModule | str) -> Object:
    """What the cluster remembers of a module; it must."""
    name = module if isinstance(module, str) else module.name
    record = api.get(*MODULE, name)
    assert record is not None
    return record


def assert_whole(api: LiveCluster, module: OwnModule) -> None:
    """Operator, RBAC and definitions are there, and none is being deleted."""
    for place in (module.manager, module.account, *((*CRD, name) for name in module.crds)):
        live = api.get(*place)
        assert live is not None, place
        assert "deletionTimestamp" not in live["metadata"], place


def assert_gone(api: LiveCluster, module: OwnModule) -> None:
    """Nothing is left of a module, and nothing is remembered of it."""
    places = (module.manager, module.account, *((*CRD, name) for name in module.crds), (*MODULE, module.name))
    assert [place for place in places if api.get(*place)] == []
    assert modules_denied(api) == frozenset()


def by_hand(api: LiveCluster, objects: Sequence[Object], manager: str = "kubectl") -> None:
    """Apply objects as a person does with ``kubectl apply --server-side``."""
    writer = api.with_field_manager(manager)
    for obj in objects:
        writer.apply(obj, force=True)
