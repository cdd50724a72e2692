# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A quantity gets the form in which the API server returns it."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.quantity import parse_quantity
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.runtime.canonical_quantity import (
    canonical_quantity,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.extent import examples


@pytest.mark.parametrize(
    ("amount", "form"),
    [
        ("1024Mi", "1Gi"),
        ("1.5Gi", "1536Mi"),
        ("0.5Ki", "512"),
        ("1000Ki", "1000Ki"),
        ("1073741824", "1073741824"),
        ("0.5", "500m"),
        ("1000m", "1"),
        (1, "1"),
        (1.5, "1500m"),
        ("1000000", "1M"),
        ("1e3", "1e3"),
        ("12E", "12E"),
        ("12000P", "12E"),
        ("0Ki", "0"),
        ("1.0001", "1001m"),
        ("0", "0"),
        ("much", "much"),
        ("1e999999", "1e999999"),
        (True, True),
    ],
)
def test_an_amount_of_a_resource(amount: Any, form: Any) -> None:
    assert canonical_quantity(amount, is_resource=True) == form


def test_other_amounts_keep_nine_decimals() -> None:
    assert canonical_quantity("1.0001") == "1000100u"
    assert canonical_quantity("0.0000000001") == "1n"
    assert canonical_quantity("0.00001Ei") == "11529215046068469760u"


NUMBERS = st.decimals(0, 10**15, places=3)
SUFFIXES = st.sampled_from(["", "m", "k", "M", "Ki", "Gi", "e3", "E2"])


@settings(max_examples=examples(100, 200), deadline=None)
@given(NUMBERS, SUFFIXES)
def test_the_form_has_the_same_value_and_is_its_own_form(number: Any, suffix: str) -> None:
    quantity = f"{number:f}{suffix}"
    form = canonical_quantity(quantity)
    assert parse_quantity(form) == parse_quantity(quantity)
    assert canonical_quantity(form) == form
