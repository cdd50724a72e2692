# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who manages a module and which version of it runs, by what was found: one table."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    FIELD_MANAGER,
    Object,
    Ref,
    ref_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._klm.klm_marks import (
    KLM_APPLIER,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._module_catalog.catalog import (
    Catalog,
    SourcedDocument,
    read_catalog,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._module_lifecycle.observed_modules import (
    manager_candidates,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._module_lifecycle.running_version import (
    DEFAULT_CONTAINER,
    LiveManager,
    RunningVersion,
    VersionEvidence,
    image_tag,
    main_workload,
    manager_image,
    running_version,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory import Inventory
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory_entry import (
    InventoryEntry,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.yaml_documents import read_documents
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.modules import (
    Deploying,
    KnownObject,
    ModuleRecord,
)

from tests.support.real_modules import real_modules

VERSION, KLM = "app.kubernetes.io/version", "operator.kyma-project.io/managed-by"


def manager(
    image: str = "",
    label: str = "",
    template_label: str = "",
    name: str = "operator",
    namespace: str = "kyma-system",
    containers: list[Any] | None = None,
    default: str = "",
    kind: str = "Deployment",
) -> Object:
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": f"uid-of-{namespace}",
            "labels": {VERSION: label} if label else {},
        },
        "spec": {
            "template": {
                "metadata": {
                    "labels": {VERSION: template_label} if template_label else None,
                    "annotations": {DEFAULT_CONTAINER: default} if default else {},
                },
                "spec": {"containers": containers or [{"name": "manager", "image": image}]},
            }
        },
    }


CATALOG = ("0.0.1-6cd5086", "1.0.0", "1.4.0", "1.53.0-experimental", "2.0.0")
SIDECAR = {"name": "proxy", "image": "proxy:9.9.9"}
OPERATOR = {"name": "op", "image": "op:1.4.0"}
MANAGER = {"name": "manager", "image": "op:2.0.0"}
DIGEST = f"r/op@sha256:{'ab' * 32}"


def definition(label: str = "", name: str = "widgets.x.io", **metadata: Any) -> Object:
    labels = {VERSION: label} if label else {}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": name, "labels": labels, **metadata},
    }


def other(kind: str, name: str = "any", label: str = "9.9.9", **metadata: Any) -> Object:
    return {
        "apiVersion": "v1",
        "kind": kind,
        "metadata": {"name": name, "labels": {VERSION: label}, **metadata},
    }


def written_by(writer: str, obj: Object, *labels: str) -> Object:
    fields = {"f:metadata": {"f:labels": {f"f:{label}": {} for label in labels}}}
    return {
        **obj,
        "metadata": {**obj["metadata"], "managedFields": [{"manager": writer, "fieldsV1": fields}]},
    }


RecordTerms = Mapping[str, Any]
"""What is known of a record, as arguments of the evidence."""


def recorded(
    version: str = "",
    manager: Ref | None = None,
    uid: str = "",
    image: str = "",
    deploying: str = "",
    deploying_image: str = "",
    *,
    is_managed: bool = False,
    is_as_left: bool = False,
    is_taken_over: bool = False,
) -> RecordTerms:
    """A record of ours."""
    record = ModuleRecord(
        "nats",
        installed_version=version,
        manager=KnownObject("apps/v1", manager, uid) if manager else None,
        manager_image=image,
        deploying=Deploying(deploying, deploying_image),
        is_taken_over=is_taken_over,
    )
    return {"record": record, "is_managed": is_managed, "is_as_left": is_as_left}


def running(
    *objects: Object, record: RecordTerms = MappingProxyType({}), as_left: bool = False, **more: Any
) -> RunningVersion:
    """The version of objects; workloads among them are named by a template or a manifest."""
    workloads = [obj for obj in objects if obj["kind"] in ("Deployment", "StatefulSet", "Thing")]
    return running_version(
        VersionEvidence(
            managers=[LiveManager(one, as_left) for one in workloads],
            objects=[obj for obj in objects if obj not in workloads],
            catalog=CATALOG,
            **record,
            **more,
        )
    )


def left(obj: Object, version: str, **more: Any) -> RecordTerms:
    """Our record of a manager in a version."""
    terms = {"uid": obj["metadata"].get("uid", ""), "image": manager_image(obj), "is_managed": True, **more}
    return recorded(version, ref_of(obj), **terms)


@pytest.mark.parametrize(
    ("objects", "version"),
    [
        # Labels of workloads and definitions.
        ([manager("r/op:1.0.0", label="2.0.0", template_label="3.0.0")], "2.0.0"),
        ([manager("r/op:1.0.0", template_label="v3.0.0")], "3.0.0"),
        ([manager(DIGEST, label="7.0.0")], "7.0.0"),
        ([manager("r/op:PR-58", label="main", template_label="1.0.1")], "1.0.1"),
        ([manager("r/op:1.0.0", label="2.0.0"), definition("2.0.0")], "2.0.0"),
        ([manager("r/op:1.0.0", label="2.0.0"), definition("v2.0.0")], "2.0.0"),
        ([manager(DIGEST), definition("2.0.0")], "2.0.0"),
        ([manager(DIGEST), definition("2.0.0"), definition(name="b.x.io")], "2.0.0"),
        ([manager("r/op:2.0.0", label="main"), definition("1.0.0")], "1.0.0"),
        ([manager(label="1.0.0"), manager(namespace="b", label="1.0.0")], "1.0.0"),
        ([manager(label="1.0.0"), other("ConfigMap")], "1.0.0"),
        ([manager(label="1.0.0"), other("Namespace"), other("ServiceAccount")], "1.0.0"),
        ([manager(label="1.0.0"), definition("2.0.0", deletionTimestamp="2026-11-24T10:00:00Z")], "1.0.0"),
        ([manager(label="0.0.1-6cd5086")], "0.0.1-6cd5086"),
        ([manager(label="1.53.0-experimental")], "1.53.0-experimental"),
        # Tags that are versions of the catalog.
        ([manager("r/op:1.0.0")], "1.0.0"),
        ([manager("r/op:1.0.0", label="main"), definition()], "1.0.0"),
        ([manager("r/op:1.53.0-experimental")], "1.53.0-experimental"),
        ([manager("r/op:0.0.1-6cd5086")], "0.0.1-6cd5086"),
        ([manager("r:5000/op:v1.0.0@sha256:ab")], "1.0.0"),
        ([manager("r/op:1.0.0", kind="StatefulSet")], "1.0.0"),
        ([manager(containers=[SIDECAR, MANAGER, OPERATOR])], "2.0.0"),
        ([manager(containers=[SIDECAR, MANAGER, OPERATOR], default="op")], "1.4.0"),
        ([manager(containers=[SIDECAR, MANAGER], default="gone")], "2.0.0"),
        ([manager(containers=[OPERATOR])], "1.4.0"),
        ([manager(containers=[SIDECAR, OPERATOR])], "1.4.0"),
        ([manager("r/op:1.0.0"), manager("r/agent:PR-1", namespace="b")], "1.0.0"),
        # Without a workload.
        ([definition(), definition(name="b.x.io")], ""),
        ([definition(), definition("2.0.0", "b.x.io")], "2.0.0"),
        ([definition("2.0.0")], "2.0.0"),
        ([], ""),
        ([other("Namespace"), other("ServiceAccount"), other("ConfigMap")], ""),
        ([definition("2.0.0", deletionTimestamp="2026-11-24T10:00:00Z")], ""),
    ],
)
def test_without_a_record_labels_count_if_they_agree_and_else_tags_of_the_catalog(
    objects: list[Object], version: str
) -> None:
    result = running(*objects)
    assert (result.version, result.reason) == (version, "")
    workloads = [ref_of(obj) for obj in objects if obj["kind"] in ("Deployment", "StatefulSet")]
    assert result.manager == (workloads[0] if workloads else None)


UNKNOWN = [
    ([manager("r/op:PR-58", label="main")], ["label main", "r/op:PR-58"]),
    ([manager("r/op")], ["image r/op"]),
    ([manager("r:5000/op")], ["r:5000/op"]),
    ([manager(DIGEST)], [DIGEST]),
    ([manager("r/op:1.0")], ["r/op:1.0"]),
    ([manager("r/op:3.0.0")], ["r/op:3.0.0", "no image tag is a version of the catalog"]),
    ([manager(containers=[SIDECAR, {**MANAGER, "image": DIGEST}, OPERATOR])], [DIGEST]),
    (
        [manager(containers=[SIDECAR, OPERATOR, {"name": "b", "image": "b:1.0.0"}])],
        ["several image tags are versions of the catalog", "b:1.0.0", "op:1.4.0"],
    ),
    ([manager(containers=["odd"])], ["Deployment kyma-system/operator"]),
    ([{"apiVersion": "x.io/v1", "kind": "Thing", "metadata": {"name": "t"}}], ["Thing t"]),
    (
        [manager(label="2.0.0"), definition("1.0.0")],
        ["do not agree", "operator (label 2.0.0", "widgets.x.io (label 1.0.0)"],
    ),
    ([definition("2.0.0"), definition("1.0.0", "b.x.io")], ["do not agree", "b.x.io (label 1.0.0)"]),
    ([manager(label="0.9.0"), manager(label="0.10.0", namespace="b")], ["b/operator (label 0.10.0"]),
    ([definition("main")], ["label main"]),
    (
        [manager("r/op:1.0.0"), manager("r/op:2.0.0", namespace="b")],
        ["several image tags", "r/op:1.0.0", "b/operator (image r/op:2.0.0)"],
    ),
]


@pytest.mark.parametrize(("objects", "candidates"), UNKNOWN)
def test_an_unknown_version_is_explained_with_its_candidates_until_the_user_says_it(
    objects: list[Object], candidates: list[str]
) -> None:
    unknown = running(*objects)
    assert (unknown.version, bool(unknown.reason)) == ("", True)
    assert all(text in unknown.reason for text in candidates), unknown.reason
    said = running(*objects, said="v1.2.3")
    assert (said.version, said.manager, said.reason) == ("1.2.3", unknown.manager, "")


PLAIN = manager(DIGEST)
LABELLED = manager("r/op:2.0.0", label="2.0.0")
SEVERAL = manager(containers=[SIDECAR, OPERATOR])
OURS = written_by(FIELD_MANAGER, manager("r/op:main-2"))
AGENT = manager(label="1.0.0", name="agent")
GONE = recorded("2.1.0", ref_of(PLAIN), "gone", DIGEST)
MANAGED = {**GONE, "is_managed": True}
CUT_OFF = recorded("1.0.0", ref_of(PLAIN), "old", "r/op:main-1", "2.0.0", "r/op:main-2", is_managed=True)


@pytest.mark.parametrize(
    ("objects", "record", "terms", "version"),
    [
        # The manager with the uid and the image of the record.
        ([PLAIN], left(PLAIN, "1.2.0"), {}, "1.2.0"),
        ([PLAIN], left(PLAIN, "1.2.0", is_managed=False), {}, "1.2.0"),
        ([LABELLED, definition("2.0.0")], left(LABELLED, "1.2.0"), {}, "1.2.0"),
        ([PLAIN, definition("2.0.0")], left(PLAIN, "1.2.0"), {}, "1.2.0"),
        ([SEVERAL], left(SEVERAL, "1.2.0"), {}, "1.2.0"),
        ([PLAIN], left(PLAIN, "1.2.0", image="r/op:unread"), {"as_left": True}, "1.2.0"),
        # Another uid or image.
        ([PLAIN], left(PLAIN, "1.2.0", uid="another"), {}, None),
        ([PLAIN], left(PLAIN, "1.2.0", image="r/op:other"), {}, None),
        ([PLAIN], left(manager(namespace="b"), "1.2.0"), {}, None),
        ([LABELLED], left(LABELLED, "1.2.0", uid="another"), {}, "2.0.0"),
        ([LABELLED], left(LABELLED, "1.2.0", image=DIGEST), {}, "2.0.0"),
        ([manager("r/op:1.0.0")], left(PLAIN, "1.2.0"), {}, "1.0.0"),
        ([SEVERAL], left(SEVERAL, "1.2.0", image="proxy:9.9.9, op:1.3.0"), {}, "1.4.0"),
        # A record that others have written has neither version nor manager.
        ([PLAIN], recorded(is_managed=True), {}, None),
        ([LABELLED], recorded(is_managed=True), {}, "2.0.0"),
        # A record without a manager, of a module without a named one.
        ([PLAIN], recorded("1.2.0", is_managed=True, is_as_left=True), {}, "1.2.0"),
        ([PLAIN], recorded("1.2.0", is_managed=True), {}, None),
        ([PLAIN], recorded("1.2.0", is_as_left=True), {}, None),
        ([other("ConfigMap")], recorded("1.2.0", is_managed=True, is_as_left=True), {}, "1.2.0"),
        # The manager is gone: never down while a definition lives.
        ([definition()], GONE, {}, "2.1.0"),
        ([definition("1.0.0")], GONE, {}, "2.1.0"),
        ([definition("2.2.0")], GONE, {}, "2.2.0"),
        ([definition("2.1.0-rc1")], GONE, {}, "2.1.0"),
        ([definition("2.2.0"), definition("10.0.0", "b.x.io")], GONE, {}, "10.0.0"),
        ([definition("2.2.0")], MANAGED, {}, "2.2.0"),
        ([definition()], MANAGED, {}, "2.1.0"),
        ([], MANAGED, {}, "2.1.0"),
        ([AGENT, definition()], GONE, {}, "2.1.0"),
        ([manager(label="2.2.0", name="agent"), definition("2.2.0")], GONE, {}, "2.2.0"),
        ([AGENT], GONE, {}, "1.0.0"),
        ([], GONE, {}, ""),
        ([other("ConfigMap"), other("Namespace")], GONE, {}, ""),
        ([definition("2.2.0", deletionTimestamp="2026-11-24T10:00:00Z")], GONE, {}, ""),
        # A deployment that was cut off.
        ([OURS], CUT_OFF, {}, "2.0.0"),
        ([manager("r/op:main-2")], CUT_OFF, {}, None),
        ([manager(DIGEST, label="1.0.0"), definition("2.0.0")], CUT_OFF, {}, "2.0.0"),
        ([manager(DIGEST, label="3.0.0"), definition("2.0.0")], CUT_OFF, {}, None),
        ([definition("2.0.0")], CUT_OFF, {"target": "2.0.0"}, "1.0.0"),
        ([definition("2.0.0")], CUT_OFF, {"target": "1.4.0"}, "2.0.0"),
        ([definition()], recorded(deploying="2.0.0", is_managed=True), {"target": "2.0.0"}, ""),
        ([definition()], recorded(deploying="2.0.0", is_managed=True), {"target": "1.0.0"}, "2.0.0"),
        # Others have taken the version out of the record.
        ([definition()], recorded(is_managed=True), {}, None),
        ([definition("2.0.0")], recorded(is_managed=True), {}, "2.0.0"),
    ],
)
def test_our_record_counts_while_its_manager_is_the_same_and_its_version_while_a_definition_lives(
    objects: list[Object], record: RecordTerms, terms: dict[str, Any], version: str | None
) -> None:
    result = running(*objects, record=record, **terms)
    assert (result.version, bool(result.reason)) == (version or "", version is None), result.reason


@pytest.mark.parametrize(
    ("objects", "marked"),
    [
        ([manager(), definition(labels={KLM: "kyma"})], "CustomResourceDefinition widgets.x.io"),
        (
            [written_by("kubectl", definition(labels={KLM: "kyma"}), KLM)],
            "CustomResourceDefinition widgets.x.io",
        ),
        ([other("ConfigMap", labels={KLM: "kyma"})], "ConfigMap any"),
        ([other("ClusterRole", labels={KLM: "kyma"})], "ClusterRole any"),
        # Proof of nothing.
        ([other(kind, labels={KLM: "kyma"}) for kind in ("Namespace", "ServiceAccount")], ""),
        # It stays on what KLM has let go.
        ([written_by(KLM_APPLIER, manager()), written_by(KLM_APPLIER, definition())], ""),
        ([manager(), definition(labels={KLM: "someone"}), other("ConfigMap")], ""),
        # A manifest of ours has the label.
        ([written_by(FIELD_MANAGER, definition(labels={KLM: "kyma"}), KLM)], ""),
    ],
)
def test_the_mark_of_kymas_lifecycle_manager_on_any_object_counts_unless_it_was_taken_over(
    objects: list[Object], marked: str
) -> None:
    result = running(*objects)
    assert str(result.klm_object or "") == marked
    assert running(*objects, record=recorded(is_taken_over=True)).klm_object is None


def test_a_labelled_workload_counts_only_with_a_manager_container() -> None:
    # docker-registry's operator gives the registry that it makes the label of the module.
    registry = manager(name="registry", containers=[{"name": "server", "image": "registry:3.0.0"}])
    by_hand = manager("r/op:2.0.0", name="other-operator")
    annotated = manager(name="a", containers=[OPERATOR, SIDECAR], default="op")

    def version_of(*objects: Object) -> RunningVersion:
        return running_version(
            VersionEvidence([LiveManager(one, is_named=False) for one in objects], catalog=CATALOG)
        )

    assert version_of(registry) == RunningVersion()
    assert version_of(registry, by_hand) == RunningVersion("2.0.0", ref_of(by_hand))
    assert version_of(annotated).version == "1.4.0"
    assert version_of(manager("r/op:main")).reason


def test_the_main_workload_of_a_manifest_has_a_manager_s_container_if_any_has_it() -> None:
    agent, operator = manager(name="agent", containers=[OPERATOR]), manager(name="operator")
    for objects in ([agent, operator], [operator, agent], [definition(), operator]):
        assert main_workload(objects) is operator
    assert main_workload([manager(name="b", containers=[SIDECAR]), agent]) is agent
    assert main_workload([definition(), other("ConfigMap")]) is None


@pytest.mark.parametrize(
    ("image", "tag"),
    [
        ("op", ""),
        ("op:1", "1"),
        ("r/op:1", "1"),
        ("r:5000/op", ""),
        ("r:5000/a/op:1@sha256:ab", "1"),
        ("op@sha256:ab", ""),
        ("", ""),
    ],
)
def test_the_tag_of_an_image(image: str, tag: str) -> None:
    assert image_tag(image) == tag


def test_managers_are_looked_for_where_the_record_and_any_template_say() -> None:
    catalog = docker_registry()
    places = [
        Ref("apps", "Deployment", one, "dockerregistry-operator")
        for one in ("kyma-system", "docker-registry")
    ]
    older = Ref("apps", "StatefulSet", "kyma-system", "older")
    agent = InventoryEntry("apps/v1", Ref("apps", "DaemonSet", "kyma-system", "agent"))
    settings = InventoryEntry("v1", Ref("", "ConfigMap", "kyma-system", "settings"))
    inventory = Inventory("docker-registry", entries=(agent, settings))
    record = ModuleRecord("docker-registry", manager=KnownObject("apps/v1", older))

    def candidates(name: str, *terms: Any) -> list[Ref]:
        return [one.ref for one in manager_candidates([catalog], name, *terms)]

    assert candidates("docker-registry", None, None) == places
    assert candidates("docker-registry", record, inventory) == [older, *places]
    assert candidates("docker-registry", None, inventory) == [agent.ref, *places]
    assert candidates("new", None, None) == []


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("docker-registry/manifests/0.11.0.yaml", "0.11.0"),
        ("docker-registry/manifests/0.14.0.yaml", "0.14.0"),
        ("manifests/btp-operator.yaml", "0.4.0"),
        ("manifests/template-operator-1.0.6.yaml", "1.0.6"),
        ("manifests/template-operator.yaml", ""),
    ],
)
def test_the_managers_of_real_manifests(path: str, expected: str) -> None:
    documents = read_documents((real_modules() / path).read_text(), path)
    deployments = [one.value for one in documents if one.value["kind"] == "Deployment"]
    assert len(deployments) == 1
    evidence = VersionEvidence(list(map(LiveManager, deployments)), catalog=("0.4.0", "1.0.6"))
    assert running_version(evidence).version == expected
    assert manager_image(deployments[0]).startswith("europe-docker.pkg.dev/kyma-project/")


