# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an engine retains of objects: enough to decide as if it had them whole."""

from __future__ import annotations

import copy
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
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_model import (
    LAST_APPLIED,
    errand_from,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.reconciler import Reconciler, read_index
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.reduced_objects import reduced_object
from ansible_collections.kyma.lifecycle.plugins.module_utils._jobs.versioned_secrets import (
    SECRET_KIND_LABEL,
    SECRET_VERSION_LABEL,
)

from tests.support.errand_stories import STORIES, end_state
from tests.support.played_errands import PlayedErrands, errand_object

META: dict[str, Any] = {
    "name": "x-v3",
    "namespace": "shop",
    "uid": "u",
    "resourceVersion": "7",
    "creationTimestamp": "2026-11-25T00:00:00Z",
    "managedFields": [{"manager": "m", "operation": "Apply", "fieldsV1": {"f:data": {}}}],
    "annotations": {"large": "text"},
}


@pytest.mark.parametrize("kind", [CONFIG_MAP, SECRET])
def test_a_reduced_configuration_has_only_fields_that_identify_its_state(kind: tuple[str, str]) -> None:
    names = {"name": "x-v3", "namespace": "shop", "uid": "u", "resourceVersion": "7"}
    # Should a server answer with more than metadata, no value is held.
    whole = {"metadata": {**META, "labels": {"a": "b"}}, "data": {"password": "secret"}}
    assert reduced_object(kind, whole) == {"metadata": names}


def test_a_version_of_a_secret_is_still_known_as_one() -> None:
    labels = {SECRET_KIND_LABEL: "versionedSecret", SECRET_VERSION_LABEL: "3", "a": "b"}
    whole = {"metadata": {**META, "labels": labels}}
    index, reduced = ErrandIndex(), ErrandIndex()
    index.put(SECRET, whole)
    reduced.put(SECRET, reduced_object(SECRET, whole))
    assert reduced.versions("shop", "x") == index.versions("shop", "x")
    assert [one.version for one in reduced.versions("shop", "x")] == [3]


@pytest.mark.parametrize("applier", ["apply", "kubectl", "update"])
def test_an_errand_reads_the_same(applier: str) -> None:
    obj = errand_object(strategy="now")
    spec: Object = {"f:spec": {"f:trigger": {"f:strategy": {}}, "f:template": {}}}
    operation = "Apply" if applier == "apply" else "Update"
    annotated: Object = {"f:metadata": {"f:annotations": {f"f:{LAST_APPLIED}": {}}}}
    obj["metadata"] |= {
        "uid": "u",
        "resourceVersion": "7",
        "generation": 2,
        "annotations": {LAST_APPLIED: "x" * 1000, "lifecycle.kyma-project.io/run-requested": "again"},
        "managedFields": [
            {"manager": "gitops", "operation": operation, "fieldsV1": spec},
            {"manager": "other", "operation": "Update", "fieldsV1": {"f:spec": {"f:output": {}}}},
            {"manager": "kubectl", "operation": "Update", "fieldsV1": annotated},
        ],
    }
    if applier == "kubectl":
        obj["metadata"]["managedFields"][0]["fieldsV1"] |= annotated
    before = copy.deepcopy(obj)
    reduced = reduced_object(ERRAND, obj)
    assert errand_from(reduced) == errand_from(obj)
    assert obj == before
    assert "x" * 1000 not in repr(reduced)
    assert "other" not in repr(reduced["metadata"]["managedFields"])


class ReducedIndex(ErrandIndex):
    """An index that gets all objects as an engine holds them."""

    def put(self, kind: tuple[str, str], obj: Object) -> Any:
        return super().put(kind, reduced_object(kind, obj))


class ReducedErrands(PlayedErrands):
    """Reconcilers that know no more than an engine does."""

    def reconciler(self, cluster: Any = None) -> Reconciler:
        source = cluster or self.seen
        index = ReducedIndex()
        for kind in (ERRAND, JOB, POD, CONFIG_MAP, SECRET):
            for obj in source.list(*kind, metadata_only=kind in (CONFIG_MAP, SECRET)).items:
                index.put(kind, obj)
        return Reconciler(source, index, on_outcome=self.outcomes.append, now=self.jobs.time.now)


@pytest.mark.parametrize("name", STORIES)
def test_whole_runs_go_the_same_way(name: str) -> None:
    story = STORIES[name]
    whole, reduced = story.play(), story.play(played=ReducedErrands())
    assert story.problems(reduced) == []
    assert end_state(reduced) == end_state(whole)
    assert read_index(reduced.cluster).keys() == read_index(whole.cluster).keys()
