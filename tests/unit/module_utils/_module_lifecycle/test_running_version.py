# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The version that runs is the one of the managers that live, in their own words or by our record."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object, Ref, ref_of
from ansible_collections.kyma.lifecycle.plugins.module_utils._module_lifecycle.catalog.catalog import (
    SourcedDocument,
    read_catalog,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._module_lifecycle.catalog.catalog_module import (
    CatalogModule,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._module_lifecycle.catalog.module_version import (
    Manager,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._module_lifecycle.running_version import (
    RecordedManager,
    RunningVersion,
    image_tag,
    manager_candidates,
    manager_image,
    running_version,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.yaml_documents import read_documents

from tests.support.real_modules import real_modules

VERSION = "app.kubernetes.io/version"


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
                    "annotations": {"kubectl.kubernetes.io/default-container": default} if default else {},
                },
                "spec": {"containers": containers or [{"name": "manager", "image": image}]},
            }
        },
    }


def running(*managers: Object, recorded: RecordedManager | None = None) -> RunningVersion:
    """The version of managers that are all named by templates."""
    return running_version(managers, [ref_of(one) for one in managers], recorded)


def left(obj: Object, version: str, image: str = "") -> RecordedManager:
    return RecordedManager(version, ref_of(obj), obj["metadata"]["uid"], image)


SIDECAR = {"name": "proxy", "image": "proxy:9.9.9"}
OPERATOR = {"name": "op", "image": "op:1.4.0"}
MANAGER = {"name": "manager", "image": "op:1.5.0"}


@pytest.mark.parametrize(
    ("obj", "version"),
    [
        (manager("r/op:1.0.0", label="2.0.0", template_label="3.0.0"), "2.0.0"),
        (manager("r/op:1.0.0", template_label="v3.0.0"), "3.0.0"),
        (manager("r/op:1.0.0"), "1.0.0"),
        (manager("r/op:1.53.0-experimental"), "1.53.0-experimental"),
        (manager("r:5000/op:v1.0.0@sha256:ab"), "1.0.0"),
        (manager("r/op:1.0.0", label="main"), "1.0.0"),
        (manager("r/op:PR-58", label="main", template_label="1.0.1"), "1.0.1"),
        (manager("r/op:1.0.0", kind="StatefulSet"), "1.0.0"),
        (manager(containers=[SIDECAR, MANAGER, OPERATOR]), "1.5.0"),
        (manager(containers=[SIDECAR, MANAGER, OPERATOR], default="op"), "1.4.0"),
        (manager(containers=[SIDECAR, MANAGER], default="gone"), "1.5.0"),
        (manager(containers=[OPERATOR]), "1.4.0"),
    ],
)
def test_the_label_counts_and_else_the_tag_of_the_manager_s_container(obj: Object, version: str) -> None:
    assert running(obj) == RunningVersion(version, ref_of(obj))


@pytest.mark.parametrize(
    "obj",
    [
        manager("r/op:PR-58", label="main"),
        manager("r/op"),
        manager("r:5000/op"),
        manager("r/op@sha256:ab"),
        manager("r/op:1.0"),
        manager(containers=[SIDECAR, OPERATOR]),
        manager(containers=["odd"]),
        {"apiVersion": "x.io/v1", "kind": "Thing", "metadata": {"name": "t"}},
    ],
)
def test_what_says_no_version_runs_in_an_unknown_one(obj: Object) -> None:
    found = running(obj)
    assert found.is_unknown
    assert found.manager == ref_of(obj)
    assert found.reason.startswith(
        f"{ref_of(obj)} runs in an unknown version: neither the label {VERSION} nor"
    )


def test_the_reason_quotes_what_it_has_found() -> None:
    obj = manager("r/op:PR-58", label="main")
    reason = (
        "Deployment kyma-system/operator runs in an unknown version: neither the label"
        " app.kubernetes.io/version nor the tag of its image is a semantic version, but 'main' and 'PR-58'"
    )
    assert running(obj).reason == reason
    other = RecordedManager("1.2.0", ref_of(obj), "another")
    assert running(obj, recorded=other).reason == (
        f"{reason}; and it is not the manager that was left in version 1.2.0"
    )


