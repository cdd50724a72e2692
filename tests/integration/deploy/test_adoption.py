# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects of kubectl, Helm or an earlier release, and a release with fewer fields, on a real API server."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, Object, ref_of
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import ApiError
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.connection import connect
from ansible_collections.kyma.lifecycle.plugins.module_utils._dry_run.dry_run_cluster import DryRunCluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._dry_run.server_rules import IMMUTABLE
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.apply.apply_object import apply_object
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.apply.diff import manifest_of
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.ownership.losses import lost_values
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.ownership.policy import Policy
from hypothesis import HealthCheck, given, settings
from hypothesis import Phase as Stage
from hypothesis import strategies as st

from tests.support.driver import Deployer, release
from tests.support.extent import examples
from tests.support.kubectl import helm, kubectl
from tests.support.live_deployer import user_of
from tests.support.own_cluster import OwnCluster, new_cluster

pytestmark = pytest.mark.control_plane

NAMESPACE = "kyma-system"
MARK = "lifecycle.example.com/n"


@pytest.fixture(scope="module")
def own_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnCluster]:
    """A cluster for the objects of this file."""
    with new_cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        cluster.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
        yield cluster


# Objects with all that a maker may give them.


def obj_of(kind: str, api_version: str, name: str, **content: Any) -> Object:
    meta: Object = {"name": name, "labels": {"team": "x"}, "annotations": {"note": "y"}}
    if kind not in ("StorageClass", "CustomResourceDefinition"):
        meta["namespace"] = NAMESPACE
    return {"apiVersion": api_version, "kind": kind, "metadata": meta, **content}


def template(name: str, **spec: Any) -> Object:
    main = {
        "name": "main",
        "image": "example.com/main:1",
        "imagePullPolicy": "Always",
        "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
        "resources": {"limits": {"memory": "64Mi"}},
    }
    containers = [main, {"name": "proxy", "image": "example.com/proxy:1"}]
    spec = {"containers": containers, "terminationGracePeriodSeconds": 5, **spec}
    return {"metadata": {"labels": {"app": name, "level": "1"}}, "spec": spec}


def claim_spec() -> Object:
    requests = {"requests": {"storage": "1Gi"}}
    return {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "",
        "volumeMode": "Block",
        "resources": requests,
    }


def everything(suffix: str) -> dict[str, Object]:
    """An object of each kind with an immutable field, by kind."""

    def workload(kind: str, **spec: Any) -> Object:
        name = f"{kind.lower()}-{suffix}"
        selector = {"matchLabels": {"app": name}}
        spec = {"selector": selector, "template": template(name), "minReadySeconds": 3, **spec}
        return obj_of(kind, "apps/v1", name, spec=spec)

    plural = f"things{suffix}"
    names = {
        "plural": plural,
        "singular": f"thing{suffix}",
        "kind": f"Thing{suffix}",
        "shortNames": [f"t{suffix}"],
    }
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    claim = {"metadata": {"name": "data", "labels": {"a": "b"}}, "spec": claim_spec()}
    job = template("job", restartPolicy="Never")
    objects = [
        workload("DaemonSet", revisionHistoryLimit=3),
        workload("Deployment", replicas=3, paused=True),
        workload("ReplicaSet", replicas=3),
        workload(
            "StatefulSet",
            replicas=3,
            podManagementPolicy="Parallel",
            serviceName="db",
            volumeClaimTemplates=[claim],
            persistentVolumeClaimRetentionPolicy={"whenDeleted": "Delete", "whenScaled": "Retain"},
        ),
        obj_of(
            "Job",
            "batch/v1",
            f"job-{suffix}",
            spec={
                "suspend": True,
                "completions": 2,
                "parallelism": 2,
                "completionMode": "Indexed",
                "backoffLimit": 1,
                "template": job,
            },
        ),
        obj_of("Secret", "v1", f"secret-{suffix}", type="Opaque", data={"a": "MQ==", "b": "Mg=="}),
        obj_of("PersistentVolumeClaim", "v1", f"claim-{suffix}", spec=claim_spec()),
        obj_of(
            "StorageClass",
            "storage.k8s.io/v1",
            f"class-{suffix}",
            provisioner="disks.test",
            reclaimPolicy="Retain",
            volumeBindingMode="WaitForFirstConsumer",
            allowVolumeExpansion=True,
        ),
        obj_of(
            "CustomResourceDefinition",
            "apiextensions.k8s.io/v1",
            f"{plural}.things.test",
            spec={"group": "things.test", "scope": "Namespaced", "names": names, "versions": [version]},
        ),
    ]
    return {obj["kind"]: obj for obj in objects}


