# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs by hand and of Toolforge are imported, counted, listed and dumped, on a real API server."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.runtime.normal_form import (
    normal_form,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._threads import map_in_threads

from tests.cluster.paths import ROOT
from tests.support.eventually import eventually
from tests.support.runtime_samples import rich_cron_job, rich_deployment, rich_job
from tests.support.store_user import User

from .test_stored_jobs import JOBS

pytestmark = pytest.mark.cluster
WITH_DEFAULT_STATUS = pytest.mark.newer_versions(
    "Kubernetes 1.30 gives no status to a condition of a CronJob's podFailurePolicy"
)

CRD_KIND = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
TOOLFORGE = "jobs-api.toolforge.org"


def by_hand(user: User, name: str = "by-hand", **pod: Any) -> Object:
    """A CronJob that somebody has created."""
    container = {"name": "main", "image": "busybox:1.37"}
    spec = {"containers": [container], "restartPolicy": "Never", **pod}
    return user.admin.create(
        {
            "apiVersion": "batch/v1",
            "kind": "CronJob",
            "metadata": {"name": name, "namespace": user.namespace},
            "spec": {"schedule": "7 3 * * *", "jobTemplate": {"spec": {"template": {"spec": spec}}}},
        }
    )


def rich_jobs(user: User) -> list[Object]:
    """One job of each type, with volumes, affinity and two containers; none of them starts pods."""
    made = []
    for name, sample in (("once", rich_job), ("often", rich_cron_job), ("always", rich_deployment)):
        obj = sample(user.namespace, name)
        del obj["metadata"]["finalizers"]
        made.append(user.admin.create(obj))
    eventually(lambda: all(user.runtime(name)[0].get("status") for name in ("once", "always")))
    return made


def versions(user: User) -> dict[str, str]:
    objects = [obj for name in ("once", "often", "always") for obj in user.runtime(name)]
    return {obj["metadata"]["name"]: obj["metadata"]["resourceVersion"] for obj in objects}


@WITH_DEFAULT_STATUS
def test_an_import_touches_nothing_that_runs_and_loses_nothing(deployer: User) -> None:
    """Case 3."""
    made = rich_jobs(deployer)
    before = versions(deployer)
    done = deployer.imported().succeeded()
    assert done.result["unreadable"] == []
    assert done.result["imported"] == sorted(f"{deployer.namespace}/{name}" for name in before)
    assert {write.split()[1] for write in done.writes} == {
        "JobCounter",
        "OneOffJob",
        "ScheduledJob",
        "ContinuousJob",
    }
    assert deployer.imported().unchanged().result["unchanged"] == 3
    assert versions(deployer) == before

    dump = deployer.info(dump=True).result["dump"]
    assert deployer.jobs(jobs=dump).unchanged().actions == dict.fromkeys(before, "unchanged")
    # A finished Job would not come back, and this one is suspended.
    for obj in made:
        deployer.delete_runtime(obj["metadata"]["name"])
    deployer.jobs(jobs=dump).succeeded()
    for obj in made:
        (rebuilt,) = deployer.forms(obj["metadata"]["name"])
        assert rebuilt == normal_form(obj)


def test_two_imports_at_once_count_once(deployer: User) -> None:
    for number in range(5):
        by_hand(deployer, f"job-{number}")
    for done in map_in_threads(lambda _number: deployer.imported(), range(3)):
        done.succeeded()
    assert len(deployer.definitions()) == 5
    assert deployer.imported().unchanged().counts == (5, 0)


def test_a_namespace_that_is_being_deleted_stops_no_import(deployer: User) -> None:
    other = f"{deployer.namespace}-gone"
    deployer.admin.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": other}})
    held = replace(deployer, namespace=other)
    definition = held.write_definition("held", 1, image="nginx:1.29")
    kind = (definition["apiVersion"], definition["kind"], "held", other)
    deployer.admin.patch(*kind, {"metadata": {"finalizers": ["shop.invalid/hold"]}})
    try:
        deployer.admin.delete("v1", "Namespace", other)
        # As the controller of namespaces does, but at once.
        deployer.admin.delete(*kind)
        by_hand(deployer)
        done = deployer.imported(namespaces=[other, deployer.namespace], rewrite=True).succeeded()
        assert done.result["imported"] == [f"{deployer.namespace}/by-hand"]
        declared = {"name": "other", "type": "one-off", "image": "busybox:1.37"}
        listed = [{**declared, "namespace": one} for one in (other, deployer.namespace)]
        loaded = deployer.jobs(jobs=listed)
        assert f"{other}/other: refused" in loaded.message
        assert [one["action"] for one in loaded.result["jobs"]] == ["refused", "created"]
    finally:
        deployer.admin.patch(*kind, {"metadata": {"finalizers": None}})


