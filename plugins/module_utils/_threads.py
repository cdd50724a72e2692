# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Work on many items at once; raises an error and leaves nothing running."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import Any, TypeVar

Item = TypeVar("Item")
Answer = TypeVar("Answer")

REQUESTS_AT_ONCE = 16
"""How many requests a process sends to a cluster at once: more don't make a near server answer faster."""


def map_in_threads(
    work: Callable[[Item], Answer], items: Iterable[Item], threads: int = REQUESTS_AT_ONCE
) -> list[Answer]:
    """Call ``work`` for every item in some threads; the answers are in the order of the items.

    Raises:
        BaseException: the error of the first failed call, in the order of the items. Calls that had begun
            before it have ended, and all others are cancelled.
    """
    things = list(items)
    if len(things) < 2:
        return [work(thing) for thing in things]
    with ThreadPoolExecutor(min(threads, len(things))) as pool:
        calls = [pool.submit(work, thing) for thing in things]
        try:
            wait(calls, return_when=FIRST_EXCEPTION)
        finally:
            pool.shutdown(cancel_futures=True)
    for call in calls:
        error = None if call.cancelled() else call.exception()
        if error is not None:
            raise error
    return [call.result() for call in calls]


def call_in_threads(*calls: Callable[[], Any]) -> list[Any]:
    """The answers of some calls that wait for different things; raises like :func:`map_in_threads`."""
    return map_in_threads(lambda call: call(), calls)
