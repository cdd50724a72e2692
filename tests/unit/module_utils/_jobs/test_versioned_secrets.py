# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names, numbers and sameness of versions."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._jobs.version_writer import VersionContent
from ansible_collections.kyma.lifecycle.plugins.module_utils._jobs.versioned_secrets import (
    HIGHEST_ANNOTATION,
    SECRET_KIND_LABEL,
    SECRET_VERSION_LABEL,
    SOURCE_ANNOTATION,
    SecretVersion,
    is_same_version,
    newest_version,
    number_record,
    recorded_base,
    recorded_number,
    secret_version,
    split_versioned_name,
    versioned_name,
)

MARKED = {SECRET_KIND_LABEL: "versionedSecret", SECRET_VERSION_LABEL: "1"}


def version(base: str, number: int) -> SecretVersion:
    return SecretVersion("shop", base, number, versioned_name(base, number))


def versions(*numbers: int, base: str = "x") -> list[SecretVersion]:
    return [version(base, number) for number in numbers]


def secret(number: int = 1, **content: Any) -> dict[str, Any]:
    return VersionContent("shop", "x", {"a": "1"}, **content).as_version(number)


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("x-v3", ("x", 3)),
        ("x-v10", ("x", 10)),
        ("xx-v2", ("xx", 2)),
        ("x-v2-v3", ("x-v2", 3)),
        ("a.b-v1", ("a.b", 1)),
        ("x", None),
        ("x-v", None),
        ("-v1", None),
        ("x-v0", None),
        ("x-v01", None),
        ("x-v1a", None),
        ("x-v-1", None),
        ("x-V1", None),
        ("x-v1\n", None),
        ("x-v\u0661", None),
    ],
)
def test_the_name_of_a_version(name: str, parts: tuple[str, int] | None) -> None:
    assert split_versioned_name(name) == parts
    if parts:
        assert versioned_name(*parts) == name


@pytest.mark.parametrize(
    ("name", "labels", "expected"),
    [
        ("x-v3", MARKED, version("x", 3)),
        ("x-v3", {SECRET_KIND_LABEL: "versionedSecret"}, version("x", 3)),
        ("x-v3", {}, None),
        ("x-v3", None, None),
        ("x-v3", {SECRET_VERSION_LABEL: "3"}, None),
        ("x-v3", {SECRET_KIND_LABEL: "other"}, None),
        ("x", MARKED, None),
    ],
)
def test_only_a_secret_with_the_label_is_a_version(
    name: str, labels: dict[str, str] | None, expected: SecretVersion | None
) -> None:
    assert secret_version({"metadata": {"name": name, "namespace": "shop", "labels": labels}}) == expected


def test_the_newest_one_has_the_highest_number() -> None:
    assert newest_version("x", [*versions(2, 10, 9), *versions(11, base="xx")]) == version("x", 10)
    assert newest_version("y", versions(1)) is None


def test_the_object_of_a_version() -> None:
    owner = {"apiVersion": "v1", "kind": "Errand", "name": "e", "uid": "u"}
    made = secret(
        12,
        labels={"app": "shop", SECRET_VERSION_LABEL: "99"},
        annotations={"note": "n"},
        source="a test",
        owner=owner,
    )
    assert secret_version(made) == version("x", 12)
    assert made["immutable"] is True
    assert made["metadata"]["labels"] == {
        "app": "shop",
        SECRET_KIND_LABEL: "versionedSecret",
        SECRET_VERSION_LABEL: "12",
    }
    assert made["metadata"]["annotations"] == {"note": "n", SOURCE_ANNOTATION: "a test"}
    assert made["metadata"]["ownerReferences"] == [owner]
    assert base64.b64decode(made["data"]["a"]) == b"1"
    assert "ownerReferences" not in secret()["metadata"]


@pytest.mark.parametrize(
    ("live", "is_same"),
    [
        (secret(9, source="another"), True),
        (secret(9, labels={"app": "shop"}), False),
        (secret(9, annotations={"app": "shop"}), False),
        ({**secret(9), "data": {"a": "Mg=="}}, False),
        ({**secret(9), "data": {"a": "MQ==", "b": ""}}, False),
        ({**secret(9), "data": None}, False),
    ],
)
def test_data_labels_and_annotations_make_a_version_another_one(live: dict[str, Any], is_same: bool) -> None:
    assert is_same_version(live, secret(10)) is is_same


def owning(live: dict[str, Any], *entries: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    managed = [{"manager": manager, "fieldsV1": fields} for manager, fields in entries]
    return {**live, "metadata": {**live["metadata"], "managedFields": managed}}


@pytest.mark.parametrize(
    ("writer", "is_same"),
    [
        # A backup tool has labelled the version later.
        ({"f:data": {}, "f:metadata": {"f:labels": {f"f:{SECRET_KIND_LABEL}": {}}}}, True),
        # Who has written the data has written the label, too.
        ({"f:data": {}, "f:metadata": {"f:labels": {"f:backup": {}}}}, False),
    ],
)
def test_a_label_that_another_manager_has_added_later_does_not_count(
    writer: dict[str, Any], is_same: bool
) -> None:
    later = {"f:metadata": {"f:labels": {".": {}, "f:backup": {}}}}
    live = owning(secret(9, labels={"backup": "done"}), ("writer", writer), ("backup", later))
    assert is_same_version(live, secret(10)) is is_same


def test_a_record_has_the_number_of_its_base_and_is_no_version() -> None:
    record = number_record("shop", "x", 7)
    assert (recorded_base(record), recorded_number(record["metadata"]), secret_version(record)) == (
        "x",
        7,
        None,
    )
    assert record["metadata"]["name"] == "x-v0"
    assert split_versioned_name("x-v0") is None


@pytest.mark.parametrize(
    "change", [{"name": "x"}, {"labels": MARKED}, {"labels": None}, {"name": None}], ids=str
)
def test_another_secret_is_no_record(change: dict[str, Any]) -> None:
    record = number_record("shop", "x", 7)
    assert recorded_base({**record, "metadata": {**record["metadata"], **change}}) == ""


@pytest.mark.parametrize("text", ["", "-1", "x", "1.5", None, 7, "\u0661"])
def test_a_record_without_a_number_counts_as_none(text: object) -> None:
    assert recorded_number({"annotations": {HIGHEST_ANNOTATION: text}}) == 0