def test_a_job_only_in_kubernetes_is_adopted_and_counted_once(deployer: User, tmp_path: Path) -> None:
    """Case 2."""
    live = by_hand(deployer)
    info = deployer.info().result
    assert info["adoptable"] == [f"{deployer.namespace}/by-hand"]
    assert deployer.definitions() == []
    metrics = tmp_path / "jobs.prom"
    declared = {"name": "other", "type": "one-off", "image": "busybox:1.37"}
    done = deployer.jobs(jobs=[declared], metrics_file=str(metrics)).succeeded()
    assert done.counts == (1, 0)
    assert f'jobs_only_in_kubernetes_total{{namespace="{deployer.namespace}"}} 1\n' in metrics.read_text()
    # Found again, it counts no more; nor does it once it has a definition.
    assert deployer.jobs(jobs=[declared]).succeeded().counts == (1, 0)
    assert deployer.imported().succeeded().counts == (1, 0)
    assert deployer.imported().unchanged().counts == (1, 0)

    # Another object of the same name is another one.
    deployer.jobs(name="by-hand", state="absent").succeeded()
    assert by_hand(deployer)["metadata"]["uid"] != live["metadata"]["uid"]
    fields = deployer.listed()["by-hand"]["fields"]
    present = {"name": "by-hand", "type": "scheduled", **fields}
    adopted = deployer.jobs(jobs=[present]).succeeded()
    assert (adopted.counts, adopted.actions) == ((2, 0), {"by-hand": "updated"})
    assert not [write for write in adopted.writes if write.split()[1] == "CronJob"]
    deployer.jobs(jobs=[present]).unchanged()


def flip(user: User, **switches: str) -> None:
    """Set the switches, by force only if jobs of other namespaces are in the way."""
    done = user.store(**switches)
    if done.result.get("failed"):
        assert not [line for line in done.result["differences"] if user.namespace in line]
        user.store(**switches, force=True).succeeded()


def test_a_flip_changes_no_list_and_the_last_stage_hides_what_is_unknown(deployer: User) -> None:
    """Case 2."""
    deployer.jobs(jobs=JOBS).succeeded()
    by_hand(deployer)
    # Until nothing changes by itself.
    eventually(
        lambda: {one["state"] for one in deployer.listed().values()} == {"finished", "scheduled", "running"}
    )
    before = deployer.listed()
    flip(deployer, source_of_truth="storage")
    assert deployer.listed() == before
    assert deployer.info().result["source_of_truth"] == "storage"

    hidden = deployer.store(unknown_jobs="ignore")
    line = f"scheduled job {deployer.namespace}/by-hand would be hidden, as it has no definition."
    assert line in hidden.message
    deployer.store(unknown_jobs="ignore", force=True).succeeded()
    assert deployer.listed().keys() == before.keys() - {"by-hand"}
    ignored = deployer.jobs(jobs=JOBS).succeeded()
    assert (ignored.counts, len(deployer.definitions())) == ((1, 0), 3)
    assert deployer.jobs(jobs=JOBS).succeeded().counts == (1, 0)
    # The import, called on purpose, makes it all the same.
    imported = deployer.imported().succeeded()
    assert (imported.counts, imported.result["imported"]) == ((1, 0), [f"{deployer.namespace}/by-hand"])
    assert deployer.listed().keys() == before.keys()


def test_a_flip_is_refused_while_a_job_has_drifted_unless_it_is_forced(deployer: User) -> None:
    """Case 2."""
    deployer.jobs(jobs=JOBS[2:]).succeeded()
    kind = ("apps/v1", "Deployment", "web", deployer.namespace)
    deployer.admin.with_field_manager("kubectl-scale").patch(*kind, {"spec": {"replicas": 3}})
    # In the first stage it is listed as it runs.
    assert (deployer.listed()["web"]["fields"]["replicas"], deployer.listed()["web"]["source"]) == (
        3,
        "kubernetes",
    )
    refused = deployer.store(source_of_truth="storage")
    assert f"continuous job {deployer.namespace}/web has drifted" in refused.message
    assert "spec.replicas is 3, not 1 (kubectl-scale" in refused.message
    assert refused.writes == []
    deployer.store(source_of_truth="storage", force=True).succeeded()
    listed = deployer.listed()["web"]
    assert ("replicas" in listed["fields"], listed["source"]) == (False, "storage")
    assert [one["field"] for one in listed["drift"]] == ["spec.replicas"]


