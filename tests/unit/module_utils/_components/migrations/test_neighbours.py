# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which verdicts of a wave depend on neighbours, and which of their writes are unequal."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Ref, manager_of
from ansible_collections.kyma.lifecycle.plugins.module_utils._components.component_plan import MigrationPlan
from ansible_collections.kyma.lifecycle.plugins.module_utils._components.migrations.neighbours import (
    Read,
    RecordedReads,
    neighbours_of,
    unequal_writes,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.apply.change import ObjectChange

from tests.support.driver import healthy_cluster

REF = Ref("", "ConfigMap", "default", "shared")


def change(before: Any, after: Any, ref: Ref = REF, **labels: str) -> ObjectChange:
    """A change of the data of a ConfigMap."""

    def with_data(data: Any) -> Any:
        meta = {"name": ref.name, "namespace": ref.namespace, "labels": labels}
        return (
            None if data is None else {"apiVersion": "v1", "kind": ref.kind, "metadata": meta, "data": data}
        )

    return ObjectChange(ref, with_data(before), with_data(after))


def verdict(component: str) -> MigrationPlan:
    return MigrationPlan(f"{component}/one", component, "pre", "needed", "why")


def read(namespace: str = "default", name: str = "shared", labels: str = "", kind: str = "ConfigMap") -> Read:
    return Read(Ref("", kind, namespace, name), labels)


@pytest.mark.parametrize(
    ("one", "depends"),
    [
        (read(), True),
        (read(name=""), True),
        (read(namespace="", name=""), True),
        (read(name="", labels="app=shop"), True),
        (read(name="", labels="app=other"), False),
        (read(name="another"), False),
        (read(namespace="elsewhere", name=""), False),
        (read(kind="Secret"), False),
    ],
)
def test_a_verdict_depends_on_a_neighbour_that_wrote_what_its_check_read(one: Read, depends: bool) -> None:
    reads = {manager_of("b/one"): {one}}
    neighbours = neighbours_of([verdict("b")], reads, {"a": [change({}, {"x": "1"}, app="shop")], "b": []})
    assert neighbours == ({"b/one": {"a": REF}} if depends else {})


def test_no_verdict_depends_on_what_its_own_component_writes() -> None:
    reads = {manager_of("b/one"): {read()}}
    assert neighbours_of([verdict("b")], reads, {"a": [], "b": [change({}, {"x": "1"})]}) == {}


def test_a_deleted_object_counts_as_written() -> None:
    reads = {manager_of("b/one"): {read()}}
    assert neighbours_of([verdict("b")], reads, {"a": [change({"x": "1"}, None)]}) == {"b/one": {"a": REF}}


def test_the_writer_depends_on_the_reader_in_return_if_its_check_read_the_object_too() -> None:
    verdicts, written = [verdict("a"), verdict("b")], {"a": [change({}, {"x": "1"})], "b": []}
    both = {manager_of("a/one"): {read()}, manager_of("b/one"): {read(name="")}}
    assert neighbours_of(verdicts, both, written) == {"a/one": {"b": REF}, "b/one": {"a": REF}}
    reader_only = {manager_of("b/one"): {read()}}
    assert neighbours_of(verdicts, reader_only, written) == {"b/one": {"a": REF}}


@pytest.mark.parametrize(
    ("first", "second", "field"),
    [
        (change({"x": "0"}, {"x": "1"}), change({"x": "1"}, {"x": "2"}), "data.x"),
        (change(None, {"x": "1"}), change({"x": "1"}, {"x": "2"}), "data.x"),
        (change({"x": "0"}, {"x": "1"}), change({"x": "1"}, {"x": "1", "y": "2"}), ""),
        (change(None, {"x": "1"}), change({"x": "1"}, {"x": "1", "y": "2"}), ""),
        (change({"x": "0"}, None), change(None, {"x": "1"}), ""),
        (change({"x": "0"}, {"x": "1"}), change({"x": "0"}, {"x": "2"}, REF._replace(name="own")), ""),
    ],
)
def test_unequal_writes_of_one_field_name_both_components(
    first: ObjectChange, second: ObjectChange, field: str
) -> None:
    blockers = unequal_writes({"a": [first], "b": [second], "c": []})
    assert len(blockers) == bool(field)
    for blocker in blockers:
        start = f"{REF}: a and b are deployed side by side and write different values to {field}:"
        assert blocker.message.startswith(start)


def test_reads_are_recorded_for_each_field_manager() -> None:
    recorded = RecordedReads(healthy_cluster(), lambda _ref: False)
    one, other = recorded.with_field_manager("one"), recorded.with_field_manager("other")
    one.get("v1", "ConfigMap", "shared", "default")
    other.list("v1", "ConfigMap", "default", label_selector="app=shop")
    other.list("apps/v1", "Deployment")
    assert recorded.reads == {
        "one": {read()},
        "other": {read(name="", labels="app=shop"), Read(Ref("apps", "Deployment", "", ""), "")},
    }
