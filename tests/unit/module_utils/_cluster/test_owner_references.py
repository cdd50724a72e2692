# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The owners of an object."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.owner_references import (
    controller_of,
    is_owned_by,
    owners_in,
    owners_like,
)

CRON_JOB = {"kind": "CronJob", "name": "a", "uid": "1", "controller": True}
ERRAND = {"kind": "Errand", "name": "a", "uid": "2"}


def owned(*owners: Any) -> dict[str, Any]:
    return {"metadata": {"ownerReferences": [*owners]}}


def test_an_object_is_owned_by_each_of_its_owners() -> None:
    assert is_owned_by(owned(CRON_JOB, ERRAND), "2")
    assert not is_owned_by(owned(CRON_JOB, ERRAND), "3")


def test_only_an_owner_with_controller_true_is_the_controller() -> None:
    assert controller_of(owned(ERRAND, CRON_JOB)) == CRON_JOB
    assert controller_of(owned({**CRON_JOB, "controller": False}, {**CRON_JOB, "controller": "yes"})) == {}


def test_owners_of_the_same_kind_are_alike_in_any_version_of_their_group() -> None:
    one, other = ({**ERRAND, "apiVersion": f"example.org/{version}"} for version in ("v1", "v2"))
    strange = {**ERRAND, "apiVersion": "example.com/v1"}
    job = {**CRON_JOB, "apiVersion": "example.org/v1"}
    assert owners_like(owned(strange, other, job), one) == [other]


@pytest.mark.parametrize(
    "obj", [{}, {"metadata": None}, {"metadata": {"ownerReferences": "x"}}, owned("x", 3)]
)
def test_an_object_of_another_shape_has_no_owners(obj: dict[str, Any]) -> None:
    assert owners_in(obj) == []
    assert controller_of(obj) == {}
