# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Releases of every layout, read from files that a test writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import Release, ReleaseRequest
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.release_error import ReleaseError
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.component_contents import served_by
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.loader import load_release

from tests.unit.conftest import Write


def manifest(name: str, kind: str = "ConfigMap") -> str:
    return f"apiVersion: v1\nkind: {kind}\nmetadata:\n  name: {name}\n"


def components(*names: str) -> str:
    return "components:\n" + "".join(f"- name: {name}\n" for name in names)


def load(root: Path, profile: str = "", **request: Any) -> Release:
    return load_release(ReleaseRequest(str(root), profile=profile, **request))


def names(release: Release) -> dict[str, list[str]]:
    return {
        component: [obj["metadata"]["name"] for obj in content.objects]
        for component, content in release.content.items()
    }


def refused(root: Path, profile: str = "", **request: Any) -> str:
    with pytest.raises(ReleaseError) as caught:
        load(root, profile, **request)
    return str(caught.value).replace(str(root), "R")


def test_rendered_manifests_per_profile(write: Write) -> None:
    root = write(
        {
            "components.yaml": "defaultNamespace: d\nprerequisites:\n- {name: b, namespace: e}\n"
            + components("a"),
            "production/a.yaml": manifest("pa"),
            "production/b.yml": manifest("pb1") + "---\n" + manifest("pb2"),
            "evaluation/a.yaml": manifest("ea"),
            "evaluation/b.json": '{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "eb"}}',
        }
    )
    production = load(root, "production")
    assert names(production) == {"b": ["pb1", "pb2"], "a": ["pa"]}
    assert [(entry.name, entry.namespace) for entry in production.components] == [("b", "e"), ("a", "d")]
    assert (production.version, production.profile, production.default_namespace) == (
        "2.9",
        "production",
        "d",
    )
    assert "namespace" not in production.content["a"].objects[0]["metadata"]
    evaluation = load(root, "evaluation")
    assert names(evaluation) == {"b": ["eb"], "a": ["ea"]}
    assert evaluation.digest == production.digest
    assert evaluation.content["a"].source_hash != production.content["a"].source_hash
    assert refused(root) == (
        "R: the release was rendered for several profiles: choose one of evaluation, production"
    )
    assert refused(root, "staging") == (
        "R: the release has no profile 'staging': there are evaluation, production"
    )


def test_the_only_profile_is_the_default(write: Write) -> None:
    root = write({"components.yaml": components("a"), "production/a.yaml": manifest("x")})
    assert load(root).profile == "production"


def test_folders_of_manifests_are_read(write: Write) -> None:
    root = write(
        {
            "components.yml": components("a", "b", "c"),
            "a/2.yaml": manifest("second"),
            "a/1.yml": manifest("first"),
            "a/3.json": '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "third"}}',
            "a/README.md": "no manifest",
            "a/.hidden.yaml": "no: manifest",
            "resources/b/x.yaml": manifest("resources"),
            "c.yaml": manifest("alone"),
        }
    )
    assert names(load(root)) == {"a": ["first", "second", "third"], "b": ["resources"], "c": ["alone"]}
    assert refused(root, "production") == (
        "R: the release has no profile 'production': it has no profiles, so leave it out"
    )


def test_folders_with_a_part_for_a_profile(write: Write) -> None:
    root = write(
        {
            "components.yaml": components("a", "b"),
            "a/x.yaml": manifest("common"),
            "a/production/y.yaml": manifest("more"),
            "b/x.yaml": manifest("b"),
            "production/b/x.yaml": manifest("pb"),
        }
    )
    assert names(load(root)) == {"a": ["common"], "b": ["b"]}
    assert names(load(root, "production")) == {"a": ["common", "more"], "b": ["pb"]}


def test_a_json_list_and_sources(write: Write) -> None:
    root = write(
        {
            "components.json": '{"components": '
            '[{"name": "a", "source": "x/y"}, {"name": "b", "source": "z.yaml"}]}',
            "x/y/m.yaml": manifest("why"),
            "z.yaml": manifest("z"),
            "a/m.yaml": manifest("not this one"),
        }
    )
    assert names(load(root)) == {"a": ["why"], "b": ["z"]}


def test_a_profile_that_only_a_source_has(write: Write) -> None:
    root = write(
        {
            "components.yaml": "components:\n- {name: a, source: rendered/a}\n- name: b\n",
            "rendered/a/x.yaml": manifest("common"),
            "rendered/a/production/y.yaml": manifest("more"),
            "b/x.yaml": manifest("b"),
        }
    )
    assert names(load(root, "production")) == {"a": ["common", "more"], "b": ["b"]}
    assert refused(root, "rendered") == "R: the release has no profile 'rendered': there are production"


