# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evaluates match conditions of admission webhooks, as far as a request is known. They are in CEL. Pure."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

UNKNOWN = object()
"""The value of an expression that can't be evaluated, also of one that CEL would report as an error."""
# In CEL a negation binds more tightly than a comparison, which in Python only ~ does.
_WORDS = {"&&": " and ", "||": " or ", "!": " ~", "true": "True", "false": "False", "null": "None"}
_TOKEN = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|&&|\|\||!=|!|\w+""")
_METHODS = {"startsWith": str.startswith, "endsWith": str.endswith, "contains": str.__contains__}
_COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.In: lambda one, many: one in many,
}
_LONGEST = 4096
"""Characters of an expression; longer ones are unknown."""


def is_excluded(conditions: Sequence[Mapping[str, Any]], variables: Mapping[str, Any]) -> bool:
    """Whether match conditions surely exclude a request: one of them is false (KEP-3716).

    Args:
        conditions: ``matchConditions`` of a webhook.
        variables: of the expressions, as far as they are known; None for a field that is not set.
    """
    return any(evaluate(str(one.get("expression") or ""), variables) is False for one in conditions)


def evaluate(expression: str, variables: Mapping[str, Any]) -> Any:
    """The value of a CEL expression, or :data:`UNKNOWN`."""
    python = _TOKEN.sub(lambda match: _WORDS.get(match[0], match[0]), expression)
    try:
        # Within parentheses an expression may have several lines.
        parsed = ast.parse(f"({python})", mode="eval") if len(expression) <= _LONGEST else None
        return _known(parsed.body, variables) if parsed else UNKNOWN
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return UNKNOWN


def _known(node: ast.expr, variables: Mapping[str, Any]) -> Any:
    try:
        return _value(node, variables)
    except (LookupError, TypeError, ValueError):
        return UNKNOWN


def _value(node: ast.expr, variables: Mapping[str, Any]) -> Any:
    """The value. Raises LookupError, TypeError or ValueError if it is unknown."""
    match node:
        case ast.Name(name):
            return variables[name]
        case ast.Attribute(holder, key) | ast.Subscript(holder, ast.Constant(key)):
            if (value := _value(holder, variables)[key]) is not None:
                return value
        case ast.Call(ast.Name("has"), [ast.Attribute(holder, key)]):
            return _value(holder, variables)[key] is not None
        case ast.Call(ast.Attribute(holder, method), [argument]):
            return _METHODS[method](_value(holder, variables), _value(argument, variables))
        case ast.Compare(left, [comparison], [right]):
            return _COMPARISONS[type(comparison)](_value(left, variables), _value(right, variables))
        case ast.UnaryOp(ast.Invert(), operand):
            return {True: False, False: True}[_value(operand, variables)]
        case ast.BoolOp(operation, operands):
            # As in CEL, one side may decide although the other one is an error.
            values, decisive = [_known(one, variables) for one in operands], isinstance(operation, ast.Or)
            if any(value is decisive for value in values):
                return decisive
            if all(value is not decisive and isinstance(value, bool) for value in values):
                return not decisive
        case _:
            return ast.literal_eval(node)
    raise LookupError
