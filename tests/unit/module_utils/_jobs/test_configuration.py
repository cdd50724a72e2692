# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run was made with, and when that counts as changed."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._jobs.configuration import (
    ConfigurationEntry,
    configuration_entry,
    data_digest,
    missing_keys,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._jobs.pod_references import PodReference
from ansible_collections.kyma.lifecycle.plugins.module_utils._record_codec import from_record, to_record

KEY = b"0123456789abcdef"
OBJECT: dict[str, Any] = {
    "kind": "Secret",
    "metadata": {"name": "x-v3", "uid": "u1", "resourceVersion": "7"},
    "data": {"a": "MQ==", "b": "Mg=="},
}


@pytest.mark.parametrize(
    ("change", "is_same"),
    [
        ({"metadata": {"name": "x-v3", "labels": {"a": "b"}, "resourceVersion": "8"}}, True),
        ({"immutable": True, "type": "Opaque"}, True),
        ({"data": {"b": "Mg==", "a": "MQ=="}}, True),
        ({"binaryData": {}}, True),
        ({"data": {"a": "MQ=="}}, False),
        ({"data": {"a": "MQ==", "b": "Mw=="}}, False),
        ({"data": {"a": "MQ==", "c": "Mg=="}}, False),
        ({"binaryData": {"c": "Mw=="}}, False),
        ({"data": {}, "binaryData": OBJECT["data"]}, False),
    ],
)
def test_only_data_count(change: dict[str, Any], is_same: bool) -> None:
    assert (data_digest({**OBJECT, **change}, KEY) == data_digest(OBJECT, KEY)) is is_same


def test_a_digest_needs_its_key() -> None:
    assert data_digest(OBJECT, KEY) != data_digest(OBJECT, b"another key")
    assert len(data_digest(OBJECT, KEY)) == 64
    assert set(data_digest(OBJECT, KEY)) <= set("0123456789abcdef")


@pytest.mark.parametrize(
    ("keys", "missing"), [((), []), (("a",), []), (("c",), []), (("z", "b", "y"), ["y", "z"])]
)
def test_keys_may_be_in_data_and_in_binary_data(keys: tuple[str, ...], missing: list[str]) -> None:
    reference = PodReference("ConfigMap", "x", frozenset(keys))
    assert missing_keys({**OBJECT, "binaryData": {"c": "Mw=="}}, reference) == missing


def test_the_entry_of_an_object() -> None:
    entry = configuration_entry(PodReference("Secret", "x-v1"), OBJECT, KEY)
    assert entry == ConfigurationEntry("Secret", "x-v1", "x-v3", "u1", "7", data_digest(OBJECT, KEY))
    assert from_record(ConfigurationEntry, to_record(entry)) == entry
    assert "MQ==" not in str(entry)


def test_the_entry_of_an_optional_one_that_does_not_exist() -> None:
    entry = configuration_entry(PodReference("ConfigMap", "c", is_optional=True), None, KEY)
    assert entry == ConfigurationEntry("ConfigMap", "c", "c")
    assert from_record(ConfigurationEntry, to_record(entry)) == entry


def test_an_entry_of_a_status_that_lacks_fields() -> None:
    read = from_record(ConfigurationEntry, {"kind": "Secret", "name": "s", "uid": None})
    assert read == ConfigurationEntry("Secret", "s", "s")
