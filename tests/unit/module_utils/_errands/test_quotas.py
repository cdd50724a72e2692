# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a quota has more room than before."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.reduced_objects import (
    has_grown,
    reduced_quota,
)


def quota(hard: dict[str, str], **used: str) -> dict[str, Any]:
    """A quota as its controller has seen it."""
    return {"metadata": {"name": "small", "namespace": "shop"}, "status": {"hard": hard, "used": used}}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (None, quota({"pods": "1"}), False),
        (quota({"pods": "1"}), None, True),
        (quota({"pods": "1"}), quota({}), True),
        (quota({"pods": "1"}, pods="1"), quota({"pods": "2"}, pods="1"), True),
        (quota({"pods": "1"}, pods="1"), quota({"pods": "1"}, pods="0"), True),
        (quota({"pods": "1"}, pods="0"), quota({"pods": "1"}, pods="1"), False),
        (quota({"pods": "1"}), quota({"pods": "1", "secrets": "9"}), False),
        (quota({"pods": "5", "cpu": "1"}, cpu="900m"), quota({"pods": "2", "cpu": "1"}, cpu="500m"), True),
        (quota({"memory": "1Gi"}, memory="1Gi"), quota({"memory": "1024Mi"}, memory="1Gi"), False),
        ({"metadata": {}}, quota({"pods": "1"}), False),
    ],
)
def test_a_quota_has_grown_if_any_of_its_resources_has_more_room(
    old: dict[str, Any] | None, new: dict[str, Any] | None, expected: bool
) -> None:
    assert has_grown(old, new) is expected


def test_a_reduced_quota_shows_whether_it_has_grown() -> None:
    full = quota({"pods": "1"}, pods="1")
    reduced = reduced_quota({**full, "spec": {"hard": {"pods": "2"}}})
    assert "spec" not in reduced
    assert has_grown(reduced, reduced_quota(quota({"pods": "2"}, pods="1")))
