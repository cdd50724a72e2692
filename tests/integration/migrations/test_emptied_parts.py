# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whichever parts of an object a migration fills or empties: undone, the object is as before."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.fields.json_patch import (
    apply_merge_patch,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.journal.journal_entry import (
    JournalInMemory,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.journal.journaling_cluster import (
    JournalingCluster,
    Writer,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.journal.undo import undo_writes
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.extent import examples

GROUP = f"t{secrets.token_hex(4)}.things.test"
THINGS: Object = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"things.{GROUP}"},
    "spec": {
        "group": GROUP,
        "scope": "Namespaced",
        "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
                },
            }
        ],
    },
}
COUNTED = ("managedFields", "resourceVersion", "generation", "uid", "creationTimestamp")
CONTAINER = {"name": "a", "image": "registry.example.com/a:1"}
TEMPLATE = {"metadata": {"labels": {"a": "1"}}, "spec": {"containers": [CONTAINER]}}
"""Of a kind that no controller writes to."""


@dataclass(frozen=True)
class Kind:
    """A kind, what no object of it can do without, and the parts that one may have."""

    api_version: str
    kind: str
    rest: Object
    parts: dict[str, Any]

    def patch(self, parts: dict[str, Any], **metadata: Any) -> Object:
        """A merge patch that sets parts, given by their paths."""
        patch: Object = {"metadata": metadata} if metadata else {}
        for path, value in parts.items():
            above = value
            for name in reversed(path.split(".")):
                above = {name: above}
            patch = merged(patch, above)
        return patch


def merged(one: Any, other: Any) -> Any:
    """Two patches in one."""
    if not (isinstance(one, dict) and isinstance(other, dict)):
        return other
    return {**one, **{key: merged(one.get(key), value) for key, value in other.items()}}


METADATA = {
    "metadata.labels": {"a": "1"},
    "metadata.annotations": {"b.example.com/c": "1", "d": ""},
    "metadata.finalizers": ["example.com/f"],
}
KINDS = [
    Kind("v1", "ConfigMap", {}, {**METADATA, "data": {"a": "1"}, "binaryData": {"b": "MQ=="}}),
    Kind("v1", "Secret", {}, {**METADATA, "data": {"a": "MQ=="}}),
    Kind("v1", "ServiceAccount", {}, {**METADATA, "imagePullSecrets": [{"name": "a"}]}),
    Kind(
        "v1",
        "PodTemplate",
        {"template": TEMPLATE},
        {
            **METADATA,
            "template.metadata.annotations": {"a": "1"},
            "template.spec.nodeSelector": {"a": "1"},
            "template.spec.tolerations": [{"key": "a", "operator": "Exists"}],
            "template.spec.volumes": [{"name": "a", "emptyDir": {}}],
        },
    ),
    Kind(
        f"{GROUP}/v1",
        "Thing",
        {},
        {
            **METADATA,
            "spec.map": {"a": {"b": {}}, "c": []},
            "spec.list": [{"a": 1}],
            "spec.empty": {},
            "other": {"a": "1"},
            "nothing": {},
            "text": "",
        },
    ),
]


@dataclass(frozen=True)
class Case:
    """An object with some of its parts before a write, and with other ones after it."""

    kind: Kind
    before: Sequence[str]
    after: Sequence[str]
    removed: bool

    def write(self, obj: Object) -> list[dict[str, Any]]:
        """The write, as a JSON patch: it alone can leave an empty map where a filled one was."""
        for path in self.kind.parts:
            *above, last = path.split(".")
            holder = obj = deepcopy(obj)
            for name in above:
                holder = holder.setdefault(name, {})
            if path in self.after:
                holder[last] = self.kind.parts[path]
            elif path in self.before and self.removed:
                del holder[last]
            elif path in self.before:
                holder[last] = type(holder[last])()
        return [{"op": "add", "path": f"/{key}", "value": value} for key, value in obj.items()]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    kind = draw(st.sampled_from(KINDS))
    parts = st.lists(st.sampled_from(sorted(kind.parts)), unique=True)
    return Case(kind, draw(parts), draw(parts), draw(st.booleans()))


def bare(obj: Object | None) -> Object:
    """An object without what the server counts."""
    assert obj
    return {**obj, "metadata": {key: value for key, value in obj["metadata"].items() if key not in COUNTED}}


def prove(cluster: Cluster, namespace: str, case: Case) -> None:
    kind, name = case.kind, f"t{secrets.token_hex(6)}"
    address = (kind.api_version, kind.kind, name, namespace)
    parts = kind.patch({path: kind.parts[path] for path in case.before}, name=name, namespace=namespace)
    whole = {"apiVersion": kind.api_version, "kind": kind.kind, **apply_merge_patch(kind.rest, parts)}
    before = bare(cluster.create(whole))
    journal = JournalInMemory()
    migrating = JournalingCluster(cluster.with_field_manager("m"), journal, Writer("things/it"))
    try:
        migrating.patch(*address, case.write(before))
        [*undone] = undo_writes(cluster, journal.entries)
        assert bare(cluster.get(*address)) == before
        assert all(one.is_complete for one in undone), undone
        assert [one.state for one in undo_writes(cluster, journal.entries)] in ([], ["as_before"])
    finally:
        cluster.patch(*address, {"metadata": {"finalizers": None}})
        cluster.delete(*address)


@settings(max_examples=examples(200), deadline=None)
@given(cases())
def test_emptied_parts_are_undone_in_memory(case: Case) -> None:
    prove(MemoryCluster(THINGS), "default", case)


@pytest.fixture
def things(live_cluster: Cluster) -> Iterator[Cluster]:
    live_cluster.create(THINGS)
    yield live_cluster
    live_cluster.delete("apiextensions.k8s.io/v1", "CustomResourceDefinition", THINGS["metadata"]["name"])


@pytest.mark.cluster
@settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(case=cases())
def test_emptied_parts_are_undone_on_a_real_server(things: Cluster, namespace: str, case: Case) -> None:
    prove(things, namespace, case)
