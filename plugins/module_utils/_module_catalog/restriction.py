# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which clusters may have a module. Pure. Labels and rules are those of Kyma's lifecycle manager."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .._cluster.object_selectors import Requirement, is_met, label_text, selector_requirements
from .._text import one_line

BETA_LABEL = "operator.kyma-project.io/beta"
INTERNAL_LABEL = "operator.kyma-project.io/internal"

_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")


@dataclass(frozen=True)
class Restriction:
    """The labels that a cluster must have for a module to be allowed in it.

    Attributes:
        beta: only clusters that accept beta modules.
        internal: only internal clusters.
        selector: a label selector that has to match, or None. An empty selector matches nothing.
        is_unreadable: whether the restriction cannot be read, so that no cluster may have the module.
    """

    beta: bool = False
    internal: bool = False
    selector: Mapping[str, Any] | None = None
    is_unreadable: bool = False


UNRESTRICTED = Restriction()


def explain_restriction(restriction: Restriction, labels: Mapping[str, Any]) -> str:
    """Why a cluster may not have a module, in words that follow its name; empty if it may.

    Args:
        restriction: of the module; its selector has no errors.
        labels: of the cluster. True and False count as the texts "true" and "false".
    """
    if restriction.is_unreadable:
        return "has a ModuleReleaseMeta that can't be used, so nothing tells which clusters may have it"
    texts = {key: label_text(value) for key, value in labels.items()}
    for is_restricted, what, label in (
        (restriction.beta, "a beta module", BETA_LABEL),
        (restriction.internal, "an internal module", INTERNAL_LABEL),
    ):
        if is_restricted and not is_enabled(texts.get(label)):
            return f'is {what}, and the cluster has no label {label}: "true"'
    if restriction.selector is None:
        return ""
    requirements = list(selector_requirements(restriction.selector))
    if not requirements:
        return "has an empty kymaSelector, which matches no cluster"
    unmet = [_in_words(one) for one in requirements if not is_met(one, texts)]
    return one_line(f"is for clusters with other labels: {' and '.join(unmet)}") if unmet else ""


def is_enabled(value: object) -> bool:
    """Whether the value of a label enables something, in upper or lower case."""
    return label_text(value).lower() == "true"


def selector_faults(selector: Any) -> Iterator[str]:
    """Why a value is not a label selector."""
    if not isinstance(selector, Mapping):
        yield "it is no mapping"
        return
    labels = selector.get("matchLabels") or {}
    if not isinstance(labels, Mapping) or not all(isinstance(value, str) for value in labels.values()):
        yield "matchLabels is no mapping of labels to texts"
    expressions = selector.get("matchExpressions") or []
    if not isinstance(expressions, list):
        yield "matchExpressions is no list"
        return
    for expression in expressions:
        if not isinstance(expression, Mapping) or not isinstance(expression.get("key"), str):
            yield f"{expression!r} in matchExpressions has no key"
            continue
        key, operator, values = expression["key"], expression.get("operator"), expression.get("values") or []
        if operator not in _OPERATORS:
            yield f"the operator {operator!r} for {key} is none of {', '.join(_OPERATORS)}"
            continue
        takes_values = operator in ("In", "NotIn")
        if not isinstance(values, list) or bool(values) != takes_values:
            yield f"{operator} for {key} takes {'a list of values' if takes_values else 'no values'}"


def _in_words(requirement: Requirement) -> str:
    key, operator, values = requirement
    return f"{key} {operator}" + (f" ({', '.join(values)})" if values else "")
