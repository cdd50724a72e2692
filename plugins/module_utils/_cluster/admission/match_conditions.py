# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evaluates the match conditions of admission webhooks for requests that are known in part. Pure.

They are expressions in CEL. The common operators and functions are evaluated, as Python parses them; what
remains unknown counts as unknown, not as false. So does what CEL would report as an error: with the failure
policy Fail, the API server then refuses the request.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

UNKNOWN = object()
"""The value of a part of an expression that can't be evaluated."""

_TOKEN = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|&&|\|\||!=|!|\w+""")
# In CEL a negation binds more tightly than a comparison, which in Python only ~ does.
_WORDS = {
    "&&": " and ",
    "||": " or ",
    "!": " ~",
    "true": "True",
    "false": "False",
    "null": "None",
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: lambda left, right: left == right,
    ast.NotEq: lambda left, right: left != right,
    ast.In: lambda left, right: left in right,
}
_METHODS: dict[str, Callable[[str, str], bool]] = {
    "startsWith": str.startswith,
    "endsWith": str.endswith,
    "contains": lambda text, part: part in text,
}
_UNSET_IF_MISSING = re.compile(
    r"request\.(namespace|subResource|requestSubResource)"
    r"|(object|oldObject)\.metadata\.(annotations|labels(\.\w+)?)"
)
_LONGEST = 4096
"""Characters of an expression; longer ones are unknown."""


def is_excluded(conditions: Sequence[Mapping[str, Any]], variables: Mapping[str, Any]) -> bool:
    """Whether match conditions surely exclude a request: one of them is false (KEP-3716).

    Args:
        conditions: ``matchConditions`` of a webhook.
        variables: the variables of the expressions, as far as they are known.
    """
    return any(evaluate(str(one.get("expression") or ""), variables) is False for one in conditions)


def evaluate(expression: str, variables: Mapping[str, Any]) -> Any:
    """The value of a CEL expression, or :data:`UNKNOWN`."""
    parsed = _parsed(expression) if len(expression) <= _LONGEST else None
    return UNKNOWN if parsed is None else _value(parsed, variables)


@cache
def _parsed(expression: str) -> ast.expr | None:
    python = _TOKEN.sub(lambda found: _WORDS.get(found[0], found[0]), expression)
    try:
        # Within parentheses an expression may have several lines.
        return ast.parse(f"({python})", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _value(node: ast.expr, variables: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant():
            return node.value
        case ast.Name():
            return variables.get(node.id, UNKNOWN)
        case ast.List():
            items = [_value(one, variables) for one in node.elts]
            return UNKNOWN if UNKNOWN in items else items
        case ast.Attribute():
            return _member(_value(node.value, variables), node.attr)
        case ast.Subscript():
            return _member(_value(node.value, variables), _value(node.slice, variables))
        case ast.UnaryOp(op=ast.Invert()):
            value = _value(node.operand, variables)
            return not value if isinstance(value, bool) else UNKNOWN
        case ast.BoolOp():
            return _combined(node, [_value(one, variables) for one in node.values])
        case ast.Compare(ops=[operator], comparators=[right]):
            return _applied(
                _COMPARISONS.get(type(operator)), _value(node.left, variables), _value(right, variables)
            )
        case ast.Call(func=ast.Name(id="has"), args=[ast.Attribute() as member]):
            return _has(member, variables)
        case ast.Call(func=ast.Attribute() as method, args=[argument]):
            return _applied(
                _METHODS.get(method.attr), _value(method.value, variables), _value(argument, variables)
            )
    return UNKNOWN


def _member(value: Any, key: Any) -> Any:
    return value.get(key, UNKNOWN) if isinstance(value, Mapping) and isinstance(key, str) else UNKNOWN


def _combined(node: ast.BoolOp, values: Sequence[Any]) -> Any:
    """As in CEL, one side may decide although the other one is an error."""
    decisive = isinstance(node.op, ast.Or)
    if any(value is decisive for value in values):
        return decisive
    return not decisive if all(isinstance(value, bool) for value in values) else UNKNOWN


def _applied(function: Callable[[Any, Any], bool] | None, left: Any, right: Any) -> Any:
    if function is None or UNKNOWN in (left, right):
        return UNKNOWN
    try:
        return function(left, right)
    except (TypeError, AttributeError):
        return UNKNOWN


def _has(member: ast.Attribute, variables: Mapping[str, Any]) -> Any:
    """Whether a field is set. Of what is missing, only some fields are known not to be set."""
    holder = _value(member.value, variables)
    if not isinstance(holder, Mapping):
        return UNKNOWN
    is_unset = bool(_UNSET_IF_MISSING.fullmatch(ast.unparse(member)))
    return True if member.attr in holder else False if is_unset else UNKNOWN
