# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The status of a definition is read as it was written, and never fails to be read."""

from __future__ import annotations

import json
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.json_digest import json_digest
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.storage.stored_status import (
    StoredStatus,
    WrittenObject,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._record_codec import from_record, to_record
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.extent import examples

STATUS = StoredStatus(
    objects=(WrittenObject("Job", "report", "u", "7", "d"), WrittenObject("Service", "report")),
    run=2,
    defaults=1,
    history=({"run": 2, "succeeded": False, "exitCode": 3}, {"run": 1, "succeeded": True}),
    message="m",
    reason="OutOfQuota",
    conditions=({"type": "Ready", "status": "False"},),
    observed_generation=4,
)


def test_a_status_as_an_object_has_it() -> None:
    fields = to_record(STATUS)
    assert fields == {
        "objects": [
            {"kind": "Job", "name": "report", "uid": "u", "resourceVersion": "7", "digest": "d"},
            {"kind": "Service", "name": "report", "uid": "", "resourceVersion": "", "digest": ""},
        ],
        "run": 2,
        "defaults": 1,
        "history": [{"run": 2, "succeeded": False, "exitCode": 3}, {"run": 1, "succeeded": True}],
        "message": "m",
        "reason": "OutOfQuota",
        "conditions": [{"type": "Ready", "status": "False"}],
        "observedGeneration": 4,
    }
    assert from_record(StoredStatus, json.loads(json.dumps(fields))) == STATUS


def test_a_status_shares_nothing_with_its_object() -> None:
    fields = to_record(STATUS)
    status = from_record(StoredStatus, fields)
    fields["conditions"][0].clear()
    fields["history"][0].clear()
    assert status == STATUS


def test_a_value_of_another_shape_counts_as_empty() -> None:
    empty = StoredStatus()
    assert all(from_record(StoredStatus, record) == empty for record in (None, [], {}))
    wrong: dict[str, Any] = {name: "x" for name in to_record(empty) if name not in ("message", "reason")}
    assert from_record(StoredStatus, wrong | {"message": 3, "reason": []}) == empty
    read = from_record(StoredStatus, {"objects": [3, {"kind": 1, "name": "a"}]})
    assert read.objects == (WrittenObject("", "a"),)


def test_the_digest_is_that_of_equal_objects() -> None:
    assert json_digest({"a": 1, "b": {"c": 2, "d": "é"}}) == json_digest({"b": {"d": "é", "c": 2}, "a": 1})
    assert json_digest({"a": 1}) != json_digest({"a": 2})
    assert json_digest({}) == "44136fa355b3678a1146ad16f7e8649e"


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)
mappings = st.dictionaries(st.text(), values)
statuses = st.builds(
    StoredStatus,
    objects=st.lists(st.builds(WrittenObject, *[st.text()] * 5)).map(tuple),
    run=st.integers(),
    defaults=st.integers(),
    history=st.lists(mappings).map(tuple),
    message=st.text(),
    reason=st.text(),
    conditions=st.lists(mappings).map(tuple),
    observed_generation=st.integers(),
)


@settings(max_examples=examples(40), deadline=None)
@given(statuses)
def test_a_status_is_read_as_it_was_written(status: StoredStatus) -> None:
    assert from_record(StoredStatus, json.loads(json.dumps(to_record(status)))) == status
