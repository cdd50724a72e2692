# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether rules of the server's authorizer grant rights: pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.rights import Right


def not_granted(rights: Iterable[Right], rules: Sequence[Mapping[str, Any]]) -> set[Right]:
    """Those of some rights that no rule grants.

    Args:
        rights: that are needed; in which namespace doesn't matter.
        rules: ``resourceRules`` of a SelfSubjectRulesReview.
    """
    return {right for right in rights if not any(_grants(rule, right) for rule in rules)}


def _grants(rule: Mapping[str, Any], right: Right) -> bool:
    names = rule.get("resourceNames") or ()
    subresource = right.resource.partition("/")[2]
    wanted = (right.resource, *((f"*/{subresource}",) if subresource else ()))
    return (
        _has(rule.get("verbs"), right.verb)
        and _has(rule.get("apiGroups"), right.group)
        and _has(rule.get("resources"), *wanted)
        and (not names or right.name in names)
    )


def _has(found: Collection[str] | None, *wanted: str) -> bool:
    return any(one in (found or ()) for one in ("*", *wanted))