def docker_registry() -> Catalog:
    files = sorted((real_modules() / "docker-registry").glob("*.yaml"))
    documents = [(file, one.value) for file in files for one in read_documents(file.read_text(), str(file))]
    return read_catalog(SourcedDocument(str(file), one) for file, one in documents)


def objects_of(version: str, *kinds: str) -> list[Object]:
    """Objects of docker-registry's real manifest."""
    path = real_modules() / "docker-registry" / "manifests" / f"{version}.yaml"
    documents = read_documents(path.read_text(), str(path))
    return [one.value for one in documents if one.value["kind"] in kinds]


def test_both_managers_of_docker_registry_at_once() -> None:
    managers = [obj for version in ("0.12.0", "0.13.0") for obj in objects_of(version, "Deployment")]
    evidence = VersionEvidence(list(map(LiveManager, managers)))
    place = "docker-registry/dockerregistry-operator"
    assert f"Deployment {place} (label 0.13.0" in running_version(evidence).reason
    # Our own upgrade has removed the old one by then, and the definition is already the new one.
    gone = Ref("apps", "Deployment", "kyma-system", "gone")
    crds = objects_of("0.13.0", "CustomResourceDefinition")
    ours = VersionEvidence([LiveManager(managers[1])], crds, **recorded("0.12.0", gone, deploying="0.13.0"))
    assert running_version(ours) == RunningVersion("0.13.0", ref_of(managers[1]))