@pytest.mark.parametrize("stage", [("kubernetes", "adopt"), ("storage", "adopt"), ("storage", "ignore")])
def test_any_dump_loads_to_no_change(deployer: User, stage: tuple[str, str]) -> None:
    deployer.jobs(jobs=JOBS).succeeded()
    deployer.record_ends(JOBS)
    by_hand(deployer)
    labels = {"app": "two"}
    two = [{"name": name, "image": "nginx:1.29", "args": ["a"]} for name in ("one", "two")]
    deployer.admin.create(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "two", "namespace": deployer.namespace, "annotations": {"note": "n"}},
            "spec": {
                "replicas": 2,
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": {"containers": two}},
            },
        }
    )
    spec = {"command": "serve", "image": "nginx:1.29", "resources": {"memory": "1Gi"}}
    deployer.write_definition("missing", 1, **spec)
    deployer.store(source_of_truth=stage[0], unknown_jobs=stage[1], force=True).succeeded()
    before = {name: deployer.forms(name) for name in ("once", "backup", "web", "by-hand", "two")}
    first = deployer.info(dump=True).result["dump"]
    # What was only in Kubernetes or only in storage is in both then.
    deployer.jobs(jobs=first).succeeded()
    dump = deployer.info(dump=True).result["dump"]
    assert dump == first
    deployer.jobs(jobs=dump, prune=True).unchanged()
    assert {name: deployer.forms(name) for name in before} == before


@WITH_DEFAULT_STATUS
def test_workloads_as_people_write_them_are_imported_and_left_alone(deployer: User) -> None:
    workloads = yaml.safe_load((ROOT / "tests/unit/module_utils/_job_models/handmade.yaml").read_text())
    for obj in workloads:
        obj["metadata"]["namespace"] = deployer.namespace
        obj["metadata"].pop("creationTimestamp", None)
        deployer.admin.create(obj)
    names = {obj["metadata"]["name"] for obj in workloads}
    before = {name: deployer.forms(name) for name in names}
    deployer.imported().succeeded()
    dump = deployer.info(dump=True).result["dump"]
    deployer.record_ends(dump)
    deployer.jobs(jobs=dump, prune=True).unchanged()
    assert {name: deployer.forms(name) for name in names} == before


VERSIONS: dict[int, dict[str, Any]] = {
    1: {
        "command": "serve --all",
        "logs": {"stdout": "/data/out", "stderr": "/data/err"},
        "resources": {"memory": "1Gi", "cpu": "1"},
        "healthCheck": {"script": "true"},
        "tty": True,
        "podLabels": {"team": "a"},
        "extra": {"Deployment": {"spec": {"template": {"spec": {"schedulerName": "batch"}}}}},
    },
    2: {
        "command": "serve --all",
        "logs": {"stdout": "/data/out", "stderr": "/data/err"},
        "memory": "1Gi",
        "cpu": "1",
        "healthCheck": {"script": "true"},
        "container": {"tty": True},
        "pod": {"metadata": {"labels": {"team": "a"}}, "spec": {"schedulerName": "batch"}},
    },
}


def test_definitions_by_hand_of_all_versions_are_listed_alike_and_rewritten(deployer: User) -> None:
    """Case 4."""
    for version, spec in VERSIONS.items():
        deployer.write_definition(f"v{version}", version, image="nginx:1.29", **spec)
    newer = {"image": "nginx:2", "command": {"of": "another shape"}, "novelty": 1}
    deployer.write_definition("v99", 99, **newer)
    deployer.write_definition("corrupt", 2, image=["nginx:1.29"])
    deployer.write_definition("nameless", "three", image="nginx:1.29")

    info = deployer.info().result
    listed = {one["name"]: one for one in info["jobs"]}
    assert listed.keys() == {"v1", "v2", "v99"}
    assert listed["v1"]["fields"] == listed["v2"]["fields"]
    assert listed["v1"]["fields"]["container"] == {"tty": True}
    assert [listed[f"v{version}"]["storage_version"] for version in (1, 2, 99)] == [1, 2, 99]
    assert [name for name, one in listed.items() if one["read_only"]] == ["v99"]
    for name in ("corrupt", "nameless"):
        assert [one for one in info["warnings"] if f"{deployer.namespace}/{name} can't be read: " in one]

    refused = deployer.jobs(name="v99", type="continuous", image="nginx:3")
    assert "storage version 99" in refused.message
    rewritten = deployer.imported(rewrite=True).succeeded()
    assert rewritten.result["rewritten"] == [f"{deployer.namespace}/v1"]
    assert len(rewritten.result["unreadable"]) == 2
    specs = {one["metadata"]["name"]: one["spec"] for one in deployer.definitions()}
    assert specs["v1"] == specs["v2"]
    assert specs["v99"] == newer
    deployer.imported(rewrite=True).unchanged()
    selector = "lifecycle.kyma-project.io/storage-version=2"
    kind = ("lifecycle.kyma-project.io/v1", "ContinuousJob")
    selected = deployer.admin.list(*kind, deployer.namespace, label_selector=selector).items
    assert {one["metadata"]["name"] for one in selected} == {"v1", "v2", "corrupt"}


