# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The queue hands out each item once, never to two at a time, and later what has failed."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils import _work_queue as module
from ansible_collections.kyma.lifecycle.plugins.module_utils._work_queue import (
    FIRST_DELAY,
    LONGEST_DELAY,
    WorkQueue,
)


class Clock:
    """Time that passes when a test says so."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def taken_now(queue: WorkQueue[str]) -> list[str]:
    """All that would be handed out now, without waiting; each counts as done."""
    taken: list[str] = []
    # There is always one, so that taking never blocks; with the first, all that is due has come.
    queue.add("probe")
    while True:
        item = queue.take()
        assert item is not None
        queue.done(item)
        taken.append(item)
        if "probe" in taken and not len(queue):
            return [one for one in taken if one != "probe"]


def test_the_longest_work_is_that_of_the_item_that_was_taken_first() -> None:
    clock = Clock()
    queue: WorkQueue[str] = WorkQueue(clock)
    assert queue.longest_seconds == 0
    for item in ("a", "b"):
        queue.add(item)
        assert queue.take() == item
        clock.seconds += 10
    queue.add("a")
    assert queue.longest_seconds == 20
    queue.retry("a")
    assert queue.longest_seconds == 10
    queue.done("b")
    assert queue.longest_seconds == 0


def test_items_are_handed_out_in_their_order_and_once() -> None:
    queue: WorkQueue[str] = WorkQueue()
    for item in ("a", "b", "a", "c", "b"):
        queue.add(item)
    assert len(queue) == 3
    assert taken_now(queue) == ["a", "b", "c"]
    assert len(queue) == 0


def test_an_item_that_is_added_while_in_work_is_handed_out_once_more_afterwards() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add("a")
    assert queue.take() == "a"
    for _change in range(3):
        queue.add("a")
    queue.add("b")
    assert len(queue) == 2
    # Another worker does not get it.
    assert queue.take() == "b"
    queue.done("b")
    queue.done("a")
    assert taken_now(queue) == ["a"]
    assert taken_now(queue) == []


def test_a_queue_has_ready_items_if_a_free_worker_would_get_one() -> None:
    clock = Clock()
    queue: WorkQueue[str] = WorkQueue(clock)
    assert not queue.has_ready()
    queue.add("a")
    assert queue.has_ready()
    queue.take()
    queue.add("a")
    # Only once the one who has it is done.
    assert not queue.has_ready()
    queue.add_after("b", 5)
    assert not queue.has_ready()
    clock.seconds = 5
    assert queue.has_ready()


def test_a_delayed_item_is_handed_out_at_its_earliest_time() -> None:
    clock = Clock()
    queue: WorkQueue[str] = WorkQueue(clock)
    queue.add_after("a", 10)
    queue.add_after("a", 5)
    queue.add_after("a", 20)
    queue.add_after("b", 7)
    assert len(queue) == 0
    for seconds, due in ((4.9, []), (5.0, ["a"]), (6.9, []), (30.0, ["b"]), (60.0, [])):
        clock.seconds = seconds
        assert taken_now(queue) == due


def test_an_item_that_is_added_now_is_not_due_later_once_more() -> None:
    clock = Clock()
    queue: WorkQueue[str] = WorkQueue(clock)
    queue.add_after("a", 5)
    queue.add("a")
    assert taken_now(queue) == ["a"]
    clock.seconds = 100
    assert taken_now(queue) == []


def test_a_failed_item_is_retried_at_growing_intervals_until_it_succeeds() -> None:
    clock = Clock()
    queue: WorkQueue[str] = WorkQueue(clock)
    distances = []
    queue.add("a")
    for failures in range(1, 12):
        assert queue.take() == "a"
        assert queue.retry("a") == failures
        begin = clock.seconds
        while not len(queue):
            clock.seconds += FIRST_DELAY / 2
            queue.add("probe")
            queue.take()
            queue.done("probe")
        distances.append(clock.seconds - begin)
    assert distances[:4] == [0.5, 1.0, 2.0, 4.0]
    assert distances[-1] == LONGEST_DELAY
    assert queue.take() == "a"
    queue.done("a")
    queue.add("a")
    assert queue.take() == "a"
    assert queue.retry("a") == 1


def test_a_change_is_looked_at_at_once_also_after_failures() -> None:
    clock = Clock()
    queue: WorkQueue[str] = WorkQueue(clock)
    queue.add("a")
    queue.take()
    queue.add("a")
    queue.retry("a")
    assert taken_now(queue) == ["a"]


def test_a_worker_that_waits_is_woken_for_what_is_due_earlier() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add_after("late", 60)
    taken: list[str | None] = []
    worker = threading.Thread(target=lambda: taken.append(queue.take()))
    worker.start()
    time.sleep(0.05)
    queue.add_after("early", 0.05)
    worker.join(60)
    assert taken == ["early"]


def test_closing_ends_all_workers_and_hands_out_nothing_more() -> None:
    queue: WorkQueue[str] = WorkQueue()
    taken: list[str | None] = []
    workers = [threading.Thread(target=lambda: taken.append(queue.take())) for _one in range(3)]
    for worker in workers:
        worker.start()
    queue.close()
    for worker in workers:
        worker.join(60)
    queue.add("a")
    assert [*taken, queue.take()] == [None] * 4


def test_nothing_is_lost_and_nothing_is_worked_on_by_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FIRST_DELAY", 0.001)
    queue: WorkQueue[int] = WorkQueue()
    lock = threading.Lock()
    added: Counter[int] = Counter()
    seen: Counter[int] = Counter()
    at_work: set[int] = set()
    problems: list[str] = []

    def work(seed: int) -> None:
        chance = random.Random(seed)
        while (item := queue.take()) is not None:
            with lock:
                if item in at_work:
                    problems.append(f"two work on {item}")
                at_work.add(item)
                version = added[item]
            time.sleep(0.0005)
            with lock:
                at_work.discard(item)
            if chance.random() < 0.2:
                queue.retry(item)
            else:
                with lock:
                    seen[item] = max(seen[item], version)
                queue.done(item)

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for worker in workers:
        worker.start()
    chance = random.Random(0)
    for _change in range(2000):
        item = chance.randrange(20)
        with lock:
            added[item] += 1
        queue.add(item)
    end = time.monotonic() + 60
    while seen != added and time.monotonic() < end:
        time.sleep(0.01)
    queue.close()
    for worker in workers:
        worker.join(60)
    assert (problems, seen) == ([], added)


def test_slow_items_share_a_worker_and_others_pass_them() -> None:
    queue: WorkQueue[str] = WorkQueue(slow_group=lambda item: "slow" if item.startswith("slow") else None)
    for item in ("slow-1", "slow-2", "quick-1", "slow-3", "quick-2"):
        queue.add(item)
    assert [queue.take() for _one in range(3)] == ["slow-1", "quick-1", "quick-2"]
    assert not queue.has_ready()
    queue.done("quick-1")
    assert not queue.has_ready()
    queue.done("slow-1")
    assert [queue.has_ready(), queue.take()] == [True, "slow-2"]
    queue.retry("slow-2")
    assert queue.take() == "slow-3"


def test_groups_of_slow_items_take_turns() -> None:
    queue: WorkQueue[str] = WorkQueue(slow_group=lambda item: item[0])
    for item in ("a1", "a2", "a3", "b1", "c1"):
        queue.add(item)
    taken = []
    for _one in range(7):
        item = queue.take()
        assert item
        taken.append(item)
        queue.done(item)
        if item == "b1":
            queue.add("b2")
            queue.add("d1")
    assert taken == ["a1", "b1", "c1", "d1", "a2", "b2", "a3"]


def test_a_worker_that_waits_gets_the_next_slow_item_once_the_one_before_is_done() -> None:
    slow = {"a"}
    queue: WorkQueue[str] = WorkQueue(slow_group=lambda item: item if item in slow else None)
    for item in "ab":
        queue.add(item)
    assert queue.take() == "a"
    # It becomes slow while it waits.
    slow.add("b")
    taken: list[str | None] = []
    thread = threading.Thread(target=lambda: taken.append(queue.take()))
    thread.start()
    thread.join(0.1)
    assert taken == []
    queue.done("a")
    thread.join(60)
    assert taken == ["b"]
