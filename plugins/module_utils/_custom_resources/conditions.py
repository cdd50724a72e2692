# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The conditions of our custom resources, in the form of ``kubectl wait --for=condition=…``: pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .._cluster.cluster import Object


def new_condition(
    type: str, status: str, reason: str, message: str, *, before: Iterable[Mapping[str, Any]], now: str
) -> Object:
    """A present condition. Its time is the earlier one unless the status has changed (KEP-1623).

    Args:
        type: of the condition.
        status: True, False or Unknown.
        reason: the reason, in a word.
        message: the reason, in a sentence.
        before: the conditions so far.
        now: the time; RFC 3339.
    """
    last = next((one for one in before if one.get("type") == type), {})
    since = last.get("lastTransitionTime") if last.get("status") == status else None
    return {
        "type": type,
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": since or now,
    }
