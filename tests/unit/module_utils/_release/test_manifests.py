# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What becomes an object, what is set aside, and what is refused."""

from __future__ import annotations

import json

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.manifests import (
    ManifestCollection,
    dump_warnings,
    objects_digest,
)


def collected(text: str, file: str = "f.yaml") -> ManifestCollection:
    collection = ManifestCollection()
    collection.add_text(text, file)
    return collection


def test_documents_and_lists_become_objects_in_their_order() -> None:
    collection = collected(
        "---\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n# none\n---\n"
        "apiVersion: v1\nkind: List\nmetadata: {resourceVersion: ''}\nitems:\n"
        "- {apiVersion: v1, kind: Secret, metadata: {name: b, namespace: ns}}\n"
        "- apiVersion: v1\n  kind: ConfigMapList\n  items:\n"
        "  - {apiVersion: v1, kind: ConfigMap, metadata: {name: c}}\n"
    )
    assert [(obj["kind"], obj["metadata"]) for obj in collection.objects] == [
        ("ConfigMap", {"name": "a"}),
        ("Secret", {"name": "b", "namespace": "ns"}),
        ("ConfigMap", {"name": "c"}),
    ]
    assert not collection.problems
    assert not collection.warnings


def test_a_kind_that_ends_in_list_is_an_object_where_it_has_a_name() -> None:
    collection = collected("apiVersion: x/v1\nkind: AllowList\nmetadata: {name: a}\nitems: [1]\n")
    assert [obj["kind"] for obj in collection.objects] == ["AllowList"]


def test_json_is_read() -> None:
    text = '{\n"apiVersion": "v1", "kind": "A", "metadata": {"name": "a"}, "t": "\\ud83d\\ude00"}'
    (obj,) = collected(text, "f.json").objects
    assert obj["t"] == "😀"
    (problem,) = collected('{\n"a": }', "f.json").problems
    assert str(problem) == "f.json:2:6: not JSON: Expecting value"
    (problem,) = collected('{"a": NaN}', "f.json").problems
    assert "not JSON: NaN is no number of JSON" in str(problem)


LIST = '{"apiVersion": "v1", "kind": "List", "items": ['
CRD_SPEC = (
    "spec: {group: x.io, scope: Namespaced, names: {kind: A, plural: as}, "
    "versions: [{name: v1, served: true}]}\n"
)


def test_a_key_twice_in_json_is_a_warning_with_its_line() -> None:
    text = r"""{"apiVersion": "v1", "kind": "A", "metadata": {"name": "a"},
        "data": {"k": "\"{k\": k", "k": "k"},
        "other": [{"k": "1"}, {"k": "2"}],
        "d\u0061ta" : {}}"""
    collection = collected(text, "f.json")
    assert collection.warnings == [
        "f.json:2: the key 'k' is there twice; the last one counts",
        "f.json:4: the key 'data' is there twice; the last one counts",
    ]
    assert collection.objects[0]["data"] == {}


def dump(kind: str = "A", status: str = "", **meta: object) -> str:
    api = "apiextensions.k8s.io/v1" if kind == "CustomResourceDefinition" else "v1"
    spec = CRD_SPEC if kind == "CustomResourceDefinition" else ""
    return f"apiVersion: {api}\nkind: {kind}\nmetadata: {json.dumps({'name': 'a', **meta})}\n{spec}{status}\n"


def test_files_with_fields_that_only_a_server_sets_are_dumps() -> None:
    collection = ManifestCollection()
    for file, text in {
        "uid": dump(uid="u"),
        "two": dump(generation=2) + "---\n" + dump(resourceVersion="5"),
        "none": dump(creationTimestamp=None, managedFields=[], generation=0),
        "empty": dump(status="status: {loadBalancer: {}, conditions: [], replicas: 0}"),
        "crd": dump("CustomResourceDefinition", "status: {acceptedNames: {kind: A}}"),
        "crd-uid": dump("CustomResourceDefinition", uid="u"),
        "status": dump(status="status: {loadBalancer: {ingress: [{ip: 1.2.3.4}]}}"),
        "scalar": dump(status="status: ready"),
    }.items():
        collection.add_text(text, file)
    assert not collection.problems
    assert list(collection.dumps) == ["uid", "two", "crd-uid", "status", "scalar"]


def test_one_warning_names_all_dumps() -> None:
    assert dump_warnings([]) == []
    assert dump_warnings(["a.yaml", "b.yaml"]) == [
        "a.yaml, b.yaml: fields that only the API server sets were left out, such as status, uid and "
        "resourceVersion. These files look like dumps of a cluster: remove such fields"
    ]
    assert dump_warnings([f"{n}.yaml" for n in range(30)])[0].startswith("0.yaml, 1.yaml, ")
    assert " and 20 more: fields" in dump_warnings([f"{n}.yaml" for n in range(30)])[0]


