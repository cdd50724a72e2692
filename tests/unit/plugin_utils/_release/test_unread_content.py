# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What has not changed is neither read nor rendered; whatever it is rendered from counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.bundle import read_bundle_file
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import Release, ReleaseRequest
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.release_error import ReleaseError
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.materials import ControllerMaterials
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.cache import ReleaseCache
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.loader import (
    is_read_except,
    load_component,
    load_crds,
    load_release,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.unread_content import unread_files

from tests.unit.conftest import Write
from tests.unit.plugin_utils._release.test_helm import CHECKOUT

OBJECT = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n"
PASSWORD = (
    "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: {{ randAlphaNum 20 | quote }}}\n"
)
RELEASE = {
    "components.yaml": "components:\n- name: a\n- name: b\n",
    "a/m.yaml": OBJECT,
    "b/m.yaml": OBJECT + "data: {b: c}\n",
    "crds/c/m.yaml": OBJECT,
}


def sources(release: Release) -> dict[str, str]:
    return {name: content.source_hash for name, content in release.content.items()}


def read(release: Release) -> set[str]:
    return {name for name, content in release.content.items() if content.is_read}


def test_content_with_an_unchanged_source_is_not_read(write: Write) -> None:
    request = ReleaseRequest(str(write(RELEASE)))
    before = load_release(request)
    assert read(before) == {"a", "b"}
    write({"b/m.yaml": OBJECT})
    after = load_release(request, sources(before))
    assert read(after) == {"b"}
    assert not after.crds.is_read
    assert after.content["b"].objects != before.content["b"].objects
    assert after.content["a"] == replace(before.content["a"], objects=(), is_read=False)
    assert load_component(request, "a").objects == before.content["a"].objects
    assert load_crds(request).objects == before.crds.objects


def test_broken_content_counts_as_changed_and_is_reported(write: Write) -> None:
    request = ReleaseRequest(str(write(RELEASE)))
    before = load_release(request)
    write({"a/m.yaml": "kind: [", "b/m.yaml": "kind: ["})
    with pytest.raises(ReleaseError) as caught:
        load_release(request, sources(before))
    assert len(caught.value.problems) == 2


def test_more_is_read_when_it_is_wanted_and_what_was_read_stays(write: Write) -> None:
    request = ReleaseRequest(str(write(RELEASE)))
    whole = load_release(request)
    skip = {"a": whole.content["a"].source_hash}
    part = load_release(request, skip)
    assert read(part) == {"b"}
    assert is_read_except(part, skip)
    assert is_read_except(part, sources(whole))
    assert not is_read_except(part, {})
    assert not is_read_except(part, {"b": whole.content["b"].source_hash})
    assert load_release(request, {}, part) == whole
    assert is_read_except(whole, {})


def test_warnings_stay_after_another_read_and_are_not_repeated(write: Write) -> None:
    twice = OBJECT + "data: {b: c}\ndata: {b: d}\n"
    request = ReleaseRequest(str(write({**RELEASE, "a/m.yaml": twice, "b/m.yaml": twice})))
    whole = load_release(request)
    assert len(whole.warnings) == 2
    part = load_release(request, {"a": whole.content["a"].source_hash})
    assert len(part.warnings) == 1
    assert set(load_release(request, {}, part).warnings) == set(whole.warnings)
    assert load_release(request, {}, whole).warnings == whole.warnings


@pytest.mark.parametrize(
    ("change", "changed"),
    [
        ({"a/m.yaml": OBJECT + "x: y\n"}, {"a"}),
        ({"a/n.yaml": OBJECT}, {"a"}),
        ({"crds/c/m.yaml": OBJECT + "x: y\n"}, {"crds"}),
        ({"components.yaml": "components:\n- name: b\n- name: a\n  namespace: other\n"}, set()),
    ],
)
def test_the_source_of_manifests_is_their_files(
    write: Write, change: Mapping[str, str], changed: set[str]
) -> None:
    request = ReleaseRequest(str(write(RELEASE)))
    before = load_release(request)
    write(change)
    after = load_release(request)
    differing = {name for name, source in sources(after).items() if source != sources(before)[name]}
    assert differing | ({"crds"} if after.crds.source_hash != before.crds.source_hash else set()) == changed


FIRST, SECOND = {"first"}, {"second"}


@pytest.mark.parametrize(
    ("change", "options", "changed"),
    [
        ({"resources/second/templates/seen.yaml": OBJECT}, {}, SECOND),
        (
            {"resources/second/values.yaml": "size: 7\ntier: x\nannotations: {}\nglobal: {domain: a}\n"},
            {},
            SECOND,
        ),
        ({"resources/second/charts/sub/templates/sub.yaml": OBJECT}, {}, SECOND),
        ({"resources/second/profile-production.yaml": "size: 4\n"}, {}, SECOND),
        ({"resources/README.md": "other"}, {}, set()),
        ({"installation/resources/crds/second/as.yaml": OBJECT}, {}, FIRST | SECOND),
        ({}, {"overrides": ("second.size=9",)}, SECOND),
        ({}, {"overrides": ("global.domain=x",)}, FIRST | SECOND),
        ({}, {"profile": "evaluation"}, SECOND),
    ],
)
def test_the_source_of_a_chart_is_all_that_helm_looks_at(
    write: Write, helm: str, change: Mapping[str, str], options: Mapping[str, Any], changed: set[str]
) -> None:
    request = ReleaseRequest(str(write(CHECKOUT)), profile="production", helm_binary=helm)
    before = sources(load_release(request))
    write(change)
    after = sources(load_release(replace(request, **options)))
    assert {name for name, source in after.items() if source != before[name]} == changed


def test_a_chart_that_has_not_changed_is_not_rendered(write: Write, helm: str, tmp_path: Path) -> None:
    root = write({**CHECKOUT, "resources/first/templates/password.yaml": PASSWORD})
    counting = tmp_path / "helm"
    counting.write_text(f'#!/bin/sh\necho "$1" "$2" >> {tmp_path}/calls\nexec {helm} "$@"\n')
    counting.chmod(0o755)
    request = ReleaseRequest(str(root), profile="production", helm_binary=str(counting))
    before = load_release(request)
    (tmp_path / "calls").unlink()
    write({"resources/second/templates/seen.yaml": OBJECT})
    after = load_release(request, sources(before))
    assert read(after) == {"second"}
    assert (tmp_path / "calls").read_text().splitlines() == ["template second"]


def test_random_values_are_those_of_the_first_rendering(write: Write, helm: str) -> None:
    root = write({**CHECKOUT, "resources/first/templates/password.yaml": PASSWORD})
    request = ReleaseRequest(str(root), helm_binary=helm)
    there = load_release(request, {"second": load_release(request).content["second"].source_hash})
    assert read(there) == {"first"}
    again = load_release(request, {}, there)
    assert read(again) == {"first", "second"}
    assert again.content["first"].objects == there.content["first"].objects
    assert load_release(request).content["first"].objects != there.content["first"].objects


@pytest.mark.usefixtures("kubectl")
def test_the_source_of_a_kustomization_is_unknown(write: Write) -> None:
    root = write({**RELEASE, "a/kustomization.yaml": "resources: [m.yaml]\n"})
    before = load_release(ReleaseRequest(str(root)))
    assert before.content["a"].source_hash == ""
    assert before.content["a"].has_namespaces
    assert read(load_release(ReleaseRequest(str(root)), sources(before))) == {"a"}


@pytest.mark.parametrize(
    ("text", "may_have"),
    [
        ("kind: Namespace", True),
        ('{"kind":"Namespace"}', True),
        ("kind: 'Namespace'", True),
        ("kind:\n  Namespace", True),
        ("kind: !!str Namespace", True),
        ("kind: &kind Namespace", True),
        ("kind: *kind", True),
        ("kind: {{ .Values.kind }}", True),
        ("kind: NamespaceQuota", False),
        ("kind: ConfigMap # Namespace", False),
        ("description: the Namespace of its kind", False),
    ],
)
def test_possible_namespaces_are_detected_without_reading(write: Write, text: str, may_have: bool) -> None:
    root = write({"a.yaml": f"apiVersion: v1\n{text}\n"})
    assert unread_files([root / "a.yaml"], root).has_namespaces is may_have


class TestMaterials:
    """The controller's, which keep what was read for the tasks of a run."""

    @pytest.fixture
    def cache(self, tmp_path: Path) -> ReleaseCache:
        (tmp_path / "cache").mkdir()
        return ReleaseCache(tmp_path / "cache", print)

    def test_skipped_content_is_read_on_access(self, write: Write, cache: ReleaseCache) -> None:
        request = ReleaseRequest(str(write(RELEASE)))
        whole = load_release(request)
        materials = ControllerMaterials(request, bundles=cache)
        part = materials.release(sources(whole))
        assert read(part) == set()
        assert list(part.content["a"].objects) == list(whole.content["a"].objects)
        assert list(part.crds.objects) == list(whole.crds.objects)
        assert list(materials.content("b")) == list(whole.content["b"].objects)

    @pytest.mark.parametrize("with_cache", [True, False])
    def test_a_later_task_gets_more_where_it_wants_more(
        self, write: Write, cache: ReleaseCache, with_cache: bool
    ) -> None:
        request = ReleaseRequest(str(write(RELEASE)))
        whole = load_release(request)
        bundles = cache if with_cache else None
        materials = ControllerMaterials(request, bundles=bundles)
        assert read(materials.release({"a": whole.content["a"].source_hash})) == {"b"}
        assert materials.release() == whole
        assert materials.release({"a": whole.content["a"].source_hash}) == whole
        assert ControllerMaterials(request, bundles=bundles).release() == whole

    def test_the_bundle_for_another_host_is_complete(self, write: Write, cache: ReleaseCache) -> None:
        request = ReleaseRequest(str(write(RELEASE)))
        whole = load_release(request)
        materials = ControllerMaterials(request, bundles=cache)
        materials.release(sources(whole))
        assert read_bundle_file(materials.release_bundle()) == whole
