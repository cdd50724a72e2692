# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From the output of containers to Secrets, and what is no output (cases 3 and 8 to 11)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import ApiError
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_model import ErrandPhase
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.output import CONTAINER_LABEL

from tests.support.containers import container, is_counted, pod, pod_spec, quota
from tests.support.errands import ErrandSite, errand, output_map
from tests.support.stories import Story, story

pytestmark = pytest.mark.containers

FOLDER = "/mnt/quarks"
SECRET_WORD = "swordfish-4711"
"""A value that the containers put together, so that no object has it in the command."""
SET_WORD = "word=sword; word=${word}fish-4711"


def write(values: Mapping[str, Any], file: str = "output.json") -> str:
    """A script that writes a JSON object as the output."""
    return f"echo '{json.dumps(values)}' >{FOLDER}/{file}"


def failure(site: ErrandSite, name: str) -> tuple[str, str]:
    """The reason and the message with which the last run of an errand failed."""
    status = site.errand(name).status
    assert status.phase is ErrandPhase.FAILED, status
    assert status.run is not None
    assert status.run.outcome is not None
    return status.run.outcome.reason, status.run.outcome.message


@story
def test_output_becomes_secrets_with_keys_and_labels(site: ErrandSite) -> Story:
    """Case 3: output → Secret with its keys and labels; three files, one of them versioned → `-v1`."""
    files = {
        "output.json": {"name": "three-main", "secretLabels": {"own": "label"}},
        "second.json": {"name": "three-second", "secretAnnotations": {"own": "annotation"}},
        "third.json": {"name": "three-third", "versioned": True},
    }
    script = "; ".join(write({"file": name}, name) for name in files)
    output = {"outputMap": {"main": files}, "secretLabels": {"all": "three"}}
    site.create(errand("three", container("main", script), output=output))
    yield site.is_settled("three", runs=1)
    run = site.errand("three").status.run
    assert run is not None
    assert run.output is not None
    assert run.output.secrets == ("three-main", "three-second", "three-third-v1")
    for secret, file in zip(run.output.secrets, files, strict=True):
        assert site.secret(secret) == {"file": file}
    objects = {secret: site.secret_object(secret) or {} for secret in run.output.secrets}
    labels = {secret: one["metadata"]["labels"] for secret, one in objects.items()}
    assert labels["three-main"] == {"all": "three", "own": "label", CONTAINER_LABEL: "main"}
    assert labels["three-second"] == {"all": "three", CONTAINER_LABEL: "main"}
    assert labels["three-third-v1"]["all"] == "three"
    assert labels["three-third-v1"]["quarks.cloudfoundry.org/secret-kind"] == "versionedSecret"
    assert labels["three-third-v1"]["quarks.cloudfoundry.org/secret-version"] == "1"
    assert objects["three-second"]["metadata"]["annotations"]["own"] == "annotation"
    assert objects["three-third-v1"]["immutable"] is True
    for one in objects.values():
        assert [owner["kind"] for owner in one["metadata"]["ownerReferences"]] == ["Errand"]


NO_OUTPUT = {
    "none": ("true", "OutputMissing"),
    "not-json": (f"echo '{{\"key\": '$word >{FOLDER}/output.json", "OutputInvalid"),
    "not-a-string": (f'echo "{{\\"a\\": \\"$word\\", \\"b\\": 1}}" >{FOLDER}/output.json', "OutputInvalid"),
    "not-a-key": (f'echo "{{\\"key of $word\\": \\"\\"}}" >{FOLDER}/output.json', "OutputInvalid"),
    "too-large": (
        f'{{ printf "{{\\"key\\": \\"$word"; head -c 2097152 /dev/zero | tr "\\0" x; echo "\\"}}"; }}'
        f" >{FOLDER}/output.json",
        "OutputTooLarge",
    ),
    "sparse": (f"truncate -s 1099511627776 {FOLDER}/output.json", "OutputTooLarge"),
    "repeated": (f'echo "{{\\"a\\": \\"$word\\", \\"a\\": \\"\\"}}" >{FOLDER}/output.json', "OutputInvalid"),
    "mark": (
        f'{{ printf "\\357\\273\\277"; echo "{{\\"a\\": \\"$word\\"}}"; }} >{FOLDER}/output.json',
        "OutputInvalid",
    ),
    "symlink": (
        f'echo "{{\\"key\\": \\"$word\\"}}" >{FOLDER}/other.json; ln -s other.json {FOLDER}/output.json',
        "OutputIrregular",
    ),
    "pipe": (f"mkfifo {FOLDER}/output.json", "OutputIrregular"),
}
"""What is no output: how it is made, and the reason with which the errand fails."""