@pytest.mark.parametrize(
    "text",
    [
        "---\n" * 5,
        "a: 1\n---\n" * 5,
        "".join(dump(n=n) + "---\n" for n in range(4)),
        LIST
        + ", ".join('{"apiVersion": "v1", "kind": "A", "metadata": {"name": "a"}}' for _number in range(4))
        + "]}",
    ],
)
def test_documents_and_objects_have_a_limit(text: str) -> None:
    collection = ManifestCollection(most=3)
    collection.add_text(text, "f.yaml")
    (problem,) = collection.problems
    assert "more than 3 documents and objects. If that is right, raise the limit objects of" in str(problem)


def hook(value: str) -> str:
    return f"apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: j\n  annotations:\n    {value}\n"


def test_hooks_are_left_out_and_named() -> None:
    collection = collected(hook("helm.sh/hook: pre-upgrade, post-install"))
    assert collection.objects == []
    assert collection.hooks == ["Job j (pre-upgrade, post-install)"]


ODD = "A\n- forged\x1b[31m\u202e"


@pytest.mark.parametrize("place", ["apiVersion", "kind", "name", "namespace", "hook", "duplicate"])
def test_an_odd_text_forges_no_line_and_is_no_command_for_a_terminal(place: str) -> None:
    odd = {"hook": "pre-install", "name": "a"} | {place: ODD}
    obj = {"apiVersion": odd.get("apiVersion", "v1"), "kind": odd.get("kind", "ConfigMap")}
    annotations = {"helm.sh/hook": odd["hook"]} if place == "hook" else {}
    meta = {"name": odd["name"], "namespace": odd.get("namespace", "b"), "annotations": annotations}
    text = json.dumps({**obj, "metadata": meta, "data": {"twice": "1", ODD: "2"}})
    collection = collected(text.replace('"twice"', json.dumps(ODD)) if place == "duplicate" else text)
    said = [*map(str, collection.problems), *collection.hooks, *collection.warnings]
    assert len(said) == 1
    assert said[0].isprintable()


@pytest.mark.parametrize("phase", ["test", "test-success", "test-failure"])
def test_tests_of_charts_go_unmentioned(phase: str) -> None:
    collection = collected(hook(f"helm.sh/hook: {phase}"))
    assert (collection.objects, collection.hooks) == ([], [])


@pytest.mark.parametrize(
    "annotation", ['helm.sh/hook-weight: "0"', "helm.sh/hook-delete-policy: x", 'x: "y"']
)
def test_only_the_hook_annotation_makes_a_hook(annotation: str) -> None:
    collection = collected(hook(annotation))
    assert len(collection.objects) == 1
    assert collection.hooks == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kind: A\nmetadata: {name: a}", "it has no apiVersion (its name is a)"),
        ("apiVersion: v1\nmetadata: {name: a}", "it has no kind"),
        ("apiVersion: v1\nkind: A\n", "the A has no metadata"),
        ("apiVersion: v1\nkind: A\nmetadata: {labels: {}}", "the A has no metadata.name"),
        ("apiVersion: v1\nkind: A\nmetadata: {generateName: a-}", "the A has a generateName"),
        (
            "apiVersion: v1\nkind: A\nmetadata: {name: 5}",
            "metadata.name is 5 to YAML, not a string: put it in quotes",
        ),
        (
            "apiVersion: v1\nkind: A\nmetadata: {name: a, namespace: on}",
            "metadata.namespace is True to YAML, not a string",
        ),
        (
            "apiVersion: v1\nkind: A\nmetadata: {name: a, ownerReferences: [{uid: u}]}",
            "the A a has ownerReferences. No owner has these uids in another cluster, so its garbage "
            "collector would delete the object: remove them",
        ),
        ("apiVersion: v1\nkind: A\nmetadata: {name: a, annotations: [b]}", "are no mapping"),
        ("apiVersion: v1\nkind: A\nmetadata: {name: a, labels: b}", "the labels of A a are no mapping"),
        ("apiVersion: v1\nkind: List\nmetadata: x\nitems: [5]", "but a plain value"),
        ("apiVersion: v1\nkind: List\nitems: [5]", "not a Kubernetes object, but a plain value"),
        ("- a", "not a Kubernetes object, but a list"),
        ("just words", "not a Kubernetes object, but a plain value"),
    ],
)
def test_a_document_that_is_no_object_is_reported_with_file_and_line(text: str, message: str) -> None:
    (problem,) = collected(f"# first\n---\n{text}\n").problems
    assert str(problem).startswith("f.yaml:3: ")
    assert message in str(problem)


