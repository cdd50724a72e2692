# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Work on many things at once, with an error raised and nothing left running."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

Item = TypeVar("Item")
Answer = TypeVar("Answer")

REQUESTS_AT_ONCE = 8
"""More threads than this don't make an API server answer faster."""


def map_in_threads(
    work: Callable[[Item], Answer], items: Iterable[Item], threads: int = REQUESTS_AT_ONCE
) -> list[Answer]:
    """Call ``work`` for every item on some threads; the answers come in the order of the items.

    The caller's thread is one of them. ``concurrent.futures`` takes longer to be imported than a run with
    nothing to do can spare.

    Raises:
        BaseException: of the calls that failed, what the first in the order of the items raised. No other
            call begins after one has failed, and those that had begun have ended.
    """
    things = list(items)
    answers: dict[int, Answer] = {}
    errors: dict[int, BaseException] = {}
    queue, lock = enumerate(things), threading.Lock()

    def work_on() -> None:
        while not errors:
            with lock:
                found = next(queue, None)
            if found is None:
                return
            position, thing = found
            try:
                answers[position] = work(thing)
            except BaseException as error:
                errors[position] = error

    helpers = [
        threading.Thread(target=work_on, daemon=True) for _each in range(min(threads, len(things)) - 1)
    ]
    for helper in helpers:
        helper.start()
    work_on()
    for helper in helpers:
        helper.join()
    if errors:
        raise errors[min(errors)]
    return [answers[position] for position in range(len(things))]


def call_in_threads(*calls: Callable[[], Any]) -> list[Any]:
    """The answers of some calls that wait for different things; raises as :func:`map_in_threads` does."""
    return map_in_threads(lambda call: call(), calls)
