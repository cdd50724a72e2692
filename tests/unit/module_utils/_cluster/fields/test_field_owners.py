# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The owners of a field are the entries that have it, a part of it, or a value around it as a whole."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.fields.field_owners import (
    entries_of,
    owned_names,
    owners_of,
    owns,
)

ITEM = {"name": "main", "image": "a:2"}
FIELDS = {
    "f:metadata": {"f:labels": {".": {}, "f:a": {}, "f:b.c/d": {}}},
    "f:spec": {
        "f:replicas": {},
        "f:containers": {'k:{"name":"main"}': {".": {}, "f:image": {}}, 'k:{"name":"side"}': {"f:args": {}}},
    },
}
ENTRY = {"manager": "kubectl", "fieldsV1": FIELDS}


@pytest.mark.parametrize(
    ("path", "is_owned"),
    [
        ((), True),
        (("f:spec",), True),
        (("f:spec", "f:replicas"), True),
        (("f:spec", "f:paused"), False),
        (("f:status",), False),
        (("f:spec", "f:replicas", "f:inner"), True),
        (("f:spec", "f:containers", ITEM), True),
        (("f:spec", "f:containers", ITEM, "f:image"), True),
        (("f:spec", "f:containers", ITEM, "f:args"), False),
        (("f:spec", "f:containers", {"name": "other"}), False),
        (("f:spec", "f:containers", "no item"), False),
    ],
)
def test_an_entry_owns_a_field_a_part_of_it_or_a_whole_around_it(
    path: tuple[Any, ...], is_owned: bool
) -> None:
    assert owns(ENTRY, *path) is is_owned


@pytest.mark.parametrize("fields", [None, {}, [], "x"])
def test_an_entry_without_fields_owns_nothing(fields: Any) -> None:
    assert not owns({"fieldsV1": fields})
    assert owned_names({"fieldsV1": fields}, "f:metadata", "f:labels") == set()


def test_the_names_in_a_map_are_those_of_its_fields() -> None:
    assert owned_names(ENTRY, "f:metadata", "f:labels") == {"a", "b.c/d"}
    assert owned_names(ENTRY, "f:metadata", "f:annotations") == set()


def test_an_object_of_any_shape_has_its_entries() -> None:
    other = {"manager": "other", "fieldsV1": {"f:spec": {"f:paused": {}}}}
    obj = {"metadata": {"managedFields": [ENTRY, "no entry", other]}}
    assert entries_of(obj) == [ENTRY, other]
    assert owners_of(obj, "f:spec", "f:paused") == [other]
    assert [entries_of(one) for one in ({}, {"metadata": None}, {"metadata": {"managedFields": {}}})] == [
        []
    ] * 3
