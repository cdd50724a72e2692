# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The owners of an object, as its ``metadata.ownerReferences`` names them: pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._loose_json import mapping_of, mappings_in
from .cluster import group_of


def owners_in(obj: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The entries of ``ownerReferences``."""
    return list(mappings_in(mapping_of(obj.get("metadata")).get("ownerReferences")))


def is_owned_by(obj: Mapping[str, Any], uid: str) -> bool:
    """Whether the object with a uid is one of the owners."""
    return any(one.get("uid") == uid for one in owners_in(obj))


def owners_like(obj: Mapping[str, Any], owner: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The owners of an object that have the kind of another owner, in any version of its group."""
    return [one for one in owners_in(obj) if _group_kind(one) == _group_kind(owner)]


def _group_kind(owner: Mapping[str, Any]) -> tuple[str, str]:
    return group_of(str(owner.get("apiVersion"))), str(owner.get("kind"))


def controller_of(obj: Mapping[str, Any]) -> Mapping[str, Any]:
    """The owner that controls an object, as a CronJob controls its Jobs; empty if there is none."""
    return next((one for one in owners_in(obj) if one.get("controller") is True), {})