DROPPABLE: Mapping[str, tuple[str, ...]] = {
    "DaemonSet": ("spec.revisionHistoryLimit",),
    "Deployment": ("spec.replicas", "spec.paused"),
    "ReplicaSet": ("spec.replicas",),
    "StatefulSet": (
        "spec.replicas",
        "spec.podManagementPolicy",
        "spec.serviceName",
        "spec.volumeClaimTemplates",
        "spec.volumeClaimTemplates.0.spec.volumeMode",
        "spec.volumeClaimTemplates.0.metadata.labels",
        "spec.persistentVolumeClaimRetentionPolicy",
    ),
    "Job": (
        "spec.completions",
        "spec.completionMode",
        "spec.parallelism",
        "spec.backoffLimit",
    ),
    "Secret": ("type", "data.a", "data.b"),
    "PersistentVolumeClaim": ("spec.volumeMode", "spec.storageClassName"),
    "StorageClass": ("reclaimPolicy", "volumeBindingMode", "allowVolumeExpansion"),
    "CustomResourceDefinition": ("spec.names.shortNames", "spec.names.singular"),
}
"""What a release may lack, by kind; the kinds are those of ``IMMUTABLE``, and two more."""
DROPPABLE_ANYWHERE = ("metadata.labels", "metadata.annotations.note")
DROPPABLE_FROM_PODS = (
    "spec.minReadySeconds",
    "spec.template.metadata.labels.level",
    "spec.template.spec.terminationGracePeriodSeconds",
    "spec.template.spec.containers.1",
    "spec.template.spec.containers.0.env.1",
    "spec.template.spec.containers.0.imagePullPolicy",
    "spec.template.spec.containers.0.resources",
)


def paths_of(kind: str) -> tuple[str, ...]:
    """The paths of what a release may lack of a kind."""
    has_pods = kind in ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet", "Job")
    return (*DROPPABLE[kind], *DROPPABLE_ANYWHERE, *(DROPPABLE_FROM_PODS if has_pods else ()))


def without(obj: Object, paths: tuple[str, ...]) -> Object:
    """An object without the values at some paths; a number is a place in a list."""
    fewer = deepcopy(obj)
    # From the end, so that places stay.
    for path in sorted(paths, reverse=True):
        node: Any = fewer
        *above, last = path.split(".")
        try:
            for name in above:
                node = node[int(name) if isinstance(node, list) else name]
            del node[int(last) if isinstance(node, list) else last]
        except LookupError:
            # What is around it is left out, too.
            continue
    return fewer


# The makers.

Make = Callable[[OwnCluster, list[Object], Path], None]


def _by_kubectl(*verb: str) -> Make:
    def make(cluster: OwnCluster, objects: list[Object], _folder: Path) -> None:
        # An old kubectl reads no documents of JSON, one after the other.
        listed = {"apiVersion": "v1", "kind": "List", "items": objects}
        kubectl(cluster.kubeconfig, *verb, "-f", "-", text=json.dumps(listed))

    return make


def install(cluster: OwnCluster, objects: list[Object], folder: Path) -> None:
    """Install objects by Helm, as a release with the name of a folder."""
    (folder / "templates").mkdir(parents=True)
    (folder / "Chart.yaml").write_text("apiVersion: v2\nname: made\nversion: 1.0.0\n")
    (folder / "templates" / "all.yaml").write_text("\n---\n".join(map(json.dumps, objects)))
    helm(cluster.kubeconfig, "install", folder.name, str(folder), "-n", NAMESPACE)


def _by_helm(cluster: OwnCluster, objects: list[Object], folder: Path) -> None:
    """Install them by Helm, and let it forget the release."""
    install(cluster, objects, folder)
    release_secrets = ("secret", "-n", NAMESPACE, "-l", f"owner=helm,name={folder.name}")
    kubectl(cluster.kubeconfig, "delete", *release_secrets)


def _by_us(cluster: OwnCluster, objects: list[Object], _folder: Path) -> None:
    for obj in objects:
        cluster.api.apply(obj)


MAKERS: Mapping[str, Make] = {
    "kubectl create": _by_kubectl("create"),
    "kubectl apply": _by_kubectl("apply"),
    "helm": _by_helm,
    "ours": _by_us,
}


# A plan is its run.


def outcome(cluster: Cluster, intent: Object) -> Any:
    """What an apply leads to: the object and who owns what in it, or the server's refusal."""
    try:
        applied = apply_object(cluster, intent, Policy(replace_immutable=()), lambda _deleted: None)
    except ApiError as error:
        # The server may be asked by another verb, and an old one prints addresses in its memory.
        return re.sub(r"0x[0-9a-f]+", "0x", error.api_message)
    return _plain(applied.object), [str(one).partition(" (")[0] for one in applied.findings]


