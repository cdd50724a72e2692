# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a catalog reads from ModuleTemplates and ModuleReleaseMetas, and what it chooses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object, Ref
from ansible_collections.kyma.lifecycle.plugins.module_utils._module_catalog.catalog import (
    Catalog,
    CatalogError,
    SourcedDocument,
    read_catalog,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._module_catalog.module_version import (
    ModuleManager,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.yaml_documents import read_documents

from tests.support.real_modules import real_modules

GROUP = "operator.kyma-project.io"


def template(version: str = "1.0.0", module: str = "keda", **spec: Any) -> Object:
    return {
        "apiVersion": f"{GROUP}/v1beta2",
        "kind": "ModuleTemplate",
        "metadata": {"name": f"{module}-{version}"},
        "spec": {"moduleName": module, "version": version, "descriptor": {}, **spec},
    }


def older_template(version: str, channel: str, module: str = "keda", **spec: Any) -> Object:
    return {
        "apiVersion": f"{GROUP}/v1beta2",
        "kind": "ModuleTemplate",
        "metadata": {
            "name": f"{module}-{channel}",
            "labels": {f"{GROUP}/module-name": module},
            "annotations": {f"{GROUP}/module-version": version},
        },
        "spec": {"channel": channel, "descriptor": {}, **spec},
    }


def meta(
    channels: Mapping[str, str] | Iterable[tuple[str, str]] = (), module: str = "keda", **spec: Any
) -> Object:
    pairs = channels.items() if isinstance(channels, Mapping) else channels
    listed = [{"channel": name, "version": version} for name, version in pairs]
    return {
        "apiVersion": f"{GROUP}/v1beta2",
        "kind": "ModuleReleaseMeta",
        "metadata": {"name": module},
        "spec": {"moduleName": module, **({"channels": listed} if listed else {}), **spec},
    }


def catalog_of(*documents: Object) -> Catalog:
    """A catalog of documents from the files a.yaml, b.yaml and so on."""
    return read_catalog(
        SourcedDocument(f"{name}.yaml", document)
        for name, document in zip("abcdefgh", documents, strict=False)
    )


def refusal(catalog: Catalog, module: str, **terms: str) -> str:
    with pytest.raises(CatalogError) as caught:
        catalog.choose(module, **terms)
    return str(caught.value)


def documents_in(folder: Path) -> list[SourcedDocument]:
    return [
        SourcedDocument(str(path), document.value)
        for path in sorted(folder.rglob("*.yaml"))
        for document in read_documents(path.read_text(), str(path))
    ]


def test_the_real_templates_of_docker_registry() -> None:
    catalog = read_catalog(documents_in(real_modules() / "docker-registry"))
    assert catalog.problems == {}
    module = catalog.modules["docker-registry"]
    assert [*catalog.modules] == ["docker-registry"]
    assert [*module.versions] == ["0.11.0", "0.12.0", "0.13.0", "0.14.0"]
    assert module.channels == {"latest": "0.14.0"}
    version = catalog.choose("docker-registry", version="v0.13.0")
    assert version.manager == ModuleManager(
        "apps/v1", "Deployment", "docker-registry", "dockerregistry-operator"
    )
    assert version.manager.ref == Ref("apps", "Deployment", "docker-registry", "dockerregistry-operator")
    assert version.associated == ((GROUP, "DockerRegistry"),)
    assert version.configuration is not None
    assert version.configuration["metadata"] == {"name": "default", "namespace": "docker-registry"}
    assert version.manifest.endswith("/0.13.0/dockerregistry-operator-community.yaml")
    assert not version.requires_downtime
    assert version.origins == (str(real_modules() / "docker-registry" / "0.13.0.yaml"),)


def test_latest_is_the_highest_release_of_a_module_whose_documents_name_no_channel() -> None:
    plain = [template("2.0.0-rc1"), template("1.10.0"), template("1.9.0")]
    assert catalog_of(*plain).choose("keda", channel="latest").version == "1.10.0"
    assert catalog_of(template("2.0.0-rc1")).modules["keda"].channels == {}
    with_channels = catalog_of(*plain, meta({"fast": "1.9.0"}))
    assert "it has no channel latest" in refusal(with_channels, "keda", channel="latest")


def test_latest_is_no_older_version_if_the_highest_has_an_error() -> None:
    differing = [template("1.0.0"), template("2.0.0"), template("2.0.0", requiresDowntime=True)]
    message = refusal(catalog_of(*differing), "keda", channel="latest")
    assert message.startswith("module keda: the catalog has no version 2.0.0, which is channel latest's.")


def test_a_real_meta_whose_version_has_no_template() -> None:
    catalog = read_catalog(documents_in(real_modules() / "samples"))
    assert [*catalog.modules] == ["template-operator"]
    origin = real_modules() / "samples" / "module-release-meta.yaml"
    problem = f"channel regular is 1.0.5, which no ModuleTemplate describes (ModuleReleaseMeta at {origin})"
    assert catalog.problems == {"template-operator": (problem,)}
    assert refusal(catalog, "template-operator", channel="regular") == (
        "module template-operator: the catalog has no version 1.0.5, which is channel regular's."
        " Versions: none. Channels: regular (1.0.5).\n"
        f"Faults of the catalog:\n- {problem}"
    )


def test_documents_of_other_kinds_are_passed_over() -> None:
    catalog = catalog_of(
        {"name": "kyma-project.io/module/keda", "version": "1.0.0"},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}},
        {"apiVersion": "other.io/v1beta2", "kind": "ModuleTemplate", "metadata": {"name": "a"}},
        {"kind": "ModuleTemplate"},
    )
    assert catalog == Catalog()
    assert refusal(catalog, "keda", channel="regular") == (
        "module keda: it is not in the catalog. The catalog has no module at all."
    )


