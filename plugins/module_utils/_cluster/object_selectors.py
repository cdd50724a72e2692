# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Label and field selectors, evaluated on local objects."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from .cluster import Object
from .errors import Invalid

Matches = Callable[[Object], bool]

REQUIREMENT = re.compile(
    r"""\s*(?: (?P<absent>!)\s*(?P<no>[\w./-]+)
             | (?P<key>[\w./-]+)\s*(?: (?P<op>==|=|!=)\s*(?P<value>[\w.-]*)
                                     | \s(?P<set>in|notin)\s*\((?P<values>[^()]*)\) )? )\s*""",
    re.VERBOSE,
)


def label_matcher(selector: str) -> Matches:
    """A function that matches an object's labels: ``a=b,c!=d,e in (f,g),h notin (i),j,!k``.

    Raises:
        Invalid: the selector can't be read.
    """
    checks: list[Callable[[Mapping[str, str]], bool]] = []
    for part in _split(selector):
        requirement = REQUIREMENT.fullmatch(part)
        if requirement is None:
            raise _unreadable(f"unable to parse requirement: {part!r}")
        checks.append(_label_check(requirement))
    return lambda obj: all(check(obj["metadata"].get("labels") or {}) for check in checks)


def field_matcher(selector: str) -> Matches:
    """A function that matches an object's fields: ``metadata.name=a,status.phase!=Running``.

    Raises:
        Invalid: the selector can't be read.
    """
    checks = []
    for part in filter(None, selector.split(",")):
        path, operator, value = re.split(r"(!=|==|=)", part, maxsplit=1) if "=" in part else ("", "", "")
        if not operator:
            raise _unreadable(f"invalid selector: '{selector}'; can't understand '{part}'")
        checks.append((path.strip().split("."), operator != "!=", value.strip()))
    return lambda obj: all((_field(obj, path) == value) == is_equal for path, is_equal, value in checks)


Requirement = tuple[str, str, list[str]]
"""Key, operator and values."""


def selector_requirements(selector: Mapping[str, Any]) -> Iterator[Requirement]:
    """The requirements of a selector with ``matchLabels`` and ``matchExpressions``."""
    for key, value in (selector.get("matchLabels") or {}).items():
        yield key, "In", [value]
    for one in selector.get("matchExpressions") or ():
        yield one["key"], one["operator"], [label_text(value) for value in one.get("values") or ()]


def is_met(requirement: Requirement, labels: Mapping[str, str | None]) -> bool:
    """Decides like labels.Requirement of k8s.io/apimachinery."""
    key, operator, values = requirement
    if operator in ("Exists", "DoesNotExist"):
        return (key in labels) == (operator == "Exists")
    return (key in labels and labels[key] in values) == (operator == "In")


def is_listed(listed: Collection[str] | None, *values: str) -> bool:
    """Whether the list of a rule, of roles or webhooks, has one of some values, or all of them by ``*``."""
    return any(one in (listed or ()) for one in ("*", *values))


def label_text(value: object) -> str:
    """The value of a label as text; YAML reads some as booleans."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _split(selector: str) -> list[str]:
    parts = re.split(r",(?![^(]*\))", selector)
    return [part for part in parts if part.strip()]


def _label_check(match: re.Match[str]) -> Callable[[Mapping[str, str]], bool]:
    key, operator = match["key"] or match["no"], match["op"] or match["set"]
    if match["absent"]:
        return lambda labels: key not in labels
    if operator is None:
        return lambda labels: key in labels
    values = (
        [value.strip() for value in (match["values"] or "").split(",")] if match["set"] else [match["value"]]
    )
    if operator in ("=", "==", "in"):
        return lambda labels: key in labels and labels[key] in values
    return lambda labels: labels.get(key) not in values


def _field(obj: Any, path: list[str]) -> str:
    for name in path:
        obj = obj.get(name) if isinstance(obj, Mapping) else None
    return "" if obj is None else str(obj)


def _unreadable(message: str) -> Invalid:
    return Invalid("list", status=400, reason="BadRequest", api_message=message)
