# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Versioned Secrets as output, and references to them (cases 4 and 5)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_model import (
    ErrandPhase,
    owner_reference,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._jobs.version_writer import VersionContent

from tests.support.containers import container, mount, pod, pod_spec
from tests.support.errands import GATE, ErrandSite, errand, output_map
from tests.support.secret_users import user_of
from tests.support.stories import Story, story

pytestmark = pytest.mark.containers

RANDOM = 'echo "{\\"key\\": \\"$(cat /proc/sys/kernel/random/uuid)\\"}" >/mnt/quarks/output.json'
"""Another output with each run."""


def create_version(
    site: ErrandSite, base: str, version: int, value: str, owner: Object | None = None
) -> None:
    """Create a version of a Secret, with one key."""
    content = VersionContent(site.namespace, base, {"key": value}, owner=owner)
    site.create(content.as_version(version))


def writing(value: str) -> Object:
    """A container whose output has one key."""
    return container("main", f'echo \'{{"key": "{value}"}}\' >/mnt/quarks/output.json')


@story
def test_new_data_make_the_next_version_and_the_same_data_none(site: ErrandSite) -> Story:
    """Case 4: versions 9 and then new data → `-v10`, v9 untouched. Same data → no new one."""
    for version in (2, 9):
        create_version(site, "counted", version, f"old {version}")
    site.create({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "counted-v30"}})
    before = site.secret_object("counted-v9")
    output = output_map(name="counted", versioned=True)
    site.create(errand("counting", writing("new"), strategy="now", output=output))
    yield site.is_settled("counting", runs=1)
    assert site.secret("counted-v10") == {"key": "new"}
    assert site.secret_object("counted-v9") == before

    site.set_strategy("counting", "now")
    yield site.is_settled("counting", runs=2)
    run = site.errand("counting").status.run
    assert run is not None
    assert run.output is not None
    assert run.output.secrets == ("counted-v10",)
    assert site.secret_object("counted-v11") is None


@story
def test_versions_that_nothing_uses_go(site: ErrandSite) -> Story:
    """Secrets: `keep` bounds how many stay; one that something refers to stays, and one of others too."""
    output = output_map(name="pruned", versioned=True, keep=1)
    site.create(errand("pruning", writing("new"), strategy="manual", output=output))
    owner = owner_reference(site.errand("pruning"))
    for version in (1, 2, 3):
        create_version(site, "pruned", version, f"old {version}", owner)
    create_version(site, "pruned", 4, "of others")
    # Of what refers to a version, the reference as it is written counts.
    user = errand("pruned-user", container("main", "true"), strategy="manual")
    pods = user["spec"]["template"]["spec"]["template"]["spec"]
    pods["volumes"] = [{"name": "used", "secret": {"secretName": "pruned-v1"}}]
    site.create(user)
    site.set_strategy("pruning", "now")
    yield site.is_settled("pruning", runs=1)
    assert site.secret("pruned-v5") == {"key": "new"}
    assert site.secret("pruned-v4") == {"key": "of others"}
    assert "delete secret pruned-v4" in site.errand("pruning").status.message
    assert site.secret_object("pruned-v1") is not None
    assert site.secret_object("pruned-v2") is None
    assert site.secret_object("pruned-v3") is None


def deployment(name: str, secret: str) -> Object:
    """A Deployment on the real node whose pods need a Secret to start."""
    main = container("main", "sleep 3600", env=variable(secret))
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": pod_spec(main, restartPolicy="Always")}
    spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec}


def is_rolled_out(site: ErrandSite, name: str) -> Callable[[], bool]:
    """Whether all pods of a Deployment are those of its template, and run."""

    def is_so() -> bool:
        live = site.cluster.get("apps/v1", "Deployment", name, site.namespace) or {}
        status = live.get("status") or {}
        counts = {status.get(field) for field in ("replicas", "updatedReplicas", "availableReplicas")}
        return counts == {1} and status["observedGeneration"] == live["metadata"]["generation"]

    return is_so


