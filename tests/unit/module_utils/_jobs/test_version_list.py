# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which versions are surplus, whose they are, and which number comes next."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._jobs.version_list import (
    Versions,
    rival_of,
    version_list,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._jobs.version_retention import (
    Retention,
    Surplus,
    surplus_versions,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._jobs.version_writer import VersionContent
from ansible_collections.kyma.lifecycle.plugins.module_utils._jobs.versioned_secrets import (
    SecretVersion,
    number_record,
    versioned_name,
)

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)


def owner(name: str, kind: str = "Errand", api: str = "lifecycle.kyma-project.io/v1") -> Object:
    return {"apiVersion": api, "kind": kind, "name": name, "uid": f"uid-{name}"}


A, B = owner("a"), owner("b")
OTHER = owner("c", "ConfigMap", "v1")


def secret(
    number: int, *owners: Object, base: str = "x", hour: int = 0, manager: str = "kyma-lifecycle"
) -> Object:
    obj = VersionContent("shop", base, {}).as_version(number)
    obj["metadata"] |= {
        "creationTimestamp": f"2026-11-29T{hour:02}:00:00Z",
        "managedFields": [{"manager": manager, "operation": "Update"}],
    }
    return {**obj, "metadata": {**obj["metadata"], **({"ownerReferences": [*owners]} if owners else {})}}


def versions(*secrets: Object) -> Versions:
    return version_list(secrets).of("x")


def surplus(
    listed: Versions, newest: int, keep: int, owner: Object | None = None, seconds: float = 0, now: Any = NOW
) -> tuple[list[int], tuple[str, ...]]:
    new = SecretVersion("shop", "x", newest, versioned_name("x", newest))
    result: Surplus = surplus_versions(listed, new, Retention(keep, seconds), owner, now)
    return sorted(one.version for one in result.versions), result.foreign


@pytest.mark.parametrize(
    ("numbers", "newest", "keep", "expected"),
    [
        ((1, 2, 3), 3, 3, []),
        ((1, 2, 3), 4, 3, [1]),
        ((10, 1, 9, 2), 10, 2, [1, 2]),
        ((1, 2), 3, 0, [1, 2]),
        ((), 1, 1, []),
    ],
)
def test_the_newest_ones_stay(numbers: tuple[int, ...], newest: int, keep: int, expected: list[int]) -> None:
    assert surplus(versions(*map(secret, numbers)), newest, keep) == (expected, ())


def test_each_base_is_counted_alone() -> None:
    listed = version_list([secret(1), secret(2), secret(1, base="y"), secret(4, base="x-v1")])
    assert surplus(listed.of("x"), 2, 1) == ([1], ())
    assert sorted(listed.by_base) == ["x", "x-v1", "y"]


def test_only_versions_that_belong_to_one_owner_alone_are_its_surplus() -> None:
    listed = versions(
        secret(1, A), secret(2, A, B), secret(3, B), secret(4, A, OTHER), secret(5, manager="kubectl")
    )
    assert surplus(listed, 9, 1, A) == ([1], ("x-v5",))
    assert surplus(listed, 9, 1, B) == ([3], ("x-v5",))


def test_without_an_owner_what_this_collection_has_written_is_surplus() -> None:
    listed = versions(secret(1), secret(2, manager="kubectl"), secret(3, A, manager="kyma-lifecycle/errands"))
    assert surplus(listed, 9, 1) == ([1], ("x-v2",))


@pytest.mark.parametrize(
    ("seconds", "expected"), [(0, [1, 2, 3]), (3600, [1, 2, 3]), (3601, [1, 2]), (40000, [1])]
)
def test_a_younger_version_is_no_surplus(seconds: float, expected: list[int]) -> None:
    listed = versions(secret(1, hour=0), secret(2, hour=10), secret(3, hour=11))
    assert surplus(listed, 4, 1, seconds=seconds)[0] == expected


def test_nothing_is_old_enough_if_an_age_is_unknown() -> None:
    unknown = secret(1)
    del unknown["metadata"]["creationTimestamp"]
    assert surplus(versions(unknown), 2, 1, seconds=1) == ([], ())
    assert surplus(versions(secret(1)), 2, 1, seconds=1, now=None) == ([], ())


@pytest.mark.parametrize(
    ("secrets", "rival"),
    [
        ([], None),
        ([secret(1)], None),
        ([secret(1, A)], None),
        ([secret(1, B)], B),
        ([secret(1, A, B)], None),
        ([secret(1, A, B), secret(2, B)], B),
        ([secret(1, B), secret(2, A)], None),
        ([secret(1, B), secret(2)], B),
        ([secret(1, OTHER)], None),
        ([secret(1, owner("b", api="other.io/v1"))], None),
        (
            [secret(1, owner("b", api="lifecycle.kyma-project.io/v1"))],
            owner("b", api="lifecycle.kyma-project.io/v1"),
        ),
    ],
)
def test_the_owner_of_the_newest_version_is_one_of_this_kind(
    secrets: list[Object], rival: Object | None
) -> None:
    assert rival_of(versions(*secrets), A) == rival
    assert rival_of(versions(*secrets), None) is None


def test_the_next_number_is_after_the_recorded_one_and_after_the_newest_version() -> None:
    record = number_record("shop", "x", 7)
    assert version_list([]).next("shop", "x").name == "x-v1"
    assert version_list([record]).next("shop", "x").name == "x-v8"
    assert version_list([record, secret(9)]).next("shop", "x").name == "x-v10"
    assert version_list([record, secret(9)]).next("shop", "y").name == "y-v1"
