# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decides the action for a component: install, upgrade, downgrade, resume, or unchanged. Pure.

The plan decides it before it compares objects, and stores it in the record of its run; the run reads it from
there. ``resume`` is for a component whose deployment was begun and has not ended.
"""

from __future__ import annotations

from typing import NamedTuple

from .._objects.inventory.inventory import Inventory

NEW_CONTENT = ("install", "upgrade", "downgrade", "resume")
"""The actions for components whose manifests may differ from the deployed ones."""


class Origin(NamedTuple):
    """The origin of a component, compared with its deployment; a release determines it from its versions.

    Attributes:
        is_older: whether it is older than the deployment.
        is_same: whether it has the same inputs as the deployment: different content is due to random values.
        is_limited_to_changes: whether no other change can affect objects that stay the same.
    """

    is_older: bool
    is_same: bool
    is_limited_to_changes: bool


def choose_action(inventory: Inventory | None, digest: str, origin: Origin) -> str:
    """The action for a component, before its objects are compared.

    Args:
        inventory: of the deployment; None if there is none.
        digest: of the content to deploy.
        origin: the origin of that content.

    Returns:
        One of ``NEW_CONTENT``, or ``unchanged``.
    """
    if inventory is None:
        return "install"
    differs = inventory.digest != digest
    if differs and origin.is_older:
        return "downgrade"
    if not inventory.digest:
        return "resume"
    return "upgrade" if differs and not origin.is_same else "unchanged"
