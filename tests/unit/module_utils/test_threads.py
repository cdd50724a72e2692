# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Working on many things at once."""

from __future__ import annotations

import threading
import time

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._threads import map_in_threads


def test_the_answers_come_in_the_order_of_the_items() -> None:
    done = [threading.Event() for _number in range(11)]
    done[10].set()

    def slowest_first(number: int) -> int:
        assert done[number + 1].wait(60)
        done[number].set()
        return number

    assert map_in_threads(slowest_first, range(10), threads=10) == list(range(10))
    assert map_in_threads(slowest_first, []) == []


def test_no_more_work_at_once_than_there_are_threads() -> None:
    at_work: set[int] = set()
    most = []
    three = threading.Barrier(3, timeout=60)

    def work(number: int) -> None:
        at_work.add(number)
        most.append(len(at_work))
        three.wait()
        at_work.remove(number)

    map_in_threads(work, range(21), threads=3)
    assert max(most) == 3


def test_of_two_errors_that_of_the_first_item_counts() -> None:
    second_fails = threading.Event()

    def fail(number: int) -> None:
        if number:
            second_fails.set()
        assert second_fails.wait(60)
        raise ValueError(number)

    with pytest.raises(ValueError, match="0"):
        map_in_threads(fail, range(2))


def test_an_error_cancels_what_has_not_begun_and_nothing_goes_on() -> None:
    begun, ended = [], []

    def work(number: int) -> None:
        begun.append(number)
        if number == 0:
            raise ValueError(number)
        time.sleep(0.05)
        ended.append(number)

    with pytest.raises(ValueError, match="0"):
        map_in_threads(work, range(1000), threads=4)
    assert len(begun) < 500, "before the cancellation the thread of the error may begin another call"
    assert sorted(ended) == sorted(set(begun) - {0})
