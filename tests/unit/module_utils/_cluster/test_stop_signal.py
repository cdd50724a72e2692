# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A signal that ends the waits of other threads."""

from __future__ import annotations

import threading

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.stop_signal import StopSignal

from tests.support.clock import FOREVER


def test_a_signal_ends_a_wait_of_another_thread() -> None:
    stop = StopSignal()
    threading.Timer(0.05, stop.set).start()
    stop.wait(FOREVER)
    assert stop.is_set


def test_a_signal_interrupts_only_the_waits_that_are_registered() -> None:
    stop, seen = StopSignal(), list[str]()
    with stop.interrupting(lambda: seen.append("before")):
        pass
    with stop.interrupting(lambda: seen.append("one")), stop.interrupting(lambda: seen.append("two")):
        stop.set()
        stop.set()
    assert seen == ["one", "two"]


def test_a_wait_that_is_registered_after_the_signal_is_interrupted_at_once() -> None:
    stop, seen = StopSignal(), list[str]()
    stop.set()
    with stop.interrupting(lambda: seen.append("late")):
        assert seen == ["late"]
    assert not StopSignal().is_set


def test_an_interrupt_may_give_the_signal_again() -> None:
    stop = StopSignal()
    with stop.interrupting(stop.set):
        stop.set()
