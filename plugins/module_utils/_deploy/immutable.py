# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a server says of a change that can only be had by making an object anew: pure."""

from __future__ import annotations

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Invalid
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.identity import is_other_object

_MARKS = (
    "field is immutable",
    "are forbidden",
    "is immutable",
    "may not be changed",
    "cannot change roleRef",
)


def is_immutable(refusal: Exception) -> bool:
    """Whether the server refuses a change because it can only be had by making the object anew."""
    return (
        isinstance(refusal, Invalid)
        and refusal.status == 422
        and not is_other_object(refusal)
        and any(mark in refusal.api_message for mark in _MARKS)
    )
