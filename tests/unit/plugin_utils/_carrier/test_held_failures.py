# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The reason of a failure is printed once: by the result of the task that it ends, or by progress."""

from __future__ import annotations

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.progress_file import ProgressLine
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.held_failures import (
    HOLD_SECONDS,
    HeldFailures,
)

FAILED = ProgressLine(1.0, "checkout", "failed", "no such image")
WAITING = ProgressLine(2.0, "cart", "waiting", "0 of 1 replicas")


class Screen:
    """A screen, and a clock that a test moves."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.now = 0.0
        self.held = HeldFailures(lambda line: self.lines.append(str(line)), lambda: self.now)

    def ask(self, seconds: float) -> None:
        """Some time goes by, and it is asked for what is late."""
        self.now += seconds
        self.held.show_late()


@pytest.fixture
def screen() -> Screen:
    return Screen()


def test_a_failure_that_ends_its_task_leaves_the_reason_to_the_result(screen: Screen) -> None:
    screen.held.show(FAILED)
    screen.ask(HOLD_SECONDS / 2)
    screen.held.show_rest(with_reasons=False)
    assert screen.lines == ["checkout: failed"]


def test_failures_whose_reasons_the_result_has_share_a_line(screen: Screen) -> None:
    for subject, state in (("checkout", "failed"), ("a/b", "timeout"), ("cart", "failed")):
        screen.held.show(ProgressLine(1.0, subject, state, "no"))
    screen.held.show_rest(with_reasons=False)
    assert screen.lines == ["checkout, cart: failed", "a/b: timeout"]


def test_the_reason_is_shown_at_once_if_the_task_continues(screen: Screen) -> None:
    screen.held.show(FAILED)
    screen.held.show(WAITING)
    screen.ask(HOLD_SECONDS)
    assert screen.lines == [str(WAITING), "checkout: failed (no such image)"]
    screen.ask(HOLD_SECONDS)
    screen.held.show_rest(with_reasons=False)
    assert len(screen.lines) == 2


@pytest.mark.parametrize("state", ["timeout", "blocked"])
def test_migrations_fail_in_other_ways_too(screen: Screen, state: str) -> None:
    screen.held.show(ProgressLine(1.0, "a/b", state, "no"))
    assert screen.lines == []
    screen.held.show_rest(with_reasons=False)
    assert screen.lines == [f"a/b: {state}"]


def test_a_task_that_is_lost_has_no_reasons_in_its_result(screen: Screen) -> None:
    screen.held.show(FAILED)
    screen.held.show_rest(with_reasons=True)
    assert screen.lines == ["checkout: failed (no such image)"]


def test_lines_without_a_failure_are_shown_at_once(screen: Screen) -> None:
    screen.held.show(WAITING)
    assert screen.lines == [str(WAITING)]
