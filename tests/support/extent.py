# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The number of cases to try: what `make test` has time for, or all for a night of `make test-all`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")

IS_FULL = os.environ.get("KYMA_TESTS") == "all"
"""Whether everything is tried; tests/make/__main__.py says so for `make test-all`."""
EXAMPLES = 100
"""Of each property, at least, where everything is tried."""


def examples(usually: int, everywhere: int = EXAMPLES) -> int:
    """Return how many examples of a property are tried: `usually`, and where everything is tried."""
    return max(usually, everywhere) if IS_FULL else usually


def sample(items: Sequence[T], usually: int) -> list[T]:
    """Return so many of the items, evenly spread from the first to the last; all if everything is tried."""
    if IS_FULL or len(items) <= usually:
        return [*items]
    last = len(items) - 1
    return [items[round(number * last / (usually - 1))] for number in range(usually)]


def cases(few: Iterable[T], others: Iterable[T]) -> list[T]:
    """Return the cases of a matrix to try: `few` always, `others` too if everything is tried."""
    return [*few, *(others if IS_FULL else ())]