@story
def test_a_rollback_finds_the_versions_of_each_revision(site: ErrandSite) -> Story:
    """Secrets that a ReplicaSet, an Ingress or a ServiceAccount uses stay; an Event names the others."""
    output = output_map(name="site", versioned=True, keep=1)
    site.create(errand("certificates", container("main", RANDOM), strategy="now", output=output))
    yield site.is_settled("certificates", runs=1)
    site.create(deployment("web", "site-v1"))
    yield is_rolled_out(site, "web")
    yield from run_again(site, "certificates", 2)
    newer = {"spec": {"template": deployment("web", "site-v2")["spec"]["template"]}}
    site.cluster.patch("apps/v1", "Deployment", "web", site.namespace, newer)
    yield is_rolled_out(site, "web")
    site.create(user_of("Ingress", "site-v2", site.namespace))
    yield from run_again(site, "certificates", 3)
    site.create(user_of("ServiceAccount, to pull images", "site-v3", site.namespace))
    for number in (4, 5):
        yield from run_again(site, "certificates", number)
    assert versions_of(site, "site", 5) == [1, 2, 3, 5]
    status = site.object("certificates")["status"]
    assert [one.get("pruned") for one in status["history"]][:2] == [["site-v4"], None]
    shown = site.kubectl("get", "events", "--field-selector", "reason=VersionsDeleted")
    assert "Secret site-v4" in shown

    # The old ReplicaSet has no pods, and needs its version again.
    site.kubectl("rollout", "undo", "deployment/web")
    yield is_rolled_out(site, "web")


def run_again(site: ErrandSite, name: str, number: int) -> Story:
    """Run an errand another time."""
    site.set_strategy(name, "now")
    yield site.is_settled(name, runs=number)


@story
def test_a_version_of_two_errands_and_its_number_outlive_the_first(site: ErrandSite) -> Story:
    """Secrets: the same content belongs to both errands; other content is refused; no number comes back."""
    output = output_map(name="shared", versioned=True)
    site.create(errand("first", writing("same"), output=output))
    yield site.is_settled("first", runs=1)
    site.create(errand("second", writing("same"), output=output))
    site.create(errand("third", writing("other"), output=output))
    yield site.is_settled("second", "third", runs=1)
    assert _reason(site, "third") == "SecretTaken"
    site.kubectl("delete", "errand", "first", "third")

    yield lambda: owners_of(site, "shared-v1") == ["second"]
    site.kubectl("delete", "secret", "shared-v1")
    yield from run_again(site, "second", 2)
    assert site.secret("shared-v2") == {"key": "same"}
    site.kubectl("delete", "errand", "second")
    yield lambda: site.secret_object("shared-v2") is None
    site.create(errand("fourth", writing("other"), output=output))
    yield site.is_settled("fourth", runs=1)
    assert site.secret("shared-v3") == {"key": "other"}


@story
def test_two_errands_with_one_base_at_once_write_a_version_each_or_one_is_refused(site: ErrandSite) -> Story:
    """Secrets: two runs that end together write other content for one base: neither hides the other's."""
    bases = {"twins": {}, "twins-forced": {"overwrite": True}}
    names = {base: (f"{base}-a", f"{base}-b") for base in bases}
    everyone = [name for pair in names.values() for name in pair]
    for base, more in bases.items():
        for name in names[base]:
            output = {**output_map(name=base, versioned=True), **more}
            written = f'{GATE}; echo \'{{"of": "{name}"}}\' >/mnt/quarks/output.json'
            site.create(errand(name, container("main", written), output=output))
    yield site.is_running(*everyone)
    site.pause(*everyone)
    site.open_gate(*everyone)
    yield site.has_ended(*everyone)
    site.resume(*everyone)
    yield site.is_settled(*everyone, runs=1)

    reasons = {name: _reason(site, name) for name in everyone}
    assert sorted(reasons[name] for name in names["twins"]) == ["Completed", "SecretTaken"]
    [winner] = [name for name in names["twins"] if reasons[name] == "Completed"]
    assert site.secret("twins-v1") == {"of": winner}
    assert site.secret_object("twins-v2") is None
    assert [reasons[name] for name in names["twins-forced"]] == ["Completed", "Completed"]
    contents = [site.secret(f"twins-forced-v{number}") or {} for number in (1, 2)]
    assert sorted(one["of"] for one in contents) == sorted(names["twins-forced"])
    for number, content in enumerate(contents, 1):
        assert owners_of(site, f"twins-forced-v{number}") == [content["of"]]
    assert site.secret_object("twins-forced-v3") is None


def _reason(site: ErrandSite, name: str) -> str:
    run = site.errand(name).status.run
    assert run is not None
    assert run.outcome is not None
    return run.outcome.reason


def owners_of(site: ErrandSite, secret: str) -> list[str]:
    """The names of the owners of a Secret; empty also if there is none."""
    live = site.secret_object(secret) or {"metadata": {}}
    return [one["name"] for one in live["metadata"].get("ownerReferences") or ()]