def test_the_record_counts_if_the_manager_is_still_the_one_that_was_left() -> None:
    obj = manager("r/op:PR-58", label="main")
    found = RunningVersion("1.2.0", ref_of(obj))
    assert running(obj, recorded=left(obj, "1.2.0")) == found
    assert running(obj, recorded=left(obj, "1.2.0", image="r/op:PR-58")) == found
    assert running(obj, recorded=left(obj, "1.2.0", image="r/op:PR-57")).is_unknown
    assert running(obj, recorded=left(manager(namespace="other"), "1.2.0")).is_unknown


def test_what_a_manager_says_counts_more_than_the_record() -> None:
    obj = manager("r/op:2.0.0")
    assert running(obj, recorded=left(obj, "1.0.0")).version == "2.0.0"


def test_of_several_managers_the_highest_version_counts() -> None:
    older = manager("r/op:0.9.0", label="0.9.0")
    newer = manager("r/op:0.10.0", namespace="docker-registry")
    for managers in ((older, newer), (newer, older)):
        assert running(*managers) == RunningVersion("0.10.0", ref_of(newer))


def test_one_manager_in_an_unknown_version_makes_all_unknown() -> None:
    known, unknown = manager("r/op:0.10.0", namespace="docker-registry"), manager("r/op:main")
    found = running(known, unknown)
    assert (found.version, found.manager) == ("", ref_of(unknown))
    assert running(known, unknown, recorded=left(unknown, "0.9.0")).version == "0.10.0"


def test_nothing_runs() -> None:
    found = running()
    assert (found.version, found.manager, found.is_unknown) == ("", None, False)
    assert found.reason == "nothing of it runs"


def test_what_is_found_by_its_label_counts_only_with_a_manager_s_container() -> None:
    # docker-registry's operator gives the registry that it makes the label of the module.
    registry = manager(name="registry", containers=[{"name": "server", "image": "registry:3.0.0"}])
    by_hand = manager("r/op:2.0.0", name="other-operator")
    assert running_version([registry], []).manager is None
    assert running_version([registry, by_hand], []) == RunningVersion("2.0.0", ref_of(by_hand))
    annotated = manager(name="a", containers=[OPERATOR, SIDECAR], default="op")
    assert running_version([annotated], []).version == "1.4.0"
    assert running_version([manager("r/op:main")], []).is_unknown


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
    module = docker_registry()
    namespaces = ("docker-registry", "kyma-system")
    by_templates = tuple(
        Manager("apps/v1", "Deployment", namespace, "dockerregistry-operator") for namespace in namespaces
    )
    assert manager_candidates(module) == by_templates
    assert manager_candidates(module, by_templates[1]) == by_templates[::-1]
    other = Manager("apps/v1", "StatefulSet", "kyma-system", "older")
    assert manager_candidates(module, other) == (other, *by_templates)
    assert manager_candidates(CatalogModule("new")) == ()


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
    assert running(*deployments).version == expected
    assert manager_image(deployments[0]).startswith("europe-docker.pkg.dev/kyma-project/")


def docker_registry() -> CatalogModule:
    files = sorted((real_modules() / "docker-registry").glob("*.yaml"))
    documents = [(file, one.value) for file in files for one in read_documents(file.read_text(), str(file))]
    return read_catalog(SourcedDocument(str(file), one) for file, one in documents).modules["docker-registry"]


def test_both_managers_of_docker_registry_at_once() -> None:
    managers = []
    for version in ("0.12.0", "0.13.0"):
        path = real_modules() / "docker-registry" / "manifests" / f"{version}.yaml"
        documents = read_documents(path.read_text(), str(path))
        managers += [one.value for one in documents if one.value["kind"] == "Deployment"]
    named = [candidate.ref for candidate in manager_candidates(docker_registry())]
    assert running_version(managers, named) == RunningVersion(
        "0.13.0", Ref("apps", "Deployment", "docker-registry", "dockerregistry-operator")
    )
