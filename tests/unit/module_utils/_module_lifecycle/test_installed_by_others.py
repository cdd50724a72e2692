# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole runs, in memory, over a module that others have installed or changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.module_materials import (
    ModuleMaterials,
    ShippedModules,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Unreachable
from ansible_collections.kyma.lifecycle.plugins.module_utils._module_lifecycle import module_departure
from ansible_collections.kyma.lifecycle.plugins.module_utils._module_lifecycle.denial import (
    Denial,
    denial_objects,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.modules import (
    ModuleRecord,
    read_module_records,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import module

from tests.support.driver import (
    Deployer,
    FakeMaterials,
    config_map,
    contents,
    crd,
    deployment,
    healthy_cluster,
    memory,
    only_reads,
    release,
)
from tests.support.extent import sample
from tests.support.real_modules import real_modules

NAMESPACE = "kyma-system"
OPERATOR = ("apps/v1", "Deployment", "nats", NAMESPACE)
CRD = ("apiextensions.k8s.io/v1", "CustomResourceDefinition", "natss.example.com")
VERSION, KLM_LABEL = "app.kubernetes.io/version", "operator.kyma-project.io/managed-by"
KLM = "declarative.kyma-project.io/applier"
MANAGER = {"group": "apps", "version": "v1", "kind": "Deployment", "name": "nats", "namespace": NAMESPACE}
NEVER_NOW = {"rules": [], "default": {"begin": "2001-01-01T00:00:00Z", "end": "2001-01-01T01:00:00Z"}}


def manifest(
    version: str, *, labels: bool = True, name: str = "nats", extra: Sequence[Object] = ()
) -> list[Object]:
    """Definition, ServiceAccount, settings and operator of a version, whose image has a digest."""
    operator = deployment(name, f"example.com/nats@sha256:{version.replace('.', '') * 16:0>64}")
    objects = [
        crd("Nats"),
        _shared("ServiceAccount"),
        config_map("settings", version=version),
        *extra,
        operator,
    ]
    for obj in objects:
        if obj["kind"] not in ("CustomResourceDefinition", "Namespace"):
            obj["metadata"]["namespace"] = NAMESPACE
        if labels:
            obj["metadata"].setdefault("labels", {})[VERSION] = version
    return objects


def _shared(kind: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": kind,
        "metadata": {"name": NAMESPACE if kind == "Namespace" else "nats"},
    }


@dataclass
class ModuleMaterialsOfTest(FakeMaterials):
    """A catalog of the module, beside an empty release."""

    templates: list[tuple[str, Object]] = field(default_factory=list)
    manifests: dict[str, str] = field(default_factory=dict)

    @property
    def modules(self) -> ModuleMaterials:
        return ShippedModules({"documents": self.templates, "manifests": self.manifests})


class User(Deployer):
    """A user of the module, whose catalog has what was published."""

    def publish(self, version: str, objects: Sequence[Object] | None = None, **spec: Any) -> None:
        """Add a version to the catalog; by default its template names no manager."""
        assert isinstance(self.materials, ModuleMaterialsOfTest)
        link = f"https://example.com/nats-{version}.yaml"
        described = {"moduleName": "nats", "version": version, **spec}
        described["resources"] = [{"name": "rawManifest", "link": link}]
        template = {
            "apiVersion": "operator.kyma-project.io/v1beta2",
            "kind": "ModuleTemplate",
            "metadata": {"name": f"nats-{version}"},
            "spec": described,
        }
        self.materials.templates.append(("catalog", template))
        self.materials.manifests[link] = yaml.safe_dump_all(objects or manifest(version))

    def manage(self, version: str = "", *, check_mode: bool = False, **params: Any) -> dict[str, Any]:
        """A task that names the module."""
        return self.task(
            module.DEFINITION,
            check_mode=check_mode,
            catalog=[],
            version=version or None,
            channel=None,
            **{"name": "nats", **params},
        )

    def by_hand(self, objects: Sequence[Object], writer: str = "kubectl") -> None:
        """Apply objects as another field manager."""
        cluster = self.cluster.with_field_manager(writer)
        for obj in (_shared("Namespace"), *objects):
            cluster.apply(obj, force=True)

    @property
    def records(self) -> dict[str, ModuleRecord]:
        return read_module_records(self.cluster) if self.cluster.get(*_MODULES) else {}

    @property
    def image(self) -> str:
        """The last digits of the digest of the operator's image."""
        live = self.cluster.get(*OPERATOR)
        assert live
        return str(live["spec"]["template"]["spec"]["containers"][0]["image"])[-3:]

    def refused(self, version: str, *texts: str, **params: Any) -> None:
        """A run is refused with these texts, and changes nothing but records."""
        before = self.objects()
        for check_mode in (True, False):
            result = self.manage(version, check_mode=check_mode, **params)
            assert result.get("failed"), result["summary"]
            assert all(text in result["msg"] for text in texts), result["msg"]
            assert not result["changed"]
        assert self.objects() == before

    def objects(self) -> dict[str, Any]:
        """The objects of the module."""
        live = contents(self.cluster)
        return {key: value for key, value in live.items() if "lifecycle" not in str(key)}


_MODULES = (*CRD[:2], "kymamodules.lifecycle.kyma-project.io")


def user(*versions: str, **spec: Any) -> User:
    """A user whose catalog has some versions."""
    one = User(healthy_cluster(), ModuleMaterialsOfTest(release("2.9", {}), ()))
    for version in versions:
        one.publish(version, **spec)
    return one


@pytest.fixture(autouse=True)
def _denials_are_in_force_at_once() -> Iterator[None]:
    """The server's part of a denial is tried on a real one."""

    def impose(cluster: Cluster, denial: Denial, **_terms: Any) -> None:
        for obj in denial_objects(denial):
            cluster.apply(obj, force=True)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module_departure, "impose", impose)
        yield


def test_a_newer_version_of_a_module_without_a_named_manager_is_never_replaced_by_an_older_one() -> None:
    someone = user("1.0.0", "2.0.0")
    someone.by_hand(manifest("2.0.0"))
    someone.refused("1.0.0", "nats 2.0.0 is installed", "1.0.0 is older")


def test_an_adoption_recognizes_a_workload_with_another_name_in_a_newer_version() -> None:
    someone = user("1.0.0")
    newer = [
        obj for obj in manifest("2.0.0", name="nats-operator") if obj["kind"] != "CustomResourceDefinition"
    ]
    someone.publish("2.0.0", newer)
    someone.by_hand(newer)
    someone.refused("1.0.0", "nats 2.0.0 is installed")


def test_an_unknown_version_is_refused_with_what_was_found_until_the_user_says_it() -> None:
    someone = user()
    for version in ("1.0.0", "2.0.0"):
        someone.publish(version, manifest(version, labels=False))
    someone.by_hand(manifest("2.0.0", labels=False))
    candidates = ("Deployment kyma-system/nats (image example.com/nats@sha256:", "running_version")
    someone.refused("1.0.0", "the version of nats that runs is not known", *candidates)
    someone.refused("2.0.0", *candidates)
    someone.refused("1.0.0", "nats 2.0.0 is installed", running_version="2.0.0")
    assert line(someone.manage("2.0.0", running_version="2.0.0")) == "nats 2.0.0: Ready, adopted"
    # It is recorded from then on.
    with only_reads(memory(someone)):
        assert not someone.manage("2.0.0").get("failed")


def test_labels_that_do_not_agree_are_refused() -> None:
    someone = user("1.0.0", "2.0.0")
    someone.by_hand(manifest("1.0.0"))
    someone.by_hand(manifest("2.0.0")[:1])
    someone.refused(
        "2.0.0", "do not agree", "Deployment kyma-system/nats (label 1.0.0", "natss.example.com (label 2.0.0)"
    )


def test_the_same_version_is_adopted_and_namespaces_and_accounts_alone_are_no_module() -> None:
    someone = user("1.0.0", "2.0.0")
    someone.by_hand([_shared("ServiceAccount") | {"metadata": {"name": "nats", "namespace": NAMESPACE}}])
    assert someone.manage("1.0.0", check_mode=True)["summary"] == ["nats 1.0.0: Ready, would be installed"]
    someone.by_hand(manifest("1.0.0"))
    before = someone.objects()
    result = someone.manage("1.0.0")
    assert (result["changed"], line(result)) == (False, "nats 1.0.0: Ready, adopted")
    assert someone.objects() == before
    with only_reads(memory(someone)):
        assert not someone.manage("1.0.0").get("failed")
    assert line(someone.manage("2.0.0")) == "nats 2.0.0: Ready, upgraded from 1.0.0"
    assert not someone.manage("2.0.0", state="absent").get("failed")
    assert someone.cluster.get(*OPERATOR) is None


def _marked(how: str) -> list[Object]:
    objects = manifest("1.0.0")
    if how == "label of the definition":
        objects[0]["metadata"]["labels"][KLM_LABEL] = "kyma"
    if how == "label of the settings":
        objects[2]["metadata"]["labels"][KLM_LABEL] = "kyma"
    return objects


@pytest.mark.parametrize("manager", [None, MANAGER])
@pytest.mark.parametrize("how", ["label of the definition", "label of the settings"])
def test_a_module_of_kymas_lifecycle_manager_is_refused_until_a_takeover(
    how: str, manager: dict[str, str] | None
) -> None:
    someone = user("1.0.0", "2.0.0", manager=manager)
    someone.by_hand(_marked(how), KLM)
    before = someone.objects()
    for params in ({}, {"check_mode": True}, {"state": "absent"}):
        left = someone.manage("2.0.0", **params)
        assert "is managed by Kyma's lifecycle manager" in left["msg"]
        assert not left["changed"]
    assert someone.records == {}
    someone.delete()
    assert someone.objects() == before

    assert line(someone.manage("2.0.0", takeover=True)) == "nats 2.0.0: Ready, upgraded from 1.0.0"
    assert someone.records["nats"].is_taken_over
    assert someone.image == "200"
    with only_reads(memory(someone)):
        assert not someone.manage("2.0.0").get("failed")
    assert not someone.manage("2.0.0", state="unmanaged").get("failed")
    assert not someone.records["nats"].is_taken_over
    assert "is managed by Kyma's lifecycle manager" in str(someone.manage("2.0.0")["summary"])


def test_a_record_that_another_tool_has_written_takes_nothing_over() -> None:
    someone = user("1.0.0", "2.0.0")
    someone.manage("1.0.0")
    someone.by_hand(_marked("label of the definition")[:1], KLM)
    record = ("lifecycle.kyma-project.io/v1", "KymaModule", "nats", None)
    forger = someone.cluster.with_field_manager("kubectl-edit")
    forger.patch(*record, {"spec": {"takenOver": True}})
    forger.patch(*record, {"status": {"version": "0.9.0"}}, subresource="status")
    before = someone.objects()
    for params in ({}, {"state": "absent"}):
        assert "is managed by Kyma's lifecycle manager" in str(someone.manage("2.0.0", **params)["summary"])
    someone.delete()
    assert someone.objects() == before


@pytest.mark.parametrize("manager", [None, MANAGER])
@pytest.mark.parametrize("labels", [True, False])
def test_an_unmanaged_module_never_goes_down_while_one_of_its_definitions_lives(
    labels: bool, manager: dict[str, str] | None
) -> None:
    someone = user()
    for version in ("1.0.0", "2.1.0", "2.2.0"):
        someone.publish(version, manifest(version, labels=labels), manager=manager)
    someone.manage("2.1.0")
    someone.manage("2.1.0", state="unmanaged")
    someone.cluster.delete(*OPERATOR)
    someone.refused("1.0.0", "nats 2.1.0 is installed", "1.0.0 is older")
    if labels:
        someone.by_hand(manifest("2.2.0")[:1])
        someone.refused("2.1.0", "nats 2.2.0 is installed")
    assert not someone.manage("2.2.0").get("failed")
    someone.manage("2.2.0", state="unmanaged")
    someone.cluster.delete(*OPERATOR)
    someone.cluster.delete(*CRD)
    assert line(someone.manage("1.0.0")) == "nats 1.0.0: Ready, installed"


@pytest.mark.parametrize("manager", [None, MANAGER])
def test_a_module_that_waits_for_its_window_knows_the_operator_that_was_put_back(
    manager: dict[str, str] | None,
) -> None:
    someone = user()
    someone.publish("1.0.0", manifest("1.0.0", labels=False), manager=manager)
    someone.publish("2.0.0", manifest("2.0.0", labels=False), manager=manager, requiresDowntime=True)
    someone.manage("1.0.0")
    waits = "2.0.0 requires downtime, and waits"
    assert waits in str(someone.manage("2.0.0", maintenance_policy=NEVER_NOW)["summary"])
    someone.cluster.delete(*OPERATOR)
    assert waits in str(someone.manage("2.0.0", maintenance_policy=NEVER_NOW)["summary"])
    live = someone.cluster.get(*OPERATOR)
    known = someone.records["nats"].manager
    assert live
    assert known
    assert (known.uid, someone.image) == (live["metadata"]["uid"], "100")
    with only_reads(memory(someone)):
        assert waits in str(someone.manage("2.0.0", maintenance_policy=NEVER_NOW)["summary"])
    assert line(someone.manage("2.0.0")) == "nats 2.0.0: Ready, upgraded from 1.0.0"
    assert someone.image == "200"


def test_an_operator_that_others_put_back_is_known_once_the_user_has_said_its_version() -> None:
    someone = user()
    someone.publish("1.0.0", manifest("1.0.0", labels=False))
    someone.publish("2.0.0", manifest("2.0.0", labels=False), requiresDowntime=True)
    someone.manage("1.0.0")
    someone.cluster.delete(*OPERATOR)
    someone.by_hand(manifest("1.0.0", labels=False)[-1:])
    terms: dict[str, Any] = {"maintenance_policy": NEVER_NOW}
    someone.refused("2.0.0", "the version of nats that runs is not known", **terms)
    assert not someone.manage("2.0.0", running_version="1.0.0", **terms).get("failed")
    assert not someone.manage("2.0.0", **terms).get("failed")
    assert line(someone.manage("2.0.0")) == "nats 2.0.0: Ready, upgraded from 1.0.0"


def test_a_version_that_was_not_healthy_in_time_is_known_without_labels() -> None:
    someone = user()
    broken = manifest("1.0.0", labels=False)
    broken[-1]["spec"]["template"]["spec"]["containers"][0]["image"] = "broken"
    someone.publish("1.0.0", broken)
    someone.publish("1.0.1", manifest("1.0.1", labels=False))
    assert "not known" not in someone.manage("1.0.0")["msg"]
    assert "not known" not in someone.manage("1.0.0")["msg"]
    assert not someone.manage("1.0.1").get("failed")
    assert someone.image == "101"


def several_containers(version: str, image: str = "") -> list[Object]:
    """A manifest whose operator has two containers, of which nothing says which one is the manager's."""
    objects = manifest(version, labels=False)
    containers = objects[-1]["spec"]["template"]["spec"]["containers"]
    containers[0]["image"] = image or containers[0]["image"]
    containers.append({"name": "proxy", "image": "example.com/proxy@sha256:1"})
    return objects


@pytest.mark.parametrize("manager", [None, MANAGER])
def test_an_operator_with_several_containers_is_known_by_all_of_their_images(
    manager: dict[str, str] | None,
) -> None:
    someone = user()
    someone.publish("1.0.0", several_containers("1.0.0", "broken"), manager=manager)
    someone.publish("1.0.1", several_containers("1.0.1"), manager=manager)
    someone.publish("2.0.0", several_containers("2.0.0"), manager=manager)
    for _run in range(2):
        assert "not known" not in someone.manage("1.0.0")["msg"]
    assert line(someone.manage("1.0.1")) == "nats 1.0.1: Ready, upgraded from 1.0.0"
    # A newer one that somebody has applied over it is not put back.
    someone.by_hand(several_containers("2.0.0")[-1:])
    someone.refused("1.0.1", "the version of nats that runs is not known")
    someone.refused("1.0.1", "nats 2.0.0 is installed", running_version="2.0.0")


@pytest.mark.parametrize("manager", [None, MANAGER])
def test_other_workloads_of_a_module_do_not_bring_it_down_once_its_operator_is_deleted(
    manager: dict[str, str] | None,
) -> None:
    someone = user()
    for version in ("1.0.0", "2.1.0"):
        agent = deployment("z-agent", "example.com/agent@sha256:1")
        agent["metadata"]["labels"] = {VERSION: "1.0.0"}
        someone.publish(version, manifest(version, labels=False, extra=[agent]), manager=manager)
    someone.manage("2.1.0")
    someone.manage("2.1.0", state="unmanaged")
    someone.cluster.delete(*OPERATOR)
    someone.refused("1.0.0", "nats 2.1.0 is installed")
    assert not someone.manage("2.1.0").get("failed")


def test_an_operator_is_read_in_full_where_no_record_says_its_version() -> None:
    someone = user()
    for version in ("1.0.0", "2.0.0"):
        objects = manifest(version, labels=False)
        objects[-1]["spec"]["template"]["spec"]["containers"][0]["image"] = f"example.com/nats:{version}"
        someone.publish(version, objects)
    someone.manage("2.0.0")
    someone.cluster.delete("lifecycle.kyma-project.io/v1", "KymaModule", "nats")
    someone.refused("1.0.0", "nats 2.0.0 is installed")
    assert not someone.manage("2.0.0").get("failed")


@pytest.mark.parametrize("state", ["managed", "absent"])
def test_a_mark_on_an_object_that_only_the_running_version_has_counts(state: str) -> None:
    someone = user()
    marked = config_map("old")
    marked["metadata"]["labels"] = {KLM_LABEL: "kyma"}
    someone.publish("1.0.0", manifest("1.0.0", extra=[marked]), manager=MANAGER)
    someone.publish("2.0.0", manager=MANAGER)
    someone.by_hand(manifest("1.0.0", extra=[marked]))
    left = someone.manage("2.0.0", state=state)
    assert "ConfigMap kyma-system/old has its label" in str(left["summary"])
    assert not left["changed"]


@pytest.mark.parametrize("terms", [{}, {"maintenance_policy": NEVER_NOW}])
def test_a_module_that_was_never_adopted_is_not_reported_as_deleted(terms: dict[str, Any]) -> None:
    someone = user("1.0.0")
    someone.publish("3.0.0", requiresDowntime=True)
    someone.by_hand(manifest("2.0.0"))
    someone.manage("3.0.0" if terms else "1.0.0", **terms)
    before = someone.objects()
    result = someone.manage("1.0.0", state="absent")
    assert "Unmanaged, no longer managed" in line(result)
    assert someone.objects() == before
    someone.refused("1.0.0", "which objects belong to it is not recorded", state="absent")


def test_a_workload_that_an_operator_has_left_behind_is_no_module() -> None:
    someone = user("1.0.0", manager=MANAGER)
    left = deployment("registry")
    left["metadata"] |= {"namespace": NAMESPACE, "labels": {"kyma-project.io/module": "nats"}}
    someone.by_hand([left])
    for state in ("absent", "unmanaged"):
        result = someone.manage("1.0.0", state=state)
        assert (result.get("failed"), result["modules"][0]["state"]) == (None, "NotInstalled")


def test_a_version_whose_objects_are_those_of_the_one_before_is_recorded() -> None:
    someone = user()
    for version in ("1.0.0", "2.0.0"):
        someone.publish(version, manifest("1.0.0", labels=False))
    for version in ("1.0.0", "2.0.0"):
        someone.manage(version)
        assert someone.records["nats"].installed_version == version
    someone.refused("1.0.0", "nats 2.0.0 is installed")


@pytest.mark.parametrize(("labels", "name"), [(True, "nats"), (False, "nats"), (False, "nats-operator")])
def test_after_a_failure_at_any_write_the_next_run_upgrades_it(labels: bool, name: str) -> None:
    def prepared() -> User:
        one = user()
        one.publish("1.0.0", manifest("1.0.0", labels=labels))
        one.publish("2.0.0", manifest("2.0.0", labels=labels, name=name))
        one.by_hand(manifest("1.0.0", labels=labels))
        one.manage("1.0.0", running_version="1.0.0")
        return one

    undisturbed = prepared()
    before = sum(request.writes for request in memory(undisturbed).requests)
    undisturbed.manage("2.0.0")
    count = sum(request.writes for request in memory(undisturbed).requests) - before
    assert count > 10
    for number in sample(range(1, count + 1), 5):
        someone = prepared()
        broken = Unreachable("the connection broke")
        memory(someone).fail_at(number, broken, before=bool(number % 2), writes_only=True)
        someone.manage("2.0.0")
        lease = ("coordination.k8s.io/v1", "Lease", "deployment", "kyma-lifecycle")
        if (someone.cluster.get(*lease) or {"spec": {}})["spec"].get("holderIdentity"):
            someone.cluster.delete(*lease)
        result = someone.manage("2.0.0")
        assert not result.get("failed"), (number, result.get("msg"))
        record = someone.records["nats"]
        operator = someone.cluster.get("apps/v1", "Deployment", name, NAMESPACE)
        assert (record.installed_version, record.deploying.version, bool(operator)) == ("2.0.0", "", True), (
            number
        )


def line(result: dict[str, Any]) -> str:
    """What a run says of the module."""
    [text] = [text for text in result["summary"] if text.startswith("nats ")]
    return str(text)


@pytest.mark.parametrize("named", [True, False])
def test_real_ones_of_docker_registry(named: bool) -> None:
    folder = real_modules() / "docker-registry"
    someone = user()
    for version in ("0.11.0", "0.12.0", "0.13.0"):
        template = yaml.safe_load((folder / f"{version}.yaml").read_text())
        objects = list(yaml.safe_load_all((folder / "manifests" / f"{version}.yaml").read_text()))
        manager = template["spec"]["manager"] if named else None
        someone.publish(version, objects, manager=manager, moduleName="docker-registry")
        if version == "0.12.0":
            someone.by_hand(objects)
    terms = {"name": "docker-registry"}
    someone.refused("0.11.0", "docker-registry 0.12.0 is installed", "0.11.0 is older", **terms)
    assert "adopted" in str(someone.manage("0.12.0", **terms)["summary"])
    assert "upgraded from 0.12.0" in str(someone.manage("0.13.0", **terms)["summary"])
    operators = someone.cluster.list("apps/v1", "Deployment").items
    assert [obj["metadata"]["namespace"] for obj in operators] == ["docker-registry"]
    someone.manage("0.13.0", state="unmanaged", **terms)
    someone.cluster.delete("apps/v1", "Deployment", "dockerregistry-operator", "docker-registry")
    someone.refused("0.12.0", "docker-registry 0.13.0 is installed", **terms)