def test_channels_stand_in_the_meta_and_not_in_templates_where_there_is_one() -> None:
    older = older_template("0.9.0", "fast")
    documents = (template("1.0.0"), template("1.1.0-rc.1"), template("1.1.0"), older)
    catalog = catalog_of(*documents, meta({"regular": "1.0.0", "experimental": "v1.1.0"}))
    module = catalog.modules["keda"]
    assert catalog.problems == {}
    assert [*module.versions] == ["0.9.0", "1.0.0", "1.1.0-rc.1", "1.1.0"]
    assert module.channels == {"experimental": "1.1.0", "regular": "1.0.0"}
    assert catalog.choose("keda", channel="experimental").version == "1.1.0"
    assert catalog.choose("keda", channel="regular", version="0.9.0").version == "0.9.0"
    assert catalog_of(*documents).modules["keda"].channels == {"fast": "0.9.0"}


def test_older_templates_name_module_version_and_channel_elsewhere() -> None:
    by_descriptor = older_template("1.2.0", "rapid")
    del by_descriptor["metadata"]["annotations"]
    by_descriptor["spec"]["descriptor"] = {"component": {"name": "x", "version": "1.2.0"}}
    by_label = older_template("1.1.0", "regular")
    del by_label["metadata"]["annotations"]
    by_label["metadata"]["labels"][f"{GROUP}/module-version"] = "1.1.0"
    catalog = catalog_of(older_template("1.1.0", "fast"), by_label, by_descriptor)
    assert catalog.problems == {}
    assert catalog.modules["keda"].channels == {"fast": "1.1.0", "rapid": "1.2.0", "regular": "1.1.0"}
    assert catalog.choose("keda", channel="fast").origins == ("a.yaml", "b.yaml")


def test_a_channel_of_several_versions_is_refused_and_others_are_not() -> None:
    catalog = catalog_of(
        older_template("1.1.0", "fast"), older_template("1.2.0", "fast"), older_template("1.0.0", "regular")
    )
    problem = "channel fast has several versions: 1.1.0 (a.yaml), 1.2.0 (b.yaml)"
    assert catalog.problems == {"keda": (problem,)}
    assert catalog.choose("keda", channel="regular").version == "1.0.0"
    assert problem in refusal(catalog, "keda", channel="fast")


def test_the_same_template_in_several_places_is_one() -> None:
    from_cluster = template()
    from_cluster["metadata"].update(resourceVersion="7", uid="u", namespace="kyma-system", labels={"a": "b"})
    from_cluster["spec"]["info"] = {"repository": "r", "documentation": "d"}
    catalog = catalog_of(template(), from_cluster, template(version="v1.0.0"))
    assert catalog.problems == {}
    assert catalog.choose("keda", version="1.0.0").origins == ("a.yaml", "b.yaml", "c.yaml")


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"manager": {"group": "apps", "version": "v1", "kind": "Deployment", "name": "m"}}, "manager"),
        ({"associatedResources": [{"group": "g", "version": "v1", "kind": "K"}]}, "associatedResources"),
        ({"data": {"apiVersion": "v1", "kind": "K", "metadata": {"name": "d"}}}, "data"),
        ({"resources": [{"name": "rawManifest", "link": "https://x/y"}]}, "resources"),
        ({"requiresDowntime": True, "mandatory": True}, "mandatory, requiresDowntime"),
    ],
)
def test_two_templates_that_differ_are_refused_and_both_named(changes: dict[str, Any], named: str) -> None:
    catalog = catalog_of(template(), template(**changes), template("2.0.0"), template(module="nats"))
    problem = (
        f"version 1.0.0 has ModuleTemplates that differ in {named}: a.yaml and b.yaml."
        " Leave one in the catalog, or make them equal"
    )
    assert catalog.problems == {"keda": (problem,)}
    assert refusal(catalog, "keda", version="1.0.0") == (
        "module keda: the catalog has no version 1.0.0. Versions: 2.0.0. Channels: latest (2.0.0).\n"
        f"Faults of the catalog:\n- {problem}"
    )
    assert catalog.choose("keda", version="2.0.0").origins == ("c.yaml",)
    assert catalog.choose("nats", version="1.0.0").origins == ("d.yaml",)


