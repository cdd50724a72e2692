# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A whole deployment in memory: the tasks of the role ``kyma`` in sequence, as in its YAML."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task import (
    AvailableRelease,
    Materials,
    Result,
    TaskDefinition,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task_call import call_task_function
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    API_VERSION,
    Cluster,
    Event,
    Object,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._components import (
    component_crds,
    component_removal,
    component_run,
    removal_gate,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._dry_run import simulated_server
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.migration_set import MigrationSet
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.health import wait
from ansible_collections.kyma.lifecycle.plugins.module_utils._progress import Step
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.lazy_objects import LazyObjects
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.manifests import objects_digest
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import (
    ComponentEntry,
    Content,
    Release,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.installation import (
    Installation,
    read_installation,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.inventories import read_inventories
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import (
    component,
    component_info,
    migration,
    migration_info,
    plan,
    run,
    run_info,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import Migration
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
    Request,
)

from tests.support.clock import StoppedClock

Entries = Mapping[str, Sequence[Object] | tuple[ComponentEntry, Sequence[Object]]]


def release(version: str, components: Entries, **more: Any) -> Release:
    """A release of components, each ``name: objects`` in ``kyma-system`` or ``name: (entry, objects)``."""
    entries, content = [], {}
    for name, given in components.items():
        entry, objects = given if isinstance(given, tuple) else (ComponentEntry(name, "kyma-system"), given)
        entries.append(entry)
        content[name] = content_of(objects)
    made = Release(
        version=version,
        digest="",
        profile=more.pop("profile", ""),
        default_namespace="kyma-system",
        components=tuple(sorted(entries, key=lambda entry: not entry.prerequisite)),
        content=content,
        crds=content_of(more.pop("crds", ())),
        **more,
    )
    said = [made.version, str(made.components), [c.objects for c in content.values()]]
    of_files = objects_digest([*made.crds.objects, {"said": json.dumps(said)}])
    whole = objects_digest([{"said": f"{of_files} for {made.profile}"}])
    return replace(made, digest=whole, release_digest=of_files)


def content_of(objects: Sequence[Object]) -> Content:
    """Content whose source is only the content itself."""
    namespaces = any(obj["kind"] == "Namespace" for obj in objects)
    return Content(tuple(objects), source_hash=objects_digest(objects), has_namespaces=namespaces)


@dataclass
class FakeMaterials(Materials):
    """Existing release and migrations, and the parts of them that were read."""

    given: Release
    classes: tuple[type[Migration], ...] = ()
    problems: tuple[str, ...] = ()
    unreadable: bool = False
    read: list[str] = field(default_factory=list)
    others: tuple[Release, ...] = ()
    named: bool = True
    profiles: Mapping[str, Release] = field(default_factory=dict)
    code: Mapping[str, str] = field(default_factory=dict)

    @property
    def has_release(self) -> bool:
        return self.named

    def available_releases(self) -> Sequence[AvailableRelease]:
        return [
            AvailableRelease(one.version, one.upgrades_from, {"release": one.version}, FakeMaterials(one))
            for one in self.others
        ]

    def fingerprint(self) -> str:
        return f"fingerprint of {self.given.digest}"

    def for_profile(self, profile: str) -> FakeMaterials:
        if profile in self.profiles:
            self.given = self.profiles[profile]
        return self

    def version(self) -> str:
        return self.given.version

    def release_digest(self) -> str:
        return self.given.release_digest

    def release(self, skip: Mapping[str, str] | None = None) -> Release:
        self.read.append("the release")
        assert not self.unreadable, "the release was read"
        skip = skip or {}
        contents = self.given.content.items()
        content = {n: self.unread(n, one) if skip.get(n) == one.source_hash else one for n, one in contents}
        crds = self.unread("the CRDs", self.given.crds) if skip else self.given.crds
        return replace(self.given, content=content, crds=crds)

    def unread(self, name: str, content: Content) -> Content:
        def read() -> Sequence[Object]:
            self.read.append(name)
            return content.objects

        return replace(content, objects=LazyObjects(read), hooks=(), is_read=False)

    def content(self, component: str) -> Sequence[Object]:
        self.read.append(component)
        return self.given.content[component].objects

    def migrations(self) -> MigrationSet:
        folder = "/somewhere/kyma_migrations"
        files = {one.id(): f"{folder}/{one.__name__.lower()}.py" for one in self.classes}
        return MigrationSet(self.classes, (folder,), self.problems, files, self.code)


@dataclass
class Deployer:
    """A user with a playbook, a release and migrations, and all results and messages of the tasks.

    Attributes:
        options: of every task that takes them.
        before: called with each task's name before it starts.
    """

    cluster: Cluster
    materials: FakeMaterials
    options: dict[str, Any] = field(default_factory=dict)
    reports: list[tuple[str, str, str]] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    cancelled: Callable[[], bool] = lambda: False
    before: Callable[[str], None] = lambda _task: None

    def progress(self, subject: str, state: str, detail: str = "", step: Step | None = None, /) -> None:
        """See :class:`Progress`."""
        del step
        self.reports.append((subject, state, detail))

    def task(self, definition: TaskDefinition, *, check_mode: bool = False, **params: Any) -> Result:
        """One task of a playbook, with the defaults of the options that it does not give."""
        name = definition.function.__name__
        self.before(name)
        spec = definition.argument_spec
        given = {key: value for key, value in self.options.items() if key in spec}
        unknown = set(params) - set(spec)
        assert not unknown, f"{name} has no options {unknown}"
        result = call_task_function(
            definition,
            {**{key: option.get("default") for key, option in spec.items()}, **given, **params},
            materials=self.materials,
            progress=self.progress,
            cancelled=self.cancelled,
            check_mode=check_mode,
            diff=True,
            connect=lambda _params, _on_warning: self.cluster,
        )
        json.dumps(result)
        self.results.append(result)
        return result

    def plan(self, *, check_mode: bool = False) -> Result:
        """The task ``plan``."""
        return self.task(plan.DEFINITION, check_mode=check_mode)

    def carry_out(self, planned: Result) -> Result:
        """The effect of ``roles/kyma/tasks/run.yml`` on a plan; the result is that of its last task."""
        what = planned["plan"]
        # As in the role: a run does not need to know which objects change.
        named = [{"name": one["name"], "action": one["action"]} for one in what["components"]]
        begun = self.task(run.DEFINITION, state="started", plan={**what, "components": named})
        if begun.get("failed"):
            return begun
        if begun["outdated"]:
            return self.deploy()
        name = begun["run"]
        for stage in what["stages"]:
            if stage["tasks"] == "migrate":
                self.migrate(name, stage["phase"])
            else:
                state = {"main": "present", "prune": "pruned"}[stage["tasks"]]
                self.task(component.DEFINITION, names=stage["components"], run=name, state=state)
        return self.task(run.DEFINITION, state="finished", run=name)

    def migrate(self, run_name: str, phase: str) -> Result:
        """The global migrations of a run."""
        return self.task(migration.DEFINITION, component="global", phase=phase, run=run_name)

    def deploy(self) -> Result:
        """The whole role: plan, and apply the plan if it is needed, or record its observations."""
        planned = self.plan()
        if planned.get("failed"):
            return planned
        if not planned["plan"]["needed"]:
            if planned["plan"]["noted"]:
                self.task(run.DEFINITION, state="noted", plan=planned["plan"])
            return planned
        return self.carry_out(planned)

    def delete(self, *names: str, check_mode: bool = False, **params: Any) -> Result:
        """The effect of ``playbooks/delete_kyma.yml``, or the deletion of only some components."""
        requested = list(names or ("*",))
        return self.task(
            component.DEFINITION, check_mode=check_mode, state="absent", names=requested, **params
        )

    def run_info(self, **params: Any) -> Result:
        return self.task(run_info.DEFINITION, **params)

    def component_info(self, **params: Any) -> Result:
        return self.task(component_info.DEFINITION, **params)

    def migration_info(self, **params: Any) -> Result:
        return self.task(migration_info.DEFINITION, **params)

    def record(self) -> Object:
        """The record of the newest run."""
        run = self.cluster.get(API_VERSION, "KymaRun", self.installation().last_run)
        assert run is not None
        return run

    def installation(self) -> Installation:
        return read_installation(self.cluster)

    def states(self) -> dict[str, str]:
        """How each component ended in the newest run."""
        return {name: one["state"] for name, one in (self.record()["status"].get("components") or {}).items()}


def memory(someone: Deployer) -> MemoryCluster:
    """The cluster of a deployer that works in memory."""
    assert isinstance(someone.cluster, MemoryCluster)
    return someone.cluster


def deployer(
    given: Release, *migrations: type[Migration], cluster: MemoryCluster | None = None, **options: Any
) -> Deployer:
    """A user with a cluster where everything becomes healthy at once."""
    return Deployer(cluster or healthy_cluster(), FakeMaterials(given, migrations), options)


_Clock = Callable[[], str]
_CLUSTERS: dict[tuple[str, _Clock], MemoryCluster] = {}
"""A cluster for each release, and the clock by which it was deployed. It is only read from then on."""


def deployer_after(given: Release, **options: Any) -> Deployer:
    """A user who has deployed this release, with a copy of the cluster on which it was deployed once."""
    key = repr(given), vars(simulated_server)["timestamp"]
    if key not in _CLUSTERS:
        cluster = healthy_cluster()
        ended = deployer(given, cluster=cluster).deploy()
        assert ended["state"] == "succeeded", ended
        _CLUSTERS[key] = cluster
    return deployer(given, cluster=copy_of(_CLUSTERS[key]), **options)


def copy_of(cluster: MemoryCluster) -> MemoryCluster:
    """A healthy cluster with the same objects and the same history."""
    other = MemoryCluster()
    parts = {name: copy(part) for name, part in vars(cluster._store).items() if name != "changed"}
    vars(other._store).update(parts)
    other.on_write(make_healthy)
    return other


def delete_slowly(cluster: MemoryCluster, seconds: float, *names: str) -> None:
    """Let deletions of these objects take time."""

    def takes_its_time(request: Request) -> bool:
        if request.writes and request.verb == "delete" and request.ref.name in names:
            time.sleep(seconds)
        return False

    cluster.fail_when(takes_its_time, AssertionError("it only takes its time"))


def healthy_cluster(*objects: Object) -> MemoryCluster:
    """A cluster whose controllers make Deployments and Jobs healthy, except for images named ``broken``."""
    cluster = MemoryCluster(*objects)
    cluster.on_write(make_healthy)
    return cluster


def make_healthy(cluster: Cluster, event: Event) -> None:
    """The reaction of the controllers of Deployments, Jobs and claims to a write."""
    obj = event.object
    if event.type == "DELETED" or obj["kind"] not in ("Deployment", "Job", "PersistentVolumeClaim"):
        return
    meta = obj["metadata"]
    if meta.get("deletionTimestamp"):
        return
    status = obj.get("status") or {}
    if obj["kind"] == "PersistentVolumeClaim":
        if status.get("phase") != "Bound":
            bound = {"status": {"phase": "Bound"}}
            cluster.patch("v1", obj["kind"], meta["name"], meta["namespace"], bound, subresource="status")
        return
    generation = meta["generation"]
    image = obj["spec"]["template"]["spec"]["containers"][0]["image"]
    if obj["kind"] == "Job":
        if status.get("conditions"):
            return
        new: dict[str, Any] = {"conditions": [{"type": "Complete", "status": "True"}], "succeeded": 1}
    elif status.get("observedGeneration") == generation:
        return
    elif image.startswith("broken"):
        progress = {
            "type": "Progressing",
            "status": "False",
            "reason": "ProgressDeadlineExceeded",
            "message": "has timed out progressing",
        }
        new = {"observedGeneration": generation, "replicas": 1, "conditions": [progress]}
    else:
        count = obj["spec"].get("replicas", 1)
        new = {
            "observedGeneration": generation,
            "replicas": count,
            "updatedReplicas": count,
            "readyReplicas": count,
            "availableReplicas": count,
            "conditions": [
                {"type": "Available", "status": "True"},
                {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"},
            ],
        }
    cluster.patch(
        obj["apiVersion"],
        obj["kind"],
        meta["name"],
        meta["namespace"],
        {"status": new},
        subresource="status",
    )


def config_map(name: str, **data: str) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def secret(name: str, **data: str) -> Object:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": data}


def deployment(name: str, image: str = "nginx:1", **spec: Any) -> Object:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "main", "image": image}]},
            },
            **spec,
        },
    }


