# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects of errands: found by errand, the newest form of each, and whom a change concerns."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_index import (
    CONFIG_MAP,
    ERRAND,
    JOB,
    POD,
    SECRET,
    ErrandIndex,
    is_output_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_model import (
    ERRAND_LABEL,
    ErrandKey,
    errand_from,
    label_value,
)

from tests.support.played_errands import NAMESPACE, container, errand_object, one_file, reading

APP = ErrandKey(NAMESPACE, "app")
READS = [reading(("ConfigMap", "config"), ("Secret", "x-v1"))]
VERSIONED = {"quarks.cloudfoundry.org/secret-kind": "versionedSecret"}


def errand(name: str = "app", version: int = 1, uid: str = "", **fields: Any) -> Object:
    """An errand as the server has it."""
    obj = errand_object(name, **fields)
    obj["metadata"] |= {"uid": uid or name, "resourceVersion": str(version)}
    return obj


def thing(name: str, version: int = 1, uid: str = "", **labels: str) -> Object:
    """Any other object."""
    meta = {"name": name, "namespace": NAMESPACE, "uid": uid or name, "resourceVersion": str(version)}
    return {"metadata": {**meta, "labels": labels}}


def owned(name: str, owner: str = "app", version: int = 1, uid: str = "") -> Object:
    """A Job or a pod of an errand."""
    return thing(name, version, uid, **{ERRAND_LABEL: label_value(owner)})


@pytest.fixture
def index() -> ErrandIndex:
    """One with an errand that reads a ConfigMap and a version."""
    errand_index = ErrandIndex()
    assert errand_index.put(ERRAND, errand(containers=READS)) == {APP}
    return errand_index


def test_an_older_form_of_an_object_is_not_taken(index: ErrandIndex) -> None:
    assert index.put(ERRAND, errand(version=10, strategy="manual")) == {APP}
    assert index.put(ERRAND, errand(version=9)) == set()
    assert index.errand(APP).spec.strategy == "manual"
    # Another object of the same name is taken, as versions of different objects say nothing.
    assert index.put(ERRAND, errand(version=3, uid="new")) == {APP}
    index.put(ERRAND, errand(version=11, uid="new", containers=READS))
    for kind, put in ((JOB, owned("app-1", version=10)), (CONFIG_MAP, thing("config", 10))):
        assert index.put(kind, put) == {APP}
        assert index.put(kind, {"metadata": {**put["metadata"], "resourceVersion": "9"}}) == set()


def test_the_answer_to_a_write_does_not_bring_a_deleted_errand_back(index: ErrandIndex) -> None:
    index.update_errand(errand(version=2, strategy="manual"))
    assert index.errand(APP).spec.strategy == "manual"
    index.discard(ERRAND, errand(version=3))
    index.update_errand(errand(version=2, strategy="manual"))
    assert index.errand(APP) is None
    index.put(ERRAND, errand(version=4, uid="new"))
    index.update_errand(errand(version=2))
    assert index.errand(APP).uid == "new"


def test_a_change_concerns_the_errands_that_refer_to_it(index: ErrandIndex) -> None:
    assert index.put(CONFIG_MAP, thing("config")) == {APP}
    assert index.put(CONFIG_MAP, thing("other")) == set()
    assert index.put(SECRET, thing("config")) == set()
    assert index.put(SECRET, thing("x-v7", **VERSIONED)) == {APP}
    assert index.put(SECRET, thing("xx-v2", **VERSIONED)) == set()
    assert index.discard(CONFIG_MAP, thing("config")) == {APP}
    assert index.mark("ConfigMap", NAMESPACE, "config") is None
    # It no longer refers to anything.
    index.put(ERRAND, errand(version=2))
    assert index.put(CONFIG_MAP, thing("config", 5)) == set()


def test_versions_are_those_with_the_label(index: ErrandIndex) -> None:
    index.put(SECRET, thing("x-v7", **VERSIONED))
    index.put(SECRET, thing("x-v8"))
    assert [one.version for one in index.versions(NAMESPACE, "x")] == [7]
    # Somebody takes the label away, or the Secret.
    index.put(SECRET, thing("x-v7", 2))
    assert index.versions(NAMESPACE, "x") == []
    index.put(SECRET, thing("x-v7", 3, **VERSIONED))
    index.discard(SECRET, thing("x-v7"))
    assert index.versions(NAMESPACE, "x") == []