def test_two_metas_that_differ_are_refused_and_nothing_is_allowed_by_them() -> None:
    documents = (template(), meta({"regular": "1.0.0"}), meta({"fast": "1.0.0"}), meta({"fast": "1.0.0"}))
    catalog = catalog_of(*documents)
    assert catalog.problems == {
        "keda": (
            "it has ModuleReleaseMetas that differ: b.yaml and c.yaml and d.yaml."
            " Leave one in the catalog, or make them equal",
        )
    }
    module = catalog.modules["keda"]
    assert module.channels == {}
    assert "can't be used" in module.explain_restriction(module.versions["1.0.0"], {})
    assert catalog_of(template(), *documents[2:]).problems == {}


def test_the_refusal_of_an_unknown_name_lists_the_known_ones() -> None:
    catalog = catalog_of(
        template(module="docker-registry"),
        template(module="nats"),
        template("1.1.0", module="nats"),
        meta({"regular": "1.0.0", "fast": "1.1.0"}, module="nats"),
    )
    assert refusal(catalog, "docker-registy", channel="fast") == (
        "module docker-registy: it is not in the catalog. Did you mean docker-registry?"
        " There are docker-registry, nats."
    )
    assert refusal(catalog, "serverless", channel="fast") == (
        "module serverless: it is not in the catalog. There are docker-registry, nats."
    )
    offer = "Versions: 1.0.0, 1.1.0. Channels: fast (1.1.0), regular (1.0.0)."
    assert refusal(catalog, "nats", channel="regula") == (
        f"module nats: it has no channel regula. Did you mean regular? {offer}"
    )
    assert (
        refusal(catalog, "nats", version="1.2.0") == f"module nats: the catalog has no version 1.2.0. {offer}"
    )
    assert refusal(catalog, "nats", channel="fast", version="1.3.0") == (
        f"module nats: the catalog has no version 1.3.0. {offer}"
    )
    assert refusal(catalog, "nats") == f"module nats: neither a channel nor a version is wanted. {offer}"


def test_a_mandatory_module_is_mandatory_in_its_meta_or_in_its_templates() -> None:
    by_meta = catalog_of(template("1.0.0"), template("1.1.0"), meta(mandatory={"version": "1.0.0"}))
    assert by_meta.modules["keda"].mandatory == "1.0.0"
    assert by_meta.choose("keda").version == "1.0.0"
    by_templates = catalog_of(
        template("1.9.0", mandatory=True), template("1.10.0", mandatory=True), template("2.0.0")
    )
    assert by_templates.modules["keda"].mandatory == "1.10.0"
    assert catalog_of(meta(mandatory={"version": "3.0.0"})).problems == {
        "keda": (
            "the mandatory version is 3.0.0, which no ModuleTemplate describes (ModuleReleaseMeta at a.yaml)",
        )
    }


def test_a_restriction_is_the_module_s_by_its_meta_and_a_version_s_by_its_labels() -> None:
    beta = template("2.0.0")
    beta["metadata"]["labels"] = {f"{GROUP}/beta": "true"}
    catalog = catalog_of(template(), beta, meta({"fast": "2.0.0"}, internal=True, kymaSelector={}))
    module = catalog.modules["keda"]
    internal = {f"{GROUP}/internal": "true"}
    assert module.restriction.internal
    assert module.restriction.selector == {}
    assert "is an internal module" in module.explain_restriction(module.versions["1.0.0"], {})
    assert "empty kymaSelector" in module.explain_restriction(module.versions["1.0.0"], internal)
    module = catalog_of(template(), beta).modules["keda"]
    assert module.explain_restriction(module.versions["1.0.0"], {}) == ""
    assert "is a beta module" in module.explain_restriction(module.versions["2.0.0"], {})