@pytest.fixture
def toolforge(deployer: User) -> Iterator[None]:
    """The cluster serves Toolforge's custom resources."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    plurals = {
        "OneOffJob": "one-off-jobs",
        "ScheduledJob": "scheduled-jobs",
        "ContinuousJob": "continuous-jobs",
    }
    names = [f"{plural}.{TOOLFORGE}" for plural in plurals.values()]
    for kind, plural in plurals.items():
        deployer.admin.create(
            {
                "apiVersion": CRD_KIND[0],
                "kind": CRD_KIND[1],
                "metadata": {"name": f"{plural}.{TOOLFORGE}"},
                "spec": {
                    "group": TOOLFORGE,
                    "scope": "Namespaced",
                    "names": {"kind": kind, "plural": plural},
                    "versions": [
                        {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
                    ],
                },
            }
        )
    eventually(lambda: all(is_served(deployer, name) for name in names))
    yield
    for name in names:
        deployer.admin.delete(*CRD_KIND, name)
    eventually(lambda: not any(deployer.admin.get(*CRD_KIND, name) for name in names))


def is_served(user: User, name: str) -> bool:
    conditions = (user.admin.get(*CRD_KIND, name) or {}).get("status", {}).get("conditions") or ()
    return any((one["type"], one["status"]) == ("Established", "True") for one in conditions)


def toolforge_deployment(user: User, name: str, version: str, line: str) -> Object:
    """What Toolforge's framework creates for a continuous job."""
    labels = {
        "toolforge": "tool",
        "app.kubernetes.io/managed-by": "toolforge-jobs-framework",
        "app.kubernetes.io/created-by": "wm-lol",
        "app.kubernetes.io/version": version,
        "app.kubernetes.io/component": "deployments",
        "app.kubernetes.io/name": name,
        "jobs.toolforge.org/filelog": "yes",
        "jobs.toolforge.org/emails": "onfailure",
    }
    container = {
        "name": "job",
        "image": "tools/python:3.13",
        "workingDir": "/data/project/wm-lol",
        "command": ["/bin/sh", "-c", "--", line],
        "resources": {"limits": {"cpu": "500m", "memory": "512Mi"}, "requests": {"memory": "256Mi"}},
    }
    return user.admin.create(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": name, "namespace": user.namespace, "labels": labels},
            "spec": {
                "selector": {"matchLabels": {"app.kubernetes.io/name": name}},
                "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
            },
        }
    )


@pytest.mark.usefixtures("toolforge")
def test_jobs_of_toolforge_are_imported(deployer: User) -> None:
    lines = {
        "old": ("1", "./serve.sh 1>>/data/out 2>>/data/err"),
        "new": ("2", "exec 1>>/data/out;exec 2>>/data/err;./serve.sh"),
    }
    for name, (version, line) in lines.items():
        toolforge_deployment(deployer, name, version, line)
    before = {name: deployer.forms(name) for name in lines}
    spec = {"cmd": "./nightly.sh", "image": "tools/python:3.13", "retry": 1}
    for kind, name, more in (
        ("ScheduledJob", "nightly", {"schedule": "36 6 * * *"}),
        # The resource of a job that runs, too.
        ("ContinuousJob", "old", {}),
        ("OneOffJob", "corrupt", {"image": ["?"]}),
    ):
        deployer.admin.create(
            {
                "apiVersion": f"{TOOLFORGE}/v1",
                "kind": kind,
                "metadata": {"name": name, "namespace": deployer.namespace},
                "spec": {**spec, **more},
            }
        )
    done = deployer.imported().succeeded()
    assert done.result["imported"] == [f"{deployer.namespace}/{name}" for name in ("new", "nightly", "old")]
    (line,) = done.result["unreadable"]
    assert "corrupt" in line
    assert not deployer.imported().succeeded().result["changed"]

    listed = deployer.listed()
    assert listed["nightly"]["state"] == "missing"
    assert (listed["nightly"]["fields"]["schedule"], listed["nightly"]["fields"]["retry"]) == (
        "36 6 * * *",
        1,
    )
    for name in lines:
        fields = listed[name]["fields"]
        assert (fields["command"], fields["emails"]) == ("./serve.sh", "onfailure")
        suffix = {"suffix": ">>"} if name == "old" else {}
        assert fields["logs"] == {"stdout": "/data/out", "stderr": "/data/err", **suffix}
        assert listed[name]["drift"] == []
        deployer.delete_runtime(name)
    deployer.jobs(jobs=deployer.info(dump=True).result["dump"]).succeeded()
    assert {name: deployer.forms(name) for name in lines} == before
    assert [one["kind"] for one in deployer.runtime("nightly")] == ["CronJob"]
