# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each kind whose fields are declared is written and read without loss, and fits its own schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import is_dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, get_args, get_origin

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._custom_resources.resource_kind import (
    ResourceKind,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._dry_run.crd_schema import misfits
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_definition import (
    ERRAND_RESOURCE,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._field_notes import METADATA, FieldNote
from ansible_collections.kyma.lifecycle.plugins.module_utils._record_codec import (
    annotation,
    is_model,
    model_fields,
    to_record,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.store_kinds import STORED_JOB_KINDS
from hypothesis import given
from hypothesis import strategies as st

from tests.support.sample_records import RECORDS

PINNED = Path(__file__).parent / "stored_records.yaml"
KINDS = [*(kind for kind, _record in RECORDS), ERRAND_RESOURCE, *STORED_JOB_KINDS]
TEXTS = st.text("abc/-", max_size=8)
PLAIN: Mapping[Any, st.SearchStrategy[Any]] = {
    str: TEXTS,
    bool: st.booleans(),
    int: st.integers(1, 9),
    float: st.floats(0, 9).map(lambda number: round(number, 3)),
}


def values(type_: Any, note: FieldNote) -> st.SearchStrategy[Any]:
    """Any values of a declared field."""
    if "enum" in note.schema:
        return st.sampled_from(note.schema["enum"])
    if note.shape is not None and isinstance(note.shape, type) and issubclass(note.shape, StrEnum):
        return st.sampled_from([str(word) for word in note.shape])
    origin = get_origin(type_)
    if origin is Mapping and note.shape is not None:
        return values(*annotation(note.shape)).map(to_record)
    if origin is Mapping and get_args(type_)[1] is not Any:
        return st.dictionaries(TEXTS, values(*annotation(get_args(type_)[1])), max_size=2)
    if origin is Mapping:
        return st.dictionaries(TEXTS, TEXTS, max_size=2)
    if origin in (tuple, frozenset):
        items = st.just([]) if note.shape else st.lists(values(*annotation(get_args(type_)[0])), max_size=2)
        return items.map(origin)
    if is_model(type_):
        return models(type_)
    return st.sampled_from([*type_]) if issubclass(type_, StrEnum) else PLAIN[type_]


def models(model: Any) -> st.SearchStrategy[Any]:
    """Any values of a model. Fields with a default may have it."""
    fields = {}
    for one in model_fields(model):
        if one.note.derived_from or not one.note.is_stored:
            fields[one.attribute] = st.just("")
        elif one.is_required or one.note.is_optional:
            fields[one.attribute] = values(one.type, one.note)
        else:
            fields[one.attribute] = st.just(one.default) | values(one.type, one.note)
    return st.builds(model, **fields)


@pytest.mark.parametrize("kind", KINDS, ids=lambda one: one.kind)
@given(data=st.data())
def test_a_written_record_fits_the_schema_and_is_read_as_it_was(kind: ResourceKind[Any], data: Any) -> None:
    obj = kind.object_of(data.draw(models(kind.model)))
    assert list(misfits(obj, kind.schema)) == []
    assert kind.object_of(kind.read(obj)) == obj


def test_stored_records_are_read_and_written_as_they_are() -> None:
    pinned = yaml.safe_load(PINNED.read_text(encoding="utf-8"))
    assert [one["kind"] for one in pinned] == [kind.kind for kind, _record in RECORDS]
    for stored, (kind, record) in zip(pinned, RECORDS, strict=True):
        assert kind.object_of(record) == stored
        read = kind.read(stored)
        assert kind.object_of(read) == stored
        if is_dataclass(record):
            assert replace(read) == record


def test_the_samples_have_a_value_in_each_field() -> None:
    for kind, record in RECORDS:
        written = [one for one in model_fields(kind.model) if one.note.part != METADATA]
        empty = [one.attribute for one in written if not getattr(record, one.attribute)]
        assert empty in ([], ["part"]), kind.kind