FAULTS: list[tuple[Object, str, str]] = [
    (
        template(module=""),
        "",
        "it has neither spec.moduleName nor the label operator.kyma-project.io/module-name",
    ),
    (template(version=""), "keda", "it has no version"),
    (template(version="main"), "keda", "its version is 'main', which is no semantic version"),
    (template(version=1.1), "keda", "its version is 1.1 to YAML, no text: put it in quotes"),
    (template(manager={"group": "apps", "name": "m"}), "keda", "its spec.manager has no version and no kind"),
    (template(manager="m"), "keda", "its manager is no mapping"),
    (template(data={"kind": "K"}), "keda", "spec.data, has no apiVersion and no metadata.name"),
    (
        template(associatedResources=[{"group": "g"}]),
        "keda",
        "an entry of spec.associatedResources has no kind",
    ),
    (template(associatedResources=["g"]), "keda", "its associatedResources is no list of mappings"),
    (template(requiresDowntime="yes"), "keda", "its requiresDowntime is 'yes', and only true and false are"),
    (
        template(resources=[{"name": "rawManifest", "link": one} for one in ("http://a", "http://b")]),
        "keda",
        "its spec.resources has rawManifest twice: http://a and http://b",
    ),
    ({**template(), "spec": []}, "", "its spec is no mapping"),
    ({**template(), "metadata": None, "spec": None}, "", "so it is of no module"),
    (
        {**template(), "apiVersion": f"{GROUP}/v1alpha1"},
        "keda",
        "and only operator.kyma-project.io/v1beta2 is read",
    ),
    (meta({"fast": ""}), "keda", "it has no version of channel 'fast'"),
    (meta({"": "1.0.0"}), "keda", "a channel in spec.channels has no name"),
    (meta({"fast": "latest"}), "keda", "its version of channel 'fast' is 'latest', which is no semantic"),
    (
        meta([("fast", "1.0.0"), ("fast", "2.0.0")]),
        "keda",
        "it has channel fast twice: in 1.0.0 and in 2.0.0",
    ),
    (meta(kymaSelector=7), "keda", "spec.kymaSelector can't be decided: it is no mapping"),
]


@pytest.mark.parametrize(
    ("document", "module", "fault"), FAULTS, ids=[fault for _document, _module, fault in FAULTS]
)
def test_a_fault_names_its_document_and_hides_no_other_module(
    document: Object, module: str, fault: str
) -> None:
    before = deepcopy(document)
    catalog = catalog_of(document, template(module="nats"))
    assert document == before
    assert [*catalog.problems] == [module]
    assert any(
        problem.startswith(document["kind"]) and " at a.yaml: " in problem and fault in problem
        for problem in catalog.problems[module]
    )
    assert catalog.choose("nats", version="1.0.0").module == "nats"


ODD = "a\n- forged\x1b[31m"
ODD_DOCUMENTS: list[Object] = [
    template(channel=ODD),
    template(version=ODD),
    template(module=ODD),
    template(requiresDowntime=[ODD, "x" * 5000]),
    template(manager={"version": "v1", "kind": "Deployment", "name": ODD}),
    template(resources=[{"name": "rawManifest", "link": f"https://example.com/{ODD}"}]),
    template(channel="x" * 5000),
    {**template(), "metadata": {"name": ODD}},
    {**template(), "apiVersion": f"{GROUP}/{ODD}"},
    meta({ODD: "1.0.0"}),
    meta({"fast": ODD}),
    meta(kymaSelector={"matchExpressions": [{"key": ODD, "operator": "Is"}]}),
]


@pytest.mark.parametrize("document", ODD_DOCUMENTS)
def test_an_odd_text_is_a_fault_on_one_line_that_no_terminal_interprets(document: Object) -> None:
    problems = [one for some in catalog_of(document).problems.values() for one in some]
    assert problems
    for problem in problems:
        assert "\n" not in problem
        assert "\x1b" not in problem
        assert len(problem) < 2500


def test_a_selector_with_odd_texts_is_explained_on_one_line() -> None:
    selector = {"matchLabels": {"a": ODD}}
    catalog = catalog_of(template(), meta({"fast": "1.0.0"}, kymaSelector=selector))
    module = catalog.modules["keda"]
    explained = module.explain_restriction(module.versions["1.0.0"], {})
    assert explained == "is for clusters with other labels: a In (a - forged?[31m)"


def test_a_meta_with_a_fault_allows_the_module_nowhere() -> None:
    catalog = catalog_of(older_template("1.0.0", "regular"), meta({"regular": "1.0.0"}, kymaSelector=7))
    module = catalog.modules["keda"]
    assert module.channels == {}
    assert "can't be used" in module.explain_restriction(module.versions["1.0.0"], {})


def test_a_module_with_another_module_s_name_gets_the_faults_of_documents_without_a_name() -> None:
    assert "it has neither spec.moduleName" in refusal(
        catalog_of(template(module="")), "keda", channel="fast"
    )