def _plain(obj: Object) -> Object:
    """An object and the owners of its fields, without times, and without what controllers write."""
    shown = json.loads(json.dumps(manifest_of(obj)))
    annotations = shown["metadata"].get("annotations") or {}
    annotations.pop("deployment.kubernetes.io/revision", None)
    owners = [
        [entry["manager"], entry["operation"], json.dumps(entry["fieldsV1"], sort_keys=True)]
        for entry in obj["metadata"].get("managedFields") or ()
        if entry["manager"] not in ("kube-controller-manager", "kube-apiserver")
        and not entry.get("subresource")
    ]
    return {**shown, "owners": sorted(owners)}


def test_each_kind_with_an_immutable_field_takes_part() -> None:
    assert set(everything("a")) == set(DROPPABLE) == {*IMMUTABLE, "StatefulSet", "PersistentVolumeClaim"}


@st.composite
def omissions(draw: st.DrawFn) -> dict[str, tuple[str, ...]]:
    """What a release lacks of each kind."""
    return {kind: tuple(draw(st.lists(st.sampled_from(paths_of(kind)), unique=True))) for kind in DROPPABLE}


@pytest.mark.parametrize("maker", MAKERS)
def test_a_plan_for_objects_of_others_is_what_its_run_does(
    own_cluster: OwnCluster, tmp_path: Path, maker: str
) -> None:
    live = connect({"kubeconfig": str(own_cluster.kubeconfig)})
    lines: list[str] = []
    losses: list[str] = []
    numbers = iter(range(10**6))

    @given(omissions())
    @settings(
        max_examples=examples(4, 40),
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Stage.generate],
        suppress_health_check=list(HealthCheck),
    )
    def check(lacking: dict[str, tuple[str, ...]]) -> None:
        suffix = f"{list(MAKERS).index(maker)}x{next(numbers)}"
        made = everything(suffix)
        MAKERS[maker](own_cluster, list(made.values()), tmp_path / f"chart-{suffix}")
        for kind, obj in made.items():
            intent = without(obj, lacking[kind])
            address = obj["apiVersion"], kind, obj["metadata"]["name"], obj["metadata"].get("namespace")
            before = live.get(*address)
            assert before
            planned = outcome(DryRunCluster(live), intent)
            ran = outcome(live, intent)
            if planned != ran:
                lines.append(f"{kind} without {lacking[kind]}:\n  planned {planned}\n  and is  {ran}")
            after = live.get(*address)
            assert after
            losses.extend(str(one) for one in lost_values(before, after, intent))
            live.delete(*address)

    check()
    assert not lines, "\n".join(lines)
    # What we have applied before is ours to drop.
    assert bool(losses) == (maker != "ours"), losses


# A loss needs a word.


def three_objects(maker: str) -> list[Object]:
    """Objects in which some immutable fields have the server's defaults, as most objects have them."""
    made = everything(maker)
    secret, stateful_set, claim = (made[one] for one in ("Secret", "StatefulSet", "PersistentVolumeClaim"))
    stateful_set["spec"]["podManagementPolicy"] = "OrderedReady"
    claim["spec"]["volumeMode"] = "Filesystem"
    return [secret, stateful_set, claim]


FEWER: Mapping[str, tuple[str, ...]] = {
    "Secret": ("type", "data.b", "metadata.labels", "metadata.annotations"),
    "StatefulSet": (
        "spec.replicas",
        "spec.podManagementPolicy",
        "spec.template.spec.containers.1",
        "spec.template.spec.containers.0.env.1",
    ),
    "PersistentVolumeClaim": ("spec.volumeMode", "metadata.labels"),
}


@pytest.fixture(scope="module")
def made_by_others(own_cluster: OwnCluster, tmp_path_factory: pytest.TempPathFactory) -> list[Object]:
    """Three objects of kubectl and three of Helm, whose release is gone; what a release has of them."""
    for name, maker in (("kubectl", "kubectl apply"), ("helm", "helm")):
        MAKERS[maker](own_cluster, three_objects(name), tmp_path_factory.mktemp("charts") / "kyma")
    return [without(obj, FEWER[obj["kind"]]) for name in ("kubectl", "helm") for obj in three_objects(name)]


def user_with(cluster: OwnCluster, objects: list[Object], **options: Any) -> Deployer:
    """A user with a release of one component with these objects."""
    return user_of(cluster, release("1.0", {"db": objects}), **{"timeout": 5, **options})