CRD = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: as.x.io}\n"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("", "it has no spec"),
        ("[]", "it has no spec"),
        ("v1", "its spec is no mapping"),
        ("{}", "it has no spec.group"),
        ("{group: x.io}", "it has no spec.names.kind"),
        ("{group: x.io, names: A}", "it has no spec.names.kind"),
        ("{group: x.io, names: {kind: A}}", "it has no spec.names.plural"),
        ("{group: x.io, names: {kind: A, plural: as}}", "it has no spec.versions"),
        ("{group: x.io, names: {kind: A, plural: as}, versions: v1}", "its spec.versions is no list"),
        ("{group: x.io, names: {kind: A, plural: as}, versions: [v1]}", "its spec.versions[0] is no mapping"),
        (
            "{group: x.io, names: {kind: A, plural: as}, versions: [{name: a}, {}]}",
            "no spec.versions[1].name",
        ),
        (
            "{group: x, names: {kind: A, plural: as}, versions: [{name: a, schema: {openAPIV3Schema: b}}]}",
            "its spec.versions[0].schema.openAPIV3Schema is no mapping",
        ),
        (
            "{group: x.io, names: {kind: A, plural: as}, versions: [{name: a, subresources: [status]}]}",
            "its spec.versions[0].subresources is no mapping",
        ),
        ("{group: x.io, names: {kind: A, plural: as}, conversion: Webhook}", "its spec.conversion is no"),
    ],
)
def test_a_definition_without_a_kind_is_reported_with_file_and_line(spec: str, message: str) -> None:
    collection = collected(f"# first\n---\n{CRD}spec: {spec}\n---\n{CRD}")
    assert not collection.objects
    first, other = map(str, collection.problems)
    assert first.startswith("f.yaml:3: the CustomResourceDefinition as.x.io can't define a kind: ")
    assert message in first
    assert other.startswith("f.yaml:8: ")


def test_definitions_of_other_groups_are_not_checked() -> None:
    assert not collected(CRD.replace("apiextensions.k8s.io/v1", "example.com/v1")).problems
    older = CRD.replace("/v1", "/v1beta1") + "spec: {group: x.io, version: v1, names: {kind: A, plural: as}}"
    assert not collected(older).problems


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 200_000, "nested too deeply"),
        ('{"a": ' + "1" * 5000 + "}", "Kubernetes can't take this: Exceeds the limit"),
        ('{"a": 1e999}', "the number 1e999 is too large"),
        ('{"a": "\\ud83d"}', "surrogates not allowed"),
    ],
    ids=["nested", "digits", "infinite", "surrogate"],
)
def test_json_that_kubernetes_cannot_read_is_reported(text: str, message: str) -> None:
    (problem,) = collected(text, "f.json").problems
    assert str(problem).startswith("f.json: ")
    assert message in str(problem)


@pytest.mark.parametrize("file", ["f.yaml", "f.json"])
@pytest.mark.parametrize(("opened", "closed"), [('{"a": ', "}"), ("[", "]"), (LIST, "]}")])
@pytest.mark.parametrize(("levels", "refused"), [(40, False), (200, True), (3000, True)])
def test_content_that_is_nested_too_deeply_is_reported(
    file: str, opened: str, closed: str, levels: int, refused: bool
) -> None:
    text = f'{{"apiVersion": "v1", "kind": "A", "metadata": {{"name": "a"}}, "spec": {opened * levels}'
    collection = collected(f"{text}1{closed * levels}}}", file)
    assert [f"{file}:" in str(one) and "nested too deeply" in str(one) for one in collection.problems] == [
        True
    ] * refused
    lists = collected(f"{LIST * levels}{']}' * levels}", file)
    assert bool(lists.problems) == refused


def test_duplicate_keys_warn() -> None:
    collection = collected("apiVersion: v1\nkind: A\nmetadata:\n  name: a\n  name: b\n")
    assert collection.objects[0]["metadata"] == {"name": "b"}
    assert collection.warnings == ["f.yaml:5: the key 'name' is there twice; the last one counts"]


def test_the_digest_does_not_depend_on_the_order_of_keys() -> None:
    assert objects_digest([{"a": 1, "b": 2}]) == objects_digest([{"b": 2, "a": 1}])
    assert objects_digest([{"a": 1}]) != objects_digest([{"a": "1"}])
    assert objects_digest([{"a": 1}, {"b": 1}]) != objects_digest([{"b": 1}, {"a": 1}])


@pytest.mark.parametrize("phase", ["crd-install", "pre-install,pre-upgrade", "test"])
@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_a_crd_never_counts_as_a_hook(phase: str, version: str) -> None:
    names = "{group: x.io, names: {kind: A, plural: as}, scope: Cluster, versions: [{name: v1}]}"
    annotated = CRD.replace("io/v1", f"io/{version}").replace(
        "{name: as.x.io}", f'{{name: as.x.io, annotations: {{helm.sh/hook: "{phase}"}}}}'
    )
    collection = collected(f"{annotated}spec: {names}\n")
    assert [obj["metadata"]["name"] for obj in collection.objects] == ["as.x.io"]
    assert (collection.hooks, collection.problems) == ([], [])
