# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which cases of a matrix are played: a few that show the promise, or all of them with ``KYMA_TESTS=all``."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")

IS_FULL = os.environ.get("KYMA_TESTS") == "all"
"""Whether every case is wanted, as ``make test-all`` sets it."""


def cases(few: Iterable[T], others: Iterable[T]) -> list[T]:
    """The cases to play: ``few`` always, ``others`` only where every case is wanted."""
    return [*few, *(others if IS_FULL else ())]