def contents(cluster: OwnCluster, objects: list[Object]) -> dict[str, Object]:
    """The manifests of live objects, with the values of Secrets."""
    live = (
        cluster.api.get(obj["apiVersion"], obj["kind"], obj["metadata"]["name"], NAMESPACE) for obj in objects
    )
    return {str(ref_of(obj)): manifest_of(obj) for obj in live if obj}


LOST: Mapping[str, tuple[str, ...]] = {
    "Secret": ("data.b", "metadata.annotations.note", "metadata.labels.team"),
    "StatefulSet": (
        "spec.replicas",
        'spec.template.spec.containers[name="main"].env[name="B"]',
        'spec.template.spec.containers[name="proxy"]',
    ),
    "PersistentVolumeClaim": ("metadata.labels.team",),
}
"""What these objects would lose, by kind. The server fills in the other fields that the release lacks."""


def option_in(message: str) -> Any:
    """The option that a refused plan prints on a separate line."""
    [line] = [line.strip() for line in message.splitlines() if line.strip().startswith("-e ")]
    return json.loads(shlex.split(line)[1])


def test_a_plan_that_takes_values_from_makers_is_refused_and_prints_the_option_for_all(
    own_cluster: OwnCluster, made_by_others: list[Object]
) -> None:
    before = contents(own_cluster, made_by_others)
    refused = user_with(own_cluster, made_by_others).plan()
    assert refused["failed"]
    message = refused["msg"]
    for obj in made_by_others:
        [blocker] = [one for one in refused["blockers"] if f"{ref_of(obj)} would lose " in one]
        assert [field for field in LOST[obj["kind"]] if field not in blocker] == []
        maker = "helm" if "helm" in obj["metadata"]["name"] else "kubectl-client-side-apply"
        assert f": {maker} wrote this" in blocker
    assert option_in(message) == {"kyma_adopt_losses": [str(ref_of(obj)) for obj in made_by_others]}
    assert "Mg==" not in json.dumps(refused)
    assert contents(own_cluster, made_by_others) == before


def test_an_option_for_some_objects_leaves_the_others_refused(
    own_cluster: OwnCluster, made_by_others: list[Object]
) -> None:
    first, *others = map(str, map(ref_of, made_by_others))
    refused = user_with(own_cluster, made_by_others, adopt_losses=[first]).plan()
    assert len(refused["blockers"]) == len(others)
    # The printed value is complete.
    assert option_in(refused["msg"]) == {"kyma_adopt_losses": [first, *others]}
    assert not user_with(own_cluster, made_by_others, adopt_losses=["db"]).plan().get("failed")
    assert not user_with(own_cluster, made_by_others, adopt_losses=["all"]).plan().get("failed")


def test_a_living_helm_release_is_not_covered(
    own_cluster: OwnCluster, made_by_others: list[Object], tmp_path: Path
) -> None:
    del made_by_others
    living = everything("living")["Secret"]
    install(own_cluster, [living], tmp_path / "living")
    fewer = without(living, ("data.b",))
    refused = user_with(own_cluster, [fewer], adopt_losses=["all"]).plan()
    [blocker] = refused["blockers"]
    assert "Helm release kyma-system/living manages" in blocker
    assert "kyma_takeover" in blocker
    assert not user_with(own_cluster, [fewer], takeover=True).plan().get("failed")


def test_the_run_takes_what_the_plan_says_once_it_is_allowed(
    own_cluster: OwnCluster, made_by_others: list[Object]
) -> None:
    before = contents(own_cluster, made_by_others)
    user = user_with(own_cluster, made_by_others, adopt_losses=["db"])
    planned = user.plan()
    component = planned["plan"]["components"][-1]
    lost = {(one["kind"], one["name"], one["field"]) for one in component["losses"]}
    assert lost == {
        (obj["kind"], obj["metadata"]["name"], field) for obj in made_by_others for field in LOST[obj["kind"]]
    }
    user.carry_out(planned)
    shown = {one["after_header"]: yaml.safe_load(one["after"]) for one in planned["diff"]}
    after = contents(own_cluster, made_by_others)
    assert after.keys() == before.keys() <= shown.keys()
    for name, obj in after.items():
        if obj["kind"] == "Secret":
            assert obj["data"] == {"a": "MQ=="}
            continue
        assert obj == shown[name]
        assert obj != before[name]


def test_an_object_without_a_loss_is_adopted_without_a_word(own_cluster: OwnCluster, tmp_path: Path) -> None:
    objects = list(everything("same").values())
    MAKERS["kubectl apply"](own_cluster, objects, tmp_path)
    planned = user_with(own_cluster, objects).plan()
    assert not planned.get("failed"), planned.get("msg")
    component = planned["plan"]["components"][-1]
    assert component["losses"] == []
    assert {one["outcome"] for one in component["drift"]} == {"adopted"}