@story
def test_a_version_that_a_pod_mounts_stays_until_the_pod_is_gone(site: ErrandSite) -> Story:
    """Secrets: one that a pod refers to stays, whether the pod runs, has ended, or can't start."""
    output = output_map(name="mounted", versioned=True, keep=1)
    site.create(errand("mounting", container("main", RANDOM), strategy="now", output=output))
    users = {
        "mounts": (pod_spec(container("main", "sleep 3600", volumeMounts=[mount("it", "/it")])), "Running"),
        "ended": (pod_spec(container("main", "exit 0", env=variable("mounted-v2"))), "Succeeded"),
        "waits": (pod_spec(container("main", "exit 0", env=variable("mounted-v3", "no-key"))), "Pending"),
    }
    users["mounts"][0]["volumes"] = [{"name": "it", "secret": {"secretName": "mounted-v1"}}]
    for number, (name, (spec, phase)) in enumerate(users.items(), 1):
        if number > 1:
            site.set_strategy("mounting", "now")
        yield site.is_settled("mounting", runs=number)
        site.create(pod(name, site.namespace, spec))
        yield partial(lambda name, phase: _phase_of(site, name) == phase, name, phase)
    for number in (4, 5):
        yield from run_again(site, "mounting", number)
    assert versions_of(site, "mounted", 5) == [1, 2, 3, 5]
    key = site.cluster.exec("mounts", site.namespace, ["cat", "/it/key"], container="main").stdout.decode()
    assert site.secret("mounted-v1") == {"key": key}

    for name in users:
        site.cluster.delete("v1", "Pod", name, site.namespace)
    yield lambda: not any(site.cluster.get("v1", "Pod", name, site.namespace) for name in users)
    yield from run_again(site, "mounting", 6)
    assert versions_of(site, "mounted", 6) == [6]


def variable(secret: str, key: str = "key") -> list[Object]:
    """The environment of a container with a key of a Secret."""
    return [{"name": "KEY", "valueFrom": {"secretKeyRef": {"name": secret, "key": key}}}]


def versions_of(site: ErrandSite, base: str, most: int) -> list[int]:
    """The numbers of the versions that exist, from 1 to a number."""
    return [number for number in range(1, most + 1) if site.secret_object(f"{base}-v{number}")]


def _phase_of(site: ErrandSite, name: str) -> str:
    live = site.cluster.get("v1", "Pod", name, site.namespace) or {}
    return str((live.get("status") or {}).get("phase") or "")


def reader_of(secret: str) -> tuple[list[Object], Object]:
    """Containers that refer to a Secret wherever a pod can, and the other fields of their pod.

    The last container prints the value that it finds at each place.
    """
    by_key = [{**variable(secret)[0], "name": "BY_KEY"}]
    whole = [{"prefix": "ALL_", "secretRef": {"name": secret}}]
    handed = [mount("handed", "/handed")]
    init = container(
        "init", 'echo "$BY_KEY $ALL_key" >/handed/init', env=by_key, envFrom=whole, volumeMounts=handed
    )
    values = '"$BY_KEY $ALL_key $(cat /whole/key) $(cat /projected/key) $(cat /handed/init)"'
    main = container(
        "main",
        f'printf \'{{"found": "%s"}}\' {values} >/mnt/quarks/output.json',
        env=by_key,
        envFrom=whole,
        volumeMounts=[mount("whole", "/whole"), mount("projected", "/projected"), *handed],
    )
    volumes = [
        {"name": "whole", "secret": {"secretName": secret}},
        {"name": "projected", "projected": {"sources": [{"secret": {"name": secret}}]}},
        {"name": "handed", "emptyDir": {}},
    ]
    more = {"initContainers": [init], "volumes": volumes, "imagePullSecrets": [{"name": secret}]}
    return [main], more


@story
def test_references_lead_to_the_newest_version_in_every_place(site: ErrandSite) -> Story:
    """Case 5: reference to `x-v1` with v3 there → v3 in every place; `xx-v2` appears → nothing runs."""
    for version in (1, 3):
        create_version(site, "x", version, f"of-v{version}")
    containers, more = reader_of("x-v1")
    output = output_map(name="x-found")
    site.create(errand("newest", *containers, output=output, reruns=True, **more))
    yield site.is_settled("newest", runs=1)
    assert site.secret("x-found") == {"found": " ".join(["of-v3"] * 6)}
    [newest] = site.pods("newest")
    assert newest["spec"]["imagePullSecrets"] == [{"name": "x-v3"}]

    create_version(site, "xx", 2, "another base")
    site.create({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x-v9"}})
    create_version(site, "x", 2, "an older one")
    yield site.after(2)
    yield site.is_settled("newest", runs=1)

    create_version(site, "x", 4, "of-v4")
    yield site.is_settled("newest", runs=2)
    assert site.secret("x-found") == {"found": " ".join(["of-v4"] * 6)}
    assert site.errand("newest").status.phase is ErrandPhase.SUCCEEDED
