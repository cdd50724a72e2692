# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The form in which the API server returns a quantity: ``1024Mi`` as ``1Gi``, ``0.5`` as ``500m``. Pure."""

from __future__ import annotations

from decimal import ROUND_UP, Context, Decimal, InvalidOperation
from functools import lru_cache
from typing import Any

from ..._cluster.quantity import BadQuantity, parse_quantity

_DECIMAL_SUFFIXES = {-9: "n", -6: "u", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P", 18: "E"}
_BINARY_SUFFIXES = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_NANO, _MILLI = -9, -3
_CONTEXT = Context(prec=50)
"""More digits than a quantity has that the API server takes."""


def canonical_quantity(quantity: Any, *, is_resource: bool = False) -> Any:
    """The quantity as the API server returns it; other text is returned unchanged.

    Args:
        quantity: a text, or a number as YAML reads a quantity without a unit.
        is_resource: whether it is the amount of a resource, which the API server stores with three decimals.
    """
    if not isinstance(quantity, (str, int, float)):
        return quantity
    canonical = _canonical_text(str(quantity).strip(), _MILLI if is_resource else _NANO)
    return quantity if canonical is None else canonical


@lru_cache
def _canonical_text(text: str, decimals: int) -> str | None:
    """The canonical form of a quantity with these decimals; None if it is none. Most jobs have the same."""
    try:
        number = parse_quantity(text).quantize(Decimal(1).scaleb(decimals), ROUND_UP, _CONTEXT)
    except (BadQuantity, InvalidOperation):
        return None
    # As the API server does, even where the text has a binary suffix.
    if text.endswith("i") and abs(number) >= 1024 and number == int(number):
        return _in_binary(int(number))
    exponent = _exponent(number)
    mantissa = int(number.scaleb(-exponent))
    if _has_exponent(text):
        return f"{mantissa}e{exponent}" if exponent else str(mantissa)
    return f"{mantissa}{_DECIMAL_SUFFIXES[exponent]}"


def _in_binary(number: int) -> str:
    power = 0
    while power < len(_BINARY_SUFFIXES) - 1 and number % 1024 == 0:
        number, power = number // 1024, power + 1
    return f"{number}{_BINARY_SUFFIXES[power]}"


def _exponent(number: Decimal) -> int:
    """The largest exponent of a suffix with which the number needs no decimals."""
    if not number:
        return 0
    return max(one for one in _DECIMAL_SUFFIXES if number.scaleb(-one) == int(number.scaleb(-one)))


def _has_exponent(text: str) -> bool:
    # A lone E at the end is the suffix for 10^18.
    return "e" in text or ("E" in text[:-1] and not text.endswith("Ei"))
