# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ClusterRoles of the job store: their files are what the code installs, and grant what it calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import group_of
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.wrapper import Call
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.core_job import JobType
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.counting import count_jobs
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.job_change import JobChanger
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.job_import import import_jobs
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.pod_refusals import pod_refusals
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.restrictions import (
    restriction_warnings,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.snapshot import read_snapshot
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.store_kinds import (
    ROLES,
    TOOLFORGE_PLURALS,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.switches import (
    StoreSwitches,
    read_switches,
    write_switches,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.cluster.paths import ROOT
from tests.support.hooked_cluster import HookedCluster
from tests.support.job_store import (
    create_runtime,
    delete_runtime,
    ensure_namespace,
    job_of,
    patch_runtime,
    store_cluster,
)

FILES = ROOT / "roles" / "kyma_job_store" / "files" / "cluster_roles"
VERBS = {"apply": ("create", "patch"), "create": ("create",), "patch": ("patch",), "delete": ("delete",)}
VERBS |= {verb: (verb,) for verb in ("get", "list", "watch")}
VERBS |= {"watch_all": ("watch",)}
TOOLFORGE_KINDS = ("OneOffJob", "ScheduledJob", "ContinuousJob")


def test_the_files_are_what_the_code_installs() -> None:
    shipped = {path.name: yaml.safe_load(path.read_text()) for path in FILES.iterdir()}
    by_name = {role["metadata"]["name"]: role for role in shipped.values()}
    assert by_name == {role["metadata"]["name"]: role for role in ROLES}
    assert set(shipped) == {"manager.yaml", "view.yaml"}


def toolforge_definition(kind: str, plural: str) -> dict[str, Any]:
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.jobs-api.toolforge.org"},
        "spec": {
            "group": "jobs-api.toolforge.org",
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
        },
    }


def use_all_of_the_store(cluster: HookedCluster, memory: MemoryCluster) -> None:
    """Create, change, adopt, count, import and delete jobs of each type, and set the switches."""

    def changer() -> JobChanger:
        return JobChanger(cluster, read_snapshot(cluster), timeout=1)

    write_switches(cluster, StoreSwitches())
    read_switches(cluster)
    for type_ in JobType:
        create_runtime(memory, job_of(f"by-hand-{type_}", type_))
        create_runtime(memory, job_of(f"unknown-{type_}", type_))
    for type_ in JobType:
        changer().present(job_of(f"by-hand-{type_}", type_))
        changer().present(job_of("web", type_))
        changer().present(job_of("web", type_, image="other:1"))
        changer().restarted(job_of("web", type_).key)
    changer().present(job_of("web"))
    delete_runtime(memory, job_of("web"))
    changer().present(job_of("web"))
    changer().present(job_of("web", port=9090))
    changer().present(job_of("web", port=None))
    failure = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": "no"}
    patch_runtime(memory, job_of("web"), {"status": {"conditions": [failure]}})
    for namespace in ("shop", "cart"):
        stale = read_snapshot(cluster, (namespace,))
        create_runtime(memory, job_of("late", namespace=namespace))
        count_jobs(cluster, read_snapshot(cluster, (namespace,)))
        # Others have counted since: the counter is read again.
        count_jobs(cluster, stale)
        create_runtime(memory, job_of("later", namespace=namespace))
        count_jobs(cluster, read_snapshot(cluster, (namespace,)))
    import_jobs(cluster, read_snapshot(cluster), rewrite=True)
    pod_refusals(cluster, read_snapshot(cluster))
    for type_ in JobType:
        changer().absent(job_of(f"by-hand-{type_}", type_).key)


def called(cluster: MemoryCluster, calls: list[Call]) -> Iterator[tuple[str, str, str]]:
    """The verb, the group and the resource of each request."""
    for call in calls:
        resource = cluster.resource(call.api_version, call.kind) if call.kind else None
        if resource and call.verb in VERBS:
            is_status = isinstance(call.patch, Mapping) and {*call.patch} - {"metadata"} == {"status"}
            for verb in VERBS[call.verb]:
                plural = f"{resource.plural}/status" if is_status else resource.plural
                yield verb, group_of(call.api_version), plural


def test_the_account_of_the_store_gets_what_it_calls_and_no_more() -> None:
    memory = store_cluster()
    kinds = zip(TOOLFORGE_KINDS, TOOLFORGE_PLURALS, strict=True)
    memory.seed(*(toolforge_definition(kind, plural) for kind, plural in kinds))
    ensure_namespace(memory, "shop")
    ensure_namespace(memory, "cart")
    hooked = HookedCluster(memory)
    use_all_of_the_store(hooked, memory)
    restriction_warnings(hooked, [job_of("web")])
    manager = yaml.safe_load((FILES / "manager.yaml").read_text())
    granted = {
        (verb, group, resource)
        for rule in manager["rules"]
        for verb in rule["verbs"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }
    needed = {*called(memory, hooked.calls)}
    # A deletion that takes time is watched, and in memory none does.
    own = "lifecycle.kyma-project.io"
    needed |= {
        ("watch", group, plural) for verb, group, plural in needed if verb == "delete" and group != own
    }
    assert needed - granted == set()
    assert granted - needed == set()