@story
def test_invalid_output_fails_with_a_reason_and_is_shown_nowhere(site: ErrandSite) -> Story:
    """Case 8: no output, invalid JSON, 2 MiB of it, a non-string value, a symlink, a FIFO → failed."""
    names = {f"no-{place}": case for place, case in NO_OUTPUT.items()}
    for name, (script, _reason) in names.items():
        main = container("main", f"{SET_WORD}; {script}")
        # A deadline far off: they all fail before it.
        site.create(errand(name, main, output=output_map(name=name), job={"activeDeadlineSeconds": 3600}))
    yield site.is_settled(*names, runs=1)
    for name, (_script, expected) in names.items():
        reason, message = failure(site, name)
        assert (name, reason) == (name, expected)
        assert "output.json" in message
        assert site.secret_object(name) is None
        yield partial(lambda name: not site.is_running(name, container="hold-main")(), name)
    texts = site.public_texts()
    assert "OutputInvalid" in texts
    assert SECRET_WORD not in texts


@story
def test_the_output_of_a_failure_is_persisted_if_that_is_requested(site: ErrandSite) -> Story:
    """Case 9: exit 137 with `writeOnFailure` → persisted, marked failed; without → nothing persisted."""
    script = f"{write({'key': 'value'})}; exit 137"
    for name, more in (("killed-written", {"writeOnFailure": True}), ("killed", {})):
        output = {**output_map(name=name), **more}
        site.create(errand(name, container("main", script), output=output))
    site.create(
        errand(
            "killed-silent",
            container("main", "exit 137"),
            output={**output_map(name="killed-silent"), "writeOnFailure": True},
        )
    )
    yield site.is_settled("killed-written", "killed", "killed-silent", runs=1)
    for name in ("killed-written", "killed", "killed-silent"):
        reason, message = failure(site, name)
        assert reason == "ContainerFailed"
        assert "137" in message
        run = site.errand(name).status.run
        assert run is not None
        assert run.outcome is not None
        assert run.outcome.exit_code == 137
    assert site.secret("killed-written") == {"key": "value"}
    assert site.errand("killed-written").status.history[0]["secrets"] == ["killed-written"]
    assert site.secret_object("killed") is None
    assert site.secret_object("killed-silent") is None
    assert "was not written" in failure(site, "killed-silent")[1]


@story
def test_fan_out_makes_a_secret_of_each_value_or_none(site: ErrandSite) -> Story:
    """Case 10: fan-out `{a, b}` → two Secrets; b invalid → none."""
    good = {"a": json.dumps({"key": "of a"}), "b": json.dumps({"key": "of b"})}
    bad = {**good, "b": json.dumps({"key": 1})}
    for name, values in (("fan", good), ("fan-bad", bad)):
        output = output_map(name=name, persistenceMethod="fan-out")
        site.create(errand(name, container("main", write(values)), output=output))
    yield site.is_settled("fan", "fan-bad", runs=1)
    assert site.secret("fan-a") == {"key": "of a"}
    assert site.secret("fan-b") == {"key": "of b"}
    assert site.secret_object("fan") is None
    reason, message = failure(site, "fan-bad")
    assert reason == "OutputInvalid"
    assert "value 2" in message
    assert site.secret_object("fan-bad-a") is None
    assert site.secret_object("fan-bad-b") is None