def test_jobs_and_pods_belong_to_the_errand_that_their_label_names(index: ErrandIndex) -> None:
    app, other = (errand_from(errand(name)) for name in ("app", "other"))
    index.put(ERRAND, errand("other"))
    assert index.put(JOB, owned("b")) == {APP}
    assert index.put(JOB, owned("a")) == {APP}
    assert index.put(POD, owned("p", "unknown")) == set()
    assert [one["metadata"]["name"] for one in index.owned(JOB, app.key)] == ["a", "b"]
    # Its label changes.
    assert index.put(JOB, owned("b", "other", version=2)) == {ErrandKey(NAMESPACE, "other"), APP}
    assert [one["metadata"]["name"] for one in index.owned(JOB, app.key)] == ["a"]
    assert index.discard(JOB, owned("b", "other")) == {ErrandKey(NAMESPACE, "other")}
    assert (len(index.owned(JOB, app.key)), index.owned(JOB, other.key)) == (1, [])


def test_the_end_of_an_object_is_not_that_of_the_next_of_its_name(index: ErrandIndex) -> None:
    index.put(JOB, owned("app-1", uid="old"))
    index.put(JOB, owned("app-1", uid="new"))
    index.discard(JOB, owned("app-1", uid="old"))
    assert len(index.owned(JOB, errand_from(errand()).key)) == 1
    index.discard(JOB, {"metadata": {"name": "app-1", "namespace": NAMESPACE}})
    assert index.owned(JOB, errand_from(errand()).key) == []
    index.put(ERRAND, errand(uid="new"))
    index.discard(ERRAND, errand(uid="app"))
    assert index.keys() == [APP]
    index.discard(ERRAND, errand(uid="new"))
    assert index.keys() == []


def writer(name: str, reads: str, **more: Any) -> Object:
    """An errand that reads the versions of another one, and writes some of its own."""
    main = container(envFrom=[{"secretRef": {"name": f"{reads}-v1", "optional": True}}])
    return errand(name, containers=[main], output=one_file(name, versioned=True), **more)


@pytest.mark.parametrize(
    ("errands", "expected"),
    [
        ([writer("a", "b", reruns=True), writer("b", "a", reruns=True)], ("a", "b")),
        ([writer("a", "a", reruns=True)], ("a",)),
        (
            [writer("a", "c", reruns=True), writer("b", "a", reruns=True), writer("c", "b", reruns=True)],
            ("a", "b", "c"),
        ),
        ([writer("a", "b", reruns=True), writer("b", "a")], ()),
        ([writer("a", "b"), writer("b", "a", reruns=True)], ()),
        ([writer("a", "x", reruns=True), writer("b", "a", reruns=True)], ()),
        # A circle that does not go through it.
        ([writer("a", "b", reruns=True), writer("b", "c", reruns=True), writer("c", "b", reruns=True)], ()),
    ],
)
def test_errands_that_run_one_another_for_ever(errands: list[Object], expected: tuple[str, ...]) -> None:
    index = ErrandIndex()
    for one in errands:
        index.put(ERRAND, one)
    assert index.cycle(errand_from(errands[0])) == expected


@pytest.mark.parametrize(
    ("secret", "entry", "expected"),
    [
        ("result", {}, True),
        ("result-v1", {}, False),
        ("result-v1", {"versioned": True}, True),
        ("result", {"versioned": True}, False),
        ("results-v1", {"versioned": True}, False),
        ("result-a", {"persistenceMethod": "fan-out"}, True),
        ("result-a-v3", {"persistenceMethod": "fan-out", "versioned": True}, True),
        ("result-a", {"persistenceMethod": "fan-out", "versioned": True}, False),
    ],
)
def test_a_secret_is_written_by_an_output_file_that_becomes_it_or_a_version_of_it(
    secret: str, entry: dict[str, Any], expected: bool
) -> None:
    [file] = errand_from(errand(output=one_file(**entry))).spec.output.files
    assert is_output_of(secret, file) is expected
