# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kubernetes quantities, such as ``30Gi`` or ``500m``, as numbers that can be compared."""

from __future__ import annotations

import re
from decimal import Decimal

from .._errors import LifecycleError

# The grammar of k8s.io/apimachinery/pkg/api/resource.Quantity.
_QUANTITY = re.compile(
    r"(?P<number>[+-]?(?:\d+(?:\.\d*)?|\.\d+))"
    r"(?:(?P<binary>[KMGTPE]i)|(?P<decimal>[numkMGTPE])|[eE](?P<exponent>[+-]?\d+))?"
)
_DECIMAL = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}


class BadQuantity(LifecycleError):
    """A text that is not a Kubernetes quantity."""


def parse_quantity(quantity: str | int | float) -> Decimal:
    """The value of a quantity in its base unit: bytes, cores, or another unit.

    Args:
        quantity: the value in an object; YAML reads a quantity without a unit as a number.

    Raises:
        BadQuantity: it is not a quantity.
    """
    match = _QUANTITY.fullmatch(str(quantity))
    if match is None:
        raise BadQuantity(f"{quantity!r} is no quantity: expected something like 30Gi, 500M or 1.5")
    number = Decimal(match["number"])
    if match["binary"]:
        return number * (1 << _BINARY[match["binary"]])
    exponent = _DECIMAL[match["decimal"]] if match["decimal"] else int(match["exponent"] or 0)
    return number.scaleb(exponent)