def injection(namespace: str, name: str) -> list[Object]:
    """A policy of the API server that adds a container to pods with the label `inject`, as Istio does.

    Args:
        namespace: of the pods.
        name: of the policy.
    """
    proxy = container("proxy", "sleep 3600")
    expression = (
        'JSONPatch{op: "add", path: "/spec/containers/-", value: Object.spec.containers{'
        f'name: "{proxy["name"]}", image: "{proxy["image"]}", command: {json.dumps(proxy["command"])}}}}}'
    )
    api = "admissionregistration.k8s.io/v1"
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    policy = {
        "apiVersion": api,
        "kind": "MutatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "failurePolicy": "Fail",
            "reinvocationPolicy": "Never",
            "matchConstraints": {
                "resourceRules": [rule],
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
                "objectSelector": {"matchLabels": {"inject": "proxy"}},
            },
            "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": f"[{expression}]"}}],
        },
    }
    binding = {
        "apiVersion": api,
        "kind": "MutatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {"policyName": name},
    }
    return [policy, binding]


@story
def test_other_containers_hinder_nothing(site: ErrandSite) -> Story:
    """Case 11: two containers, one mapped → finishes; with an injected one that never ends → finishes."""
    objects = injection(site.namespace, site.namespace)
    for one in objects:
        site.cluster.create(one)
    try:
        site.create(
            errand(
                "two",
                container("main", write({"key": "two"})),
                container("beside", "sleep 4"),
                output=output_map(name="two"),
            )
        )
        yield lambda: _is_injected(site)
        for name, script in (("injected", write({"key": "injected"})), ("injected-failing", "exit 5")):
            site.create(
                errand(
                    name,
                    container("main", script),
                    container("beside", "sleep 2"),
                    output=output_map(name=name),
                    labels={"inject": "proxy"},
                )
            )
        site.create(errand("injected-plain", container("main", "exit 0"), labels={"inject": "proxy"}))
        yield site.is_settled("two", "injected", "injected-plain", "injected-failing", runs=1)
    finally:
        for one in objects:
            site.cluster.delete(one["apiVersion"], one["kind"], one["metadata"]["name"])
    for name in ("two", "injected", "injected-plain"):
        assert site.errand(name).status.phase is ErrandPhase.SUCCEEDED, name
    assert site.secret("two") == {"key": "two"}
    assert site.secret("injected") == {"key": "injected"}
    assert failure(site, "injected-failing")[0] == "ContainerFailed"
    # Nothing else would ever end these pods.
    yield lambda: not site.jobs("injected") and not site.pods("injected")
    yield lambda: not site.jobs("injected-plain") and not site.pods("injected-plain")


def _is_injected(site: ErrandSite) -> bool:
    """Whether the API server has the policy by now: it takes a moment."""
    probe = pod("probe", site.namespace, pod_spec(container("main", "exit 0")))
    probe["metadata"]["labels"] = {"inject": "proxy"}
    try:
        made = site.cluster.create(probe, dry_run=True)
    except ApiError:
        return False
    return [one["name"] for one in made["spec"]["containers"]] == ["main", "proxy"]


@story
def test_the_termination_message_is_an_output_unless_it_may_be_cut(site: ErrandSite) -> Story:
    """Output: `from: terminationMessage` needs no exec; one of 4096 bytes is refused as `OutputTruncated`."""
    long_value = 'head -c 5000 /dev/zero | tr "\\0" x'
    scripts = {
        "message": write({"key": "value"}),
        "message-cut": f'{{ echo "{{\\"key\\": \\"$({long_value})\\"}}"; }} >{FOLDER}/output.json',
        "message-none": "true",
    }
    for name, script in scripts.items():
        output = {**output_map(name=name), "from": "terminationMessage"}
        site.create(errand(name, container("main", f"mkdir -p {FOLDER}; {script}"), output=output))
    yield site.is_settled(*scripts, runs=1)
    assert site.secret("message") == {"key": "value"}
    assert len(site.pods("message")[0]["spec"]["containers"]) == 1
    assert failure(site, "message-cut")[0] == "OutputTruncated"
    assert failure(site, "message-none")[0] == "OutputMissing"
    assert site.secret_object("message-cut") is None
    assert site.secret_object("message-none") is None


