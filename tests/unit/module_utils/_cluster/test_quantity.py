# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kubernetes quantities as numbers."""

from __future__ import annotations

from decimal import Decimal

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.quantity import (
    BadQuantity,
    parse_quantity,
)


@pytest.mark.parametrize(
    ("quantity", "value"),
    [
        ("30Gi", 30 * 2**30),
        ("100Mi", 100 * 2**20),
        ("1.5Ki", 1536),
        ("30G", 30 * 10**9),
        ("1k", 1000),
        ("500m", Decimal("0.5")),
        ("3u", Decimal("0.000003")),
        ("2n", Decimal("0.000000002")),
        ("2E", 2 * 10**18),
        ("2Ei", 2 * 2**60),
        ("1e3", 1000),
        ("1E3", 1000),
        ("12e-1", Decimal("1.2")),
        (".5", Decimal("0.5")),
        ("5.", 5),
        ("-1Ki", -1024),
        ("+1", 1),
        (32212254720, 30 * 2**30),
        (0.5, Decimal("0.5")),
    ],
)
def test_reads_every_notation(quantity: str | int | float, value: Decimal | int) -> None:
    assert parse_quantity(quantity) == value


def test_numbers_without_their_units_are_not_compared() -> None:
    assert parse_quantity("100Mi") < parse_quantity("30Gi") < parse_quantity("1Ti")
    assert parse_quantity("30G") < parse_quantity("30Gi") == parse_quantity("30720Mi")


@pytest.mark.parametrize("text", ["", "Gi", "30 Gi", "30gi", "30GB", "ten", "1e", "0x10", "1.2.3", "1Ki\n"])
def test_refuses_what_is_none(text: str) -> None:
    with pytest.raises(BadQuantity, match="no quantity"):
        parse_quantity(text)
