# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Versioned Secrets as output, and references to them (cases 4 and 5)."""

from __future__ import annotations

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_model import (
    ErrandPhase,
    owner_reference,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._jobs.version_writer import VersionContent

from tests.support.containers import container, mount
from tests.support.errands import ErrandSite, errand, output_map
from tests.support.stories import Story, story

pytestmark = pytest.mark.containers


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


def reader_of(secret: str) -> tuple[list[Object], Object]:
    """Containers that refer to a Secret wherever a pod can, and the other fields of their pod.

    The last container prints the value that it finds at each place.
    """
    by_key = [{"name": "BY_KEY", "valueFrom": {"secretKeyRef": {"name": secret, "key": "key"}}}]
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
    [pod] = site.pods("newest")
    assert pod["spec"]["imagePullSecrets"] == [{"name": "x-v3"}]

    create_version(site, "xx", 2, "another base")
    site.create({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x-v9"}})
    create_version(site, "x", 2, "an older one")
    yield site.after(2)
    yield site.is_settled("newest", runs=1)

    create_version(site, "x", 4, "of-v4")
    yield site.is_settled("newest", runs=2)
    assert site.secret("x-found") == {"found": " ".join(["of-v4"] * 6)}
    assert site.errand("newest").status.phase is ErrandPhase.SUCCEEDED