@story
def test_a_secret_of_others_is_overwritten_by_force_only(site: ErrandSite) -> Story:
    """Secrets: one that belongs to somebody else is not overwritten without force."""
    for name in ("taken", "taken-forced"):
        site.create(
            {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {"name": name},
                "stringData": {"key": "theirs"},
            }
        )
        output: Object = output_map(name=name)
        if name == "taken-forced":
            output["overwrite"] = True
        site.create(errand(name, container("main", write({"key": "ours"})), output=output))
    yield site.is_settled("taken", "taken-forced", runs=1)
    assert failure(site, "taken")[0] == "SecretTaken"
    assert site.secret("taken") == {"key": "theirs"}
    assert site.secret("taken-forced") == {"key": "ours"}


OTHER_SECRETS: dict[str, Object] = {
    "typed": {"type": "kubernetes.io/basic-auth", "stringData": {"username": "theirs"}},
    "fixed": {"immutable": True, "stringData": {"key": "theirs"}},
}
"""Secrets that no output can become: the API server refuses to change their type, or their data."""


@story
def test_a_secret_of_another_type_stays_as_it_is_also_by_force(site: ErrandSite) -> Story:
    """Secrets: one of another type, or an immutable one, is neither changed nor replaced."""
    script = f'{SET_WORD}; echo "{{\\"key\\": \\"$word\\"}}" >{FOLDER}/output.json'
    forced = {kind: f"{kind}-forced" for kind in OTHER_SECRETS}
    names = [*OTHER_SECRETS, *forced.values()]
    for kind, fields in OTHER_SECRETS.items():
        for name in (kind, forced[kind], f"{kind}-base-v1"):
            site.create({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, **fields})
    before = {name: site.secret_object(name) for name in names}
    for name in names:
        output = {**output_map(name=name), "overwrite": name not in OTHER_SECRETS}
        site.create(errand(name, container("main", script), output=output))
    bases = [f"{kind}-base" for kind in OTHER_SECRETS]
    for base in bases:
        output = output_map(name=base, versioned=True)
        site.create(errand(base, container("main", script), output=output))
    yield site.is_settled(*names, *bases, runs=1)
    assert {name: site.secret_object(name) for name in names} == before
    for kind in OTHER_SECRETS:
        assert failure(site, kind)[0] == "SecretTaken"
        reason, message = failure(site, forced[kind])
        assert reason == "SecretRefused"
        assert "immutable" in message
        # By the name alone, theirs is no version.
        assert site.secret(f"{kind}-base-v2") == {"key": SECRET_WORD}
    assert SECRET_WORD not in site.public_texts()


@story
def test_an_output_that_a_quota_refuses_is_held_until_there_is_room(site: ErrandSite) -> Story:
    """Secrets: a quota on Secrets is no end of the run. Its status says so until the quota grows."""
    namespace = f"{site.namespace}-secrets"
    site.add_namespace(namespace)
    site.create(quota(namespace, {"secrets": "1"}))
    # The API server refuses all new Secrets until the usage is known.
    yield lambda: is_counted(site.cluster, namespace)
    name, files = f"{namespace}/crowded", ("output.json", "second.json")
    script = "; ".join(write({"file": file}, file) for file in files)
    outputs = {file: {"name": f"crowded-{number}"} for number, file in enumerate(files)}
    crowded = errand("crowded", container("main", script), output={"outputMap": {"main": outputs}})
    crowded["metadata"]["namespace"] = namespace
    site.create(crowded)
    yield lambda: "exceeded quota" in site.errand(name).status.message
    assert site.errand(name).status.phase is ErrandPhase.RUNNING
    yield site.after(2)
    assert site.is_running(name, container="hold-main")()
    secrets = [f"{namespace}/crowded-{number}" for number in range(len(files))]
    assert sum(site.secret_object(one) is not None for one in secrets) == 1

    site.cluster.patch("v1", "ResourceQuota", "quota", namespace, {"spec": {"hard": {"secrets": "2"}}})
    yield site.is_settled(name, runs=1)
    status = site.errand(name).status
    assert (status.phase, status.message) == (ErrandPhase.SUCCEEDED, "")
    assert [site.secret(one) for one in secrets] == [{"file": file} for file in files]
    assert site.created_jobs(name) == {"crowded-1"}