def test_a_list_of_the_user_s_own(write: Write, tmp_path: Path) -> None:
    root = write(
        {"components.yaml": components("a", "b"), "a/m.yaml": manifest("x"), "b/m.yaml": manifest("why")}
    )
    own = tmp_path / "mine.yaml"
    own.write_text(components("b"))
    assert names(load(root, component_list=str(own))) == {"b": ["why"]}
    own.write_text("components: [\n")
    assert f"{own}:2:1: not YAML" in refused(root, component_list=str(own))


def test_crds_are_read(write: Write) -> None:
    crd = manifest("as.x.io", "CustomResourceDefinition")
    root = write(
        {
            "components.yaml": components("a"),
            "a/m.yaml": manifest("x"),
            "crds/b/z.yaml": crd,
            "crds/a/y.yaml": crd.replace("as", "bs"),
            "crds/c.yaml": crd.replace("as", "cs"),
            "crds/README.md": "",
        }
    )
    assert [obj["metadata"]["name"] for obj in load(root).crds.objects] == ["bs.x.io", "as.x.io", "cs.x.io"]


def test_kinds_of_crds_count_as_served() -> None:
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "spec": {
            "group": "x.io",
            "names": {"kind": "A"},
            "versions": [{"name": "v1", "served": True}, {"name": "v0", "served": False}],
        },
    }
    assert served_by([crd, {"apiVersion": "v1", "kind": "Secret"}]) == ["x.io/v1", "x.io/v1/A"]


def test_a_release_declares_its_version_and_its_requirements(write: Write) -> None:
    root = write(
        {
            "components.yaml": components("a"),
            "a/m.yaml": manifest("x"),
            "release.yaml": "version: 2.10\nupgrades_from: [2.8, 2.9]\nkubernetes: '>=1.25'\n",
        }
    )
    release = load(root)
    assert (release.version, release.upgrades_from, release.kubernetes) == ("2.10", ("2.8", "2.9"), ">=1.25")
    assert load(root, version="v2.10.0").version == "2.10"
    assert refused(root, version="2.9") == "R: the release says that it is 2.10, not 2.9"


def test_the_version_can_be_given_and_must_be_known(write: Write, tmp_path: Path) -> None:
    root = write({"components.yaml": components("a"), "a/m.yaml": manifest("x")})
    assert load(root, version="2.7").version == "2.7"
    assert refused(root, version="main") == "'main' is not a version of a release"
    unnamed = root.rename(tmp_path / "kyma")
    assert "nothing tells the release's version: give it as release_version" in refused(unnamed)


def test_hooks_are_left_out_of_manifests_too(write: Write) -> None:
    hook = manifest("h", "Job") + "  annotations:\n    helm.sh/hook: pre-upgrade\n"
    root = write({"components.yaml": components("a"), "a/m.yaml": manifest("x") + "---\n" + hook})
    content = load(root).content["a"]
    assert (len(content.objects), content.hooks) == (1, ("Job h (pre-upgrade)",))


def test_all_errors_of_a_release_are_reported_at_once(write: Write) -> None:
    root = write(
        {
            "components.yaml": components("a", "b", "c"),
            "release.yaml": "kubernetes: some\n",
            "a/m.yaml": "a: [\n",
            "b/m.yaml": manifest("ok") + "---\nkind: X\n",
            "crds/a/m.yaml": "x: 'open\n",
        }
    )
    assert refused(root, overrides=("a.b=c", "nonsense")) == (
        "the release can't be used for 6 reasons:\n"
        "- R/release.yaml:1: kubernetes: 'some' is not a range like '>=1.24,<1.30'\n"
        "- the override of 'nonsense' is not of the form component.key=value\n"
        "- R/crds/a/m.yaml:2:1: not YAML: while scanning a quoted scalar, found unexpected end of stream\n"
        "- R: the component c has no content; looked for: c, resources/c, c.yaml, c.yml, c.json\n"
        "- R/a/m.yaml:2:1: not YAML: while parsing a flow node, did not find expected node content\n"
        "- R/b/m.yaml:6: not a Kubernetes object: it has no apiVersion"
    )


def test_values_for_manifests_are_refused(write: Write) -> None:
    root = write({"components.yaml": components("a"), "a/m.yaml": manifest("x")})
    assert refused(root, overrides=("a.b=c",)) == (
        "the override of a: a is no Helm chart in this release: values can't change it"
    )
    assert refused(root, overrides=("global.b=c",)) == (
        "the override of global: no component of this release is a Helm chart: values change nothing"
    )