def job(name: str, image: str = "busybox:1") -> Object:
    pod = {"restartPolicy": "Never", "containers": [{"name": "main", "image": image}]}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {"template": {"spec": pod}},
    }


def crd(kind: str, group: str = "example.com") -> Object:
    plural = kind.lower() + "s"
    open_schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"},
            "versions": [
                {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": open_schema}}
            ],
        },
    }


def custom(kind: str, name: str, group: str = "example.com", **spec: Any) -> Object:
    return {"apiVersion": f"{group}/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}


def slow_clock(patch: pytest.MonkeyPatch) -> None:
    """Put every write into another second, because the server records times of changes in seconds."""
    seconds = count(1)
    patch.setattr(simulated_server, "timestamp", lambda: f"2026-01-01T00:00:{next(seconds):05}Z")


def stopped_clock(patch: pytest.MonkeyPatch) -> None:
    """Let no limit run out, because the machine decides how long a deployment really takes."""
    clock = StoppedClock()
    for module in (component_crds, component_removal, component_run, removal_gate, wait):
        patch.setattr(module, "time", clock)


@contextmanager
def only_reads(cluster: MemoryCluster) -> Iterator[list[Request]]:
    """Allow reads and dry runs in this block, and no writes; yields the requests."""
    start = len(cluster.requests)
    seen: list[Request] = []
    yield seen
    seen += cluster.requests[start:]
    writes = [request for request in seen if request.writes]
    assert not writes, writes


def contents(cluster: Cluster) -> dict[str, Any]:
    """Data of every ConfigMap and Secret, and the spec of all else in inventories, by reference."""
    by_ref: dict[str, Any] = {}
    for inventory in read_inventories(cluster).values():
        for entry in inventory.entries:
            obj = cluster.get(entry.api_version, entry.ref.kind, entry.ref.name, entry.ref.namespace)
            by_ref[str(entry.ref)] = obj and (obj.get("data") or obj.get("spec"))
    return by_ref
