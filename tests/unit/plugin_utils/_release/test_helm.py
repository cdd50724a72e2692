# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Charts, rendered by the real helm binary; a Kyma 2.x checkout as it is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import Release, ReleaseRequest
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.release_error import ReleaseError
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release import helm as helm_output
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.fingerprint import fingerprint
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.helm import explain_helm_error
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.loader import load_release

from tests.cluster.paths import IS_OLDEST
from tests.cluster.programs import OLDEST_HELM
from tests.unit.conftest import Write

CHART = "apiVersion: v2\nname: {name}\nversion: 0.1.0\n"
CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: as.x.io
spec:
  group: x.io
  names: {kind: A, plural: as}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true}]
"""
SEEN = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-seen
data:
  namespace: {{ .Release.Namespace }}
  size: {{ .Values.size | quote }}
  tier: {{ .Values.tier | quote }}
  domain: {{ .Values.global.domain | quote }}
  annotations: {{ .Values.annotations | toJson | quote }}
  knows: {{ .Capabilities.APIVersions.Has "x.io/v1/A" | quote }}
"""
HOOK = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: {name}
  annotations:
    "helm.sh/hook": {hook}
"""
CHECKOUT = {
    "installation/resources/components.yaml": (
        "defaultNamespace: kyma-system\nprerequisites:\n- name: first\n  namespace: istio-system\n"
        "components:\n- name: second\n"
    ),
    "installation/resources/crds/second/as.yaml": CRD,
    "resources/README.md": "no chart",
    "resources/first/Chart.yaml": CHART.format(name="first"),
    "resources/first/values.yaml": "size: 1\ntier: plain\nannotations: {}\nglobal: {domain: none}\n",
    "resources/first/templates/seen.yaml": SEEN,
    "resources/second/Chart.yaml": CHART.format(name="second-chart"),
    "resources/second/values.yaml": "size: 1\ntier: plain\nannotations: {}\nglobal: {domain: none}\n",
    "resources/second/profile-production.yaml": "size: 3\ntier: gold\n",
    "resources/second/evaluation.yaml": "tier: clay\n",
    "resources/second/templates/seen.yaml": SEEN,
    "resources/second/templates/hook.yaml": HOOK.format(name="migrate", hook="pre-upgrade,pre-install"),
    "resources/second/templates/tests/test.yaml": HOOK.format(name="try", hook="test-success"),
    "resources/second/templates/NOTES.txt": "hello",
    "resources/second/crds/bs.yaml": CRD.replace("as", "bs").replace("kind: A", "kind: B"),
    "resources/second/charts/sub/Chart.yaml": CHART.format(name="sub"),
    "resources/second/charts/sub/templates/sub.yaml": (
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: sub\nstringData: {a: b}\n"
    ),
    "docs/second/m.yaml": "not: ours",
}


def load(root: Path, helm: str, profile: str = "", **request: Any) -> Release:
    return load_release(ReleaseRequest(str(root), profile=profile, helm_binary=helm, **request))


def seen(release: Release, component: str = "second") -> dict[str, str]:
    return next(
        obj["data"]
        for obj in release.content[component].objects
        if obj["metadata"]["name"] == f"{component}-seen"
    )


def refused(root: Path, helm: str, **request: Any) -> str:
    with pytest.raises(ReleaseError) as caught:
        load(root, helm, **request)
    return str(caught.value).replace(str(root), "R")


def test_a_checkout_as_it_is(write: Write, helm: str) -> None:
    release = load(write(CHECKOUT), helm)
    assert [(entry.name, entry.namespace) for entry in release.components] == [
        ("first", "istio-system"),
        ("second", "kyma-system"),
    ]
    assert [obj["metadata"]["name"] for obj in release.crds.objects] == ["as.x.io"]
    assert sorted(obj["metadata"]["name"] for obj in release.content["second"].objects) == [
        "bs.x.io",
        "second-seen",
        "sub",
    ]
    assert release.content["second"].hooks == ("Job migrate (pre-upgrade, pre-install)",)
    assert seen(release, "first")["namespace"] == "istio-system"
    assert (release.version, release.profile, release.warnings) == ("2.9", "", ())


def test_profiles_are_values_of_charts(write: Write, helm: str) -> None:
    root = write(CHECKOUT)
    assert (seen(load(root, helm))["size"], seen(load(root, helm))["tier"]) == ("1", "plain")
    production = load(root, helm, "production")
    assert (seen(production)["size"], seen(production)["tier"]) == ("3", "gold")
    assert seen(production, "first")["tier"] == "plain"
    assert seen(load(root, helm, "evaluation"))["tier"] == "clay"
    assert refused(root, helm, profile="staging") == (
        "R: the release has no profile 'staging': there are evaluation, production"
    )


def test_a_profile_that_only_a_chart_at_a_source_has(write: Write, helm: str) -> None:
    moved = {
        name.replace("resources/second/", "charts/second/"): text
        for name, text in CHECKOUT.items()
        if name.startswith("resources/second/")
    }
    root = write(
        {"components.yaml": "components:\n- {name: second, source: charts/second}\n", "crds/as.yaml": CRD}
        | moved
    )
    assert seen(load(root, helm, "production"))["tier"] == "gold"
    assert refused(root, helm, profile="charts") == (
        "R: the release has no profile 'charts': there are evaluation, production"
    )


def test_later_values_win(write: Write, helm: str, tmp_path: Path) -> None:
    root = write(CHECKOUT)
    one, two = tmp_path / "1.yaml", tmp_path / "2.yaml"
    one.write_text("second: {size: 5, tier: one}\nglobal: {domain: one}\n")
    two.write_text("second: {tier: two}\n")
    release = load(root, helm, "production", values_files=(str(one), str(two)))
    assert (seen(release)["size"], seen(release)["tier"], seen(release)["domain"]) == ("5", "two", "one")
    assert seen(release, "first")["domain"] == "one"
    overridden = load(
        root,
        helm,
        values_files=(str(one),),
        overrides=("second.tier=a,b={c}", r"second.annotations.istio\.io/x=y", "global.domain=two"),
    )
    assert seen(overridden)["tier"] == "a,b={c}"
    assert seen(overridden)["annotations"] == '{"istio.io/x":"y"}'
    assert seen(overridden, "first")["domain"] == "two"


def test_charts_know_the_release_s_own_crds(write: Write, helm: str) -> None:
    assert seen(load(write(CHECKOUT), helm))["knows"] == "true"


def test_no_cluster_and_no_setting_of_the_user_is_near(
    write: Write, helm: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    log = tmp_path / "environment"
    spy = tmp_path / "helm"
    spy.write_text(f'#!/bin/sh\nenv >> "{log}"\nexec "{helm}" "$@"\n')
    spy.chmod(0o755)
    monkeypatch.setenv("KUBECONFIG", "/some/kubeconfig")
    monkeypatch.setenv("HELM_NAMESPACE", "somewhere")
    monkeypatch.setenv("HELM_PLUGINS", "/some/plugins")
    load(write(CHECKOUT), str(spy))
    environment = log.read_text()
    assert "KUBECONFIG" not in environment
    assert "HELM_NAMESPACE" not in environment
    assert "HELM_PLUGINS" not in environment
    assert f"HOME={os.environ['HOME']}\n" not in environment


def test_no_value_is_on_a_command_line(write: Write, helm: str, tmp_path: Path) -> None:
    log = tmp_path / "arguments"
    spy = tmp_path / "helm"
    spy.write_text(f'#!/bin/sh\necho "$@" >> "{log}"\nexec "{helm}" "$@"\n')
    spy.chmod(0o755)
    release = load(write(CHECKOUT), str(spy), overrides=("second.tier=hunter2",))
    assert seen(release)["tier"] == "hunter2"
    assert "hunter2" not in log.read_text()


def test_an_error_in_a_template_names_its_line(write: Write, helm: str) -> None:
    root = write(CHECKOUT)
    write({"resources/first/templates/bad.yaml": 'a: 1\nb: {{ required "give a size" .Values.nothing }}\n'})
    write({"resources/second/templates/bad.yaml": "a: 1\n\nb: {{ if }}\n"})
    message = refused(root, helm)
    assert "- R/resources/first/templates/bad.yaml:2:6: Helm can't render the chart: " in message
    assert "give a size" in message
    assert "- R/resources/second/templates/bad.yaml:3: Helm can't render the chart: " in message


def test_an_error_within_a_helper_names_the_innermost_line(write: Write, helm: str) -> None:
    root = write(CHECKOUT)
    write({"resources/first/templates/_h.tpl": '\n{{ define "h" }}{{ .Values.no.such.value }}{{ end }}'})
    write({"resources/first/templates/bad.yaml": 'a: {{ include "h" . }}\n'})
    write({"resources/second/templates/bad.yaml": "a: 1\nb: {{ .Values.no.such.value }}\n"})
    message = refused(root, helm)
    assert "- R/resources/first/templates/_h.tpl:2:" in message
    assert "- R/resources/second/templates/bad.yaml:2:" in message


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("values.schema.json", '{"properties": {"password": {"type": "string", "pattern": "^[0-9]+$"}}}'),
        ("templates/strict.yaml", '{{ fail (printf "no good password: %s" .Values.password) }}'),
    ],
)
def test_errors_of_helm_have_no_value_of_the_user(write: Write, helm: str, file: str, text: str) -> None:
    root = write({**CHECKOUT, f"resources/second/{file}": text})
    message = refused(root, helm, overrides=("second.password=canary-7c1e55",))
    assert "password" in message
    assert "canary" not in message


def test_a_missing_dependency_names_what_to_run(write: Write, helm: str) -> None:
    root = write(CHECKOUT)
    write(
        {
            "resources/first/Chart.yaml": CHART.format(name="first")
            + "dependencies:\n- name: gone\n  version: 1.0.0\n  repository: https://charts.example.com\n"
        }
    )
    message = refused(root, helm)
    assert "gone" in message
    assert "\nRun: helm dependency build R/resources/first (or " in message


def test_a_manifest_that_is_no_object_names_its_template(write: Write, helm: str) -> None:
    root = write(CHECKOUT)
    write({"resources/second/templates/odd.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {}\n"})
    assert refused(root, helm) == "R/resources/second/templates/odd.yaml: the Secret has no metadata.name"


def test_random_values_are_a_warning(write: Write, helm: str) -> None:
    root = write(CHECKOUT)
    write(
        {
            "resources/first/templates/secret.yaml": "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\n"
            "stringData:\n  password: {{ randAlphaNum 20 }}\n",
            "resources/second/templates/unused.tpl": "{{ define `unused` }}{{ randAlphaNum 5 }}{{ end }}",
        }
    )
    (warning,) = load(root, helm).warnings
    assert warning.startswith("the chart of first gives new random values at each rendering to Secret s: ")


def test_a_missing_helm_is_reported(write: Write, helm: str, tmp_path: Path) -> None:
    root = write(CHECKOUT)
    message = refused(root, str(tmp_path / "no-helm"))
    assert message.startswith(f"the release has Helm charts, and {tmp_path}/no-helm can't be run: ")
    assert "install Helm 3 or 4, or name its binary in helm_binary (kyma_helm_binary)" in message
    assert fingerprint(ReleaseRequest(str(root), helm_binary=str(tmp_path / "no-helm"))) != fingerprint(
        ReleaseRequest(str(root), helm_binary=helm)
    )


def test_an_old_helm_is_refused(write: Write, tmp_path: Path) -> None:
    old = tmp_path / "helm2"
    old.write_text("#!/bin/sh\necho v2.17.0\n")
    old.chmod(0o755)
    assert refused(write(CHECKOUT), str(old)).endswith(
        "is Helm v2.17.0, and Helm charts need version 3 or 4: install Helm 3 or 4, or name its binary in"
        " helm_binary (kyma_helm_binary)"
    )


def test_the_oldest_helm_is_one_of_the_oldest_supported_major_version(helm: str) -> None:
    major = OLDEST_HELM.version_of("helm").partition(".")[0]
    assert helm_output.helm_version(helm).startswith(f"{major}." if IS_OLDEST else "v")


def test_another_helm_is_another_fingerprint(write: Write, tmp_path: Path) -> None:
    root = write(CHECKOUT)
    fingerprints = set()
    for version in ("v3.18.0", "v4.0.0"):
        binary = tmp_path / version
        binary.write_text(f"#!/bin/sh\necho {version}\n")
        binary.chmod(0o755)
        fingerprints.add(fingerprint(ReleaseRequest(str(root), helm_binary=str(binary))))
    assert len(fingerprints) == 2


@pytest.mark.parametrize(
    ("said", "place"),
    [
        ("Error: parse error at (ory/templates/x.yaml:12): unclosed action", ("C/templates/x.yaml", 12, 0)),
        (
            "Error: execution error at (ory/charts/hydra/templates/s.yaml:16:20): empty",
            ("C/charts/hydra/templates/s.yaml", 16, 20),
        ),
        (
            "Error: template: a/templates/x.yaml:3:5: executing ... at <include>: error calling include: "
            "template: a/templates/_h.tpl:9:3: executing",
            ("C/templates/_h.tpl", 9, 3),
        ),
        (
            "Error: YAML parse error on ory/templates/x.yaml: error converting YAML: yaml: line 4: bad"
            "\n\nUse --debug flag to render out invalid YAML",
            ("C/templates/x.yaml", 0, 0),
        ),
        (
            'Error: a/templates/x.yaml:1:13\n  executing "a/templates/x.yaml" at <.b.c>:\n    nil pointer',
            ("C/templates/x.yaml", 1, 13),
        ),
        (
            'Error: template: a/templates/x.yaml:1:6: executing "a/templates/x.yaml" at <include>: no b',
            ("C/templates/x.yaml", 1, 6),
        ),
        (
            'Error: a/templates/x.yaml:1:6\n  executing "a/templates/x.yaml" at <include "a/templates/y">:\n'
            '    error calling:\na/templates/_h.tpl:9:28\n  executing "a/templates/y" at <.q>:\n    nil',
            ("C/templates/_h.tpl", 9, 28),
        ),
        ('Error: can\'t read "a/templates/x.yaml"', ("C/templates/x.yaml", 0, 0)),
        ("Error: Chart.yaml file is missing", ("C", 0, 0)),
    ],
)
def test_errors_of_helm_name_their_file_and_line(said: str, place: tuple[str, int, int]) -> None:
    *location, message = explain_helm_error(said, "C")
    assert tuple(location) == place
    assert message.startswith("Helm can't render the chart: ")
    assert "--debug" not in message


def test_a_long_error_of_a_chart_is_explained_at_once() -> None:
    """A chart may fail with any text; it would take minutes if a place were searched from each letter on."""
    said = f"Error: execution error at (a/templates/x.yaml:3:4): {'a-' * 100_000}"
    assert explain_helm_error(said, "C")[:3] == ("C/templates/x.yaml", 3, 4)


class _CountedText(str):
    """A text that records how much of it is searched for ends of lines."""

    searched = 0

    def count(self, sub: str, start: Any = 0, end: Any = None) -> int:
        _CountedText.searched += (len(self) if end is None else end) - start
        return super().count(sub, start, end)


def test_the_templates_of_many_objects_are_found_in_one_pass() -> None:
    object_lines = "---\n# Source: c/templates/{}.yaml\nkind: A\n"
    text = _CountedText("".join(object_lines.format(number) for number in range(1000)))
    place = helm_output._places(text, "C")
    assert _CountedText.searched <= len(text)
    assert [place(line)[0] for line in (1, 2, 4, 5, 3000)] == [
        "C",
        *(f"C/templates/{number}.yaml" for number in (0, 0, 1, 999)),
    ]