def test_the_places_that_were_searched_are_named(write: Write) -> None:
    root = write({"components.yaml": components("a", "b"), "p/a.yaml": manifest("x")})
    assert refused(root, "p") == (
        "R: the component b has no content; looked for: "
        "p/b.yaml, p/b.yml, p/b.json, p/b, b, resources/b, b.yaml, b.yml, b.json"
    )


def test_a_folder_without_a_list(write: Write) -> None:
    root = write({"a/m.yaml": manifest("x")})
    assert refused(root) == (
        "R: there is no components.yaml (or .yml, .json), neither here nor in installation/resources"
    )


def test_a_file_that_is_no_text(write: Write) -> None:
    root = write({"components.yaml": components("a"), "a/m.yaml": ""})
    (root / "a" / "m.yaml").write_bytes(b"a: \xff\n")
    assert refused(root) == "R/a/m.yaml: not UTF-8 text: invalid start byte at byte 3"


def test_a_byte_order_mark_is_no_harm(write: Write) -> None:
    root = write({"components.yaml": components("a"), "a/m.yaml": "\ufeff" + manifest("x")})
    assert names(load(root)) == {"a": ["x"]}


BROKEN = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b\n"


@pytest.mark.parametrize(
    ("listed", "said"),
    [
        ("components:\n- name: a\n  need: b\n- name: b\n", "R/components.yaml:2: the key 'need' is unknown"),
        ("components:\n- name: a\n- name: b\n  timeout: [\n", "R/components.yaml:"),
        ("components: {\n# - name: d\n- name: a\n- name: 'b'\n", "R/components.yaml:"),
        ("components:\n- name: b\n- name: a\n- name: a\n- name: ../c\n", "the component a is there twice"),
    ],
)
def test_a_broken_list_does_not_hide_broken_content(write: Write, listed: str, said: str) -> None:
    files = {"components.yaml": listed, "a.yaml": manifest("a"), "b.yaml": BROKEN}
    message = refused(write(files | {"crds/x.yaml": "kind: A\n", "d.yaml": BROKEN, "../c.yaml": BROKEN}))
    assert said in message
    assert "R/b.yaml:4" in message
    assert "R/crds/x.yaml:1: not a Kubernetes object" in message
    assert "d.yaml" not in message
    assert "c.yaml" not in message
    assert "has no content" not in message


def test_of_many_problems_and_warnings_the_first_are_shown_and_the_others_counted(write: Write) -> None:
    files = {"components.yaml": components("a"), "a/m.yaml": manifest("x") + "data:\n" + "  a: b\n" * 300}
    warnings = load(write(files)).warnings
    assert len(warnings) == 201
    assert warnings[-1] == "and 99 more warnings"
    message = refused(write(files | {"a/m.yaml": "---\na: b\n" * 300}))
    assert "for 300 reasons" in message
    assert len(message.splitlines()) == 202
    assert message.endswith("\nand 100 more")


def test_an_unknown_profile_does_not_hide_broken_content(write: Write) -> None:
    files = {"components.yaml": components("a", "b"), "production/a.yaml": manifest("a"), "b.yaml": BROKEN}
    message = refused(write(files), "staging")
    assert "no profile 'staging'" in message
    assert "R/b.yaml:4" in message
    assert "has no content" not in message


def test_errors_of_crds_and_components_are_reported_also_with_skipped_components(
    write: Write,
) -> None:
    files = {"components.yaml": components("a", "b"), "a.yaml": manifest("a"), "b.yaml": manifest("b")}
    root = write(files)
    skip = {"a": load(root).content["a"].source_hash}
    write({"b.yaml": BROKEN, "crds/x.yaml": "kind: A\n"})
    with pytest.raises(ReleaseError) as caught:
        load_release(ReleaseRequest(str(root)), skip)
    assert "/b.yaml:4" in str(caught.value)
    assert "/crds/x.yaml:1: not a Kubernetes object" in str(caught.value)


@pytest.mark.parametrize("request_", [{}, {"values_files": ("/nowhere/values.yaml",)}])
def test_a_missing_helm_hides_nothing(write: Write, request_: dict[str, Any]) -> None:
    chart = {"Chart.yaml": "apiVersion: v2\nname: x\nversion: 1.0.0\n", "templates/x.yaml": manifest("x")}
    files = {f"{name}/{file}": text for name in ("a", "c") for file, text in chart.items()}
    files |= {"components.yaml": components("a", "b", "c", "d"), "b.yaml": BROKEN}
    message = refused(write(files), helm_binary="/nowhere/helm", **request_)
    assert message.count("/nowhere/helm") == 1
    assert "R/b.yaml:4" in message
    assert "the component d has no content" in message
    assert ("/nowhere/values.yaml: can't be read" in message) is bool(request_)
