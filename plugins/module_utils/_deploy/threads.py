# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Work on many things at once, with the first defect raised and nothing left running."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

Item = TypeVar("Item")
Answer = TypeVar("Answer")

REQUESTS_AT_ONCE = 8
"""More threads than this don't make an API server answer faster."""


def side_by_side(
    work: Callable[[Item], Answer], items: Iterable[Item], threads: int = REQUESTS_AT_ONCE
) -> list[Answer]:
    """Call ``work`` for every item on some threads; the answers come in the order of the items.

    Raises:
        Exception: what the first failing call in the order of the items raised, after all have ended.
    """
    things = list(items)
    if len(things) < 2:
        return [work(thing) for thing in things]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max_workers=min(threads, len(things))) as pool:
        return list(pool.map(work, things))
