# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which lines of progress are printed, and when, by a clock that the tests set."""

from __future__ import annotations

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.progress_file import ProgressLine
from ansible_collections.kyma.lifecycle.plugins.module_utils._progress import NOTICE, Step
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.screen.progress_view import (
    ProgressView,
    Verbosity,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.screen.waiting_lines import (
    DUE_SECONDS,
    REPEAT_SECONDS,
)
from hypothesis import given, settings
from hypothesis import strategies as st

SHOWN = "pod shop/checkout-7d9: Unschedulable: 0/1 nodes"
UNSCHEDULABLE = "Deployment shop/checkout: 0 of 1 replicas; pod checkout-7d9: Unschedulable: 0/1 nodes"


class Screen:
    """What is printed, with a clock that stands still until a test moves it on."""

    def __init__(self, verbosity: Verbosity = Verbosity.NORMAL) -> None:
        self.view = ProgressView(verbosity)
        self.now = 1000.0

    def report(self, subject: str, state: str, detail: str = "", step: Step | None = None) -> list[str]:
        return [line.text for line in self.view.take(ProgressLine(0, subject, state, detail, step), self.now)]

    def after(self, seconds: float) -> list[str]:
        self.now += seconds
        return [line.text for line in self.view.due(self.now)]


def test_a_wait_of_less_than_ten_seconds_is_not_printed() -> None:
    screen = Screen()
    assert screen.report("a", "applying", "31 objects", Step(limit=600, total=31)) == []
    assert screen.report("a", "waiting", "Deployment a: 0 of 1", Step(limit=600, spent=2)) == []
    assert screen.after(9.9) == []
    assert screen.report("a", "succeeded", "in 9.9 s, 7 of 16 components") == []
    assert screen.after(100) == ["a: succeeded (in 9.9 s, 7 of 16 components)"]
    assert screen.after(100) == []


def test_successes_within_ten_seconds_share_a_line() -> None:
    screen = Screen()
    assert screen.report("a", "succeeded", "in 1.0 s, 1 of 16 components") == []
    assert screen.after(9) == []
    assert screen.report("b", "succeeded", "in 8.0 s, 2 of 16 components") == []
    assert screen.after(1) == ["a, b: succeeded (2 of 16 components)"]
    assert screen.after(100) == []


def test_successes_stand_before_what_is_printed_after_them_and_none_is_lost() -> None:
    screen = Screen()
    screen.report("a", "succeeded", "in 1.0 s")
    screen.report("b", "succeeded", "in 1.0 s")
    assert screen.report("c", "failed", "no such image") == ["a, b: succeeded", "c: failed (no such image)"]
    screen.report("d", "succeeded", "in 1.0 s")
    assert [line.text for line in screen.view.rest()] == ["d: succeeded (in 1.0 s)"]
    assert screen.view.rest() == []


def test_a_subject_that_succeeds_twice_is_named_once() -> None:
    screen = Screen()
    screen.report("a", "succeeded", "in 1.0 s")
    screen.report("a", "succeeded")
    assert screen.after(10) == ["a: succeeded (in 1.0 s)"]
    for subject in ("a", "b", "a"):
        screen.report(subject, "succeeded")
    assert screen.after(10) == ["a, b: succeeded"]


def test_each_success_is_shown_at_once_with_full_verbosity() -> None:
    assert Screen(Verbosity.ALL).report("a", "succeeded", "in 1.0 s") == ["a: succeeded (in 1.0 s)"]


def test_a_longer_one_says_why_and_how_long_it_may_still_take() -> None:
    screen = Screen()
    screen.report("checkout", "waiting", "Deployment shop/checkout: 0 of 1", Step(limit=600, spent=25))
    screen.after(9)
    screen.report("checkout", "waiting", UNSCHEDULABLE, Step(limit=600, spent=34, reason=UNSCHEDULABLE))
    assert screen.after(1) == [f"checkout: waiting 35 of 600 s: {SHOWN}"]


@pytest.mark.parametrize(
    ("waits_for", "failure", "printed"),
    [
        (UNSCHEDULABLE, UNSCHEDULABLE.replace("0 of 1 replicas", "it has timed out"), "checkout: failed"),
        ("pod a: ended after 5 restarts", "pod a: ended after 6 restarts", "checkout: failed"),
        (UNSCHEDULABLE, "its migration failed", "checkout: failed (its migration failed)"),
        ("", UNSCHEDULABLE, f"checkout: failed ({SHOWN})"),
    ],
)
def test_a_failure_repeats_no_cause_that_its_wait_has_shown(
    waits_for: str, failure: str, printed: str
) -> None:
    screen = Screen()
    screen.report("checkout", "waiting", waits_for, Step(limit=600, reason=waits_for))
    assert len(screen.after(10)) == 1
    assert screen.report("checkout", "failed", failure) == [printed]


def test_a_failure_has_its_cause_if_no_line_had_it() -> None:
    screen = Screen()
    screen.report("checkout", "waiting", UNSCHEDULABLE, Step(limit=600, reason=UNSCHEDULABLE))
    assert screen.after(9) == []
    assert screen.report("checkout", "failed", UNSCHEDULABLE) == [f"checkout: failed ({SHOWN})"]


def test_the_same_reason_is_repeated_seldom_and_another_one_soon() -> None:
    screen = Screen()
    screen.report("a", "waiting", "b", Step(limit=600, reason="b"))
    assert screen.after(10) == ["a: waiting 10 of 600 s: b"]
    assert screen.after(29) == []
    assert screen.after(1) == ["a: waiting 40 of 600 s: b"]
    screen.report("a", "waiting", "c", Step(limit=600, spent=40, reason="c"))
    assert screen.after(9) == []
    assert screen.after(1) == ["a: waiting 50 of 600 s: c"]


def test_applying_many_objects_is_counted() -> None:
    screen = Screen()
    screen.report("a", "applying", "31 objects", Step(limit=600, total=31))
    screen.after(9)
    screen.report("a", "applying", "31 objects", Step(limit=600, spent=9, done=17, total=31))
    assert screen.after(3) == ["a: applying 17 of 31 objects, 12 of 600 s"]


def test_a_step_with_all_things_done_is_over() -> None:
    screen = Screen()
    screen.report("release", "rendering", "", Step(done=3, total=7, unit="components", is_quick=True))
    assert screen.after(2) == ["release: rendering 3 of 7 components, 2 s"]
    screen.report("release", "rendering", "", Step(done=5, total=7, unit="components", is_quick=True))
    assert screen.after(4.9) == []
    assert screen.after(0.1) == ["release: rendering 5 of 7 components, 7 s"]
    screen.report("release", "rendering", "", Step(done=7, total=7, unit="components", is_quick=True))
    assert screen.after(100) == []


def test_a_count_that_has_only_begun_is_not_printed() -> None:
    """However long the step before it took."""
    screen = Screen()
    screen.report("plan", "reading inventories", "", Step(total=1, is_quick=True))
    screen.after(1.9)
    screen.report("plan", "rehearsing", "", Step(total=15, unit="components", is_quick=True))
    assert screen.after(1) == []
    screen.report("plan", "rehearsing", "", Step(done=4, total=15, unit="components", is_quick=True))
    assert screen.after(0.1) == ["plan: rehearsing 4 of 15 components, 1 s"]


def test_one_that_does_not_move_is_printed() -> None:
    screen = Screen()
    screen.report("plan", "rehearsing", "", Step(total=15, unit="components", is_quick=True))
    assert screen.after(2) == ["plan: rehearsing 0 of 15 components, 2 s"]


def test_steps_that_follow_each_other_are_one_piece_of_work() -> None:
    """Ten quick steps in a row leave nobody without a word for a minute."""
    screen = Screen()
    for number in range(1, 7):
        screen.report("a", f"step {number}", "", Step())
        printed = screen.after(2)
    assert printed == []
    assert Screen.after(screen, 8) == ["a: step 6 10 s"]


def test_a_migration_is_announced_and_its_last_word_is_the_reason() -> None:
    screen = Screen()
    running = Step(limit=300, reason="the volume is small", is_announced=True)
    assert screen.report("logging/grow", "running", "the volume is small", running) == [
        "logging/grow: running (the volume is small)"
    ]
    screen.after(15)
    screen.after(5)
    assert screen.report("logging/grow", "info", "half of it is copied") == [
        "logging/grow: info (half of it is copied)"
    ]
    assert screen.after(REPEAT_SECONDS - 1) == []
    assert screen.after(1) == ["logging/grow: running 50 of 300 s: half of it is copied"]


def test_quiet_prints_failures_alone() -> None:
    screen = Screen(Verbosity.QUIET)
    assert screen.report("run", "starting", "Kyma 2.11") == []
    assert screen.report("a", "waiting", "b", Step(limit=600)) == []
    assert screen.after(100) == []
    assert screen.report("b", "succeeded", "in 1 s") == []
    [line] = screen.view.take(ProgressLine(0, "a", "failed", "no such image"), screen.now)
    assert (line.text, line.is_failure) == ("a: failed (no such image)", True)


def test_all_prints_every_change_once_and_no_empty_one() -> None:
    screen = Screen(Verbosity.ALL)
    waiting = Step(limit=600)
    assert screen.report("a", "waiting", "", waiting) == []
    assert screen.report("a", "waiting", "Pod x: 1 of 2", waiting) == ["a: waiting (Pod x: 1 of 2)"]
    assert screen.report("a", "waiting", "Pod x: 1 of 2", waiting) == []
    assert screen.report("a", "waiting", "Pod x: 2 of 2", waiting) == ["a: waiting (Pod x: 2 of 2)"]


@pytest.mark.parametrize("verbosity", Verbosity)
def test_no_time_is_over_its_limit(verbosity: Verbosity) -> None:
    screen = Screen(verbosity)
    screen.report("a", "waiting", "", Step(limit=20, reason="b"))
    assert screen.after(99) == ([] if verbosity is Verbosity.QUIET else ["a: waiting 20 of 20 s: b"])


Event = tuple[float, str]
EVENTS = st.lists(st.tuples(st.floats(0, 20), st.sampled_from(["same", "new", "end"])), max_size=40)


@settings(deadline=None)
@given(EVENTS)
def test_lines_are_neither_too_many_nor_too_few_after_any_events(events: list[Event]) -> None:
    """No two lines within ten seconds, none before the tenth, and one every thirty while it lasts."""
    screen = Screen()
    begun: float | None = None
    printed: float | None = None
    for number, (seconds, what) in enumerate(events):
        if what == "end":
            screen.report("a", "cancelled")
            begun = printed = None
        else:
            screen.report("a", "waiting", "", Step(reason=str(number) if what == "new" else ""))
            begun = screen.now if begun is None else begun
        lines = screen.after(seconds)
        if begun is None:
            assert lines == []
            continue
        if lines:
            assert screen.now - begun >= DUE_SECONDS
            assert printed is None or screen.now - printed >= DUE_SECONDS
            printed = screen.now
        else:
            assert screen.now - (begun if printed is None else printed) < REPEAT_SECONDS


def test_in_a_log_each_success_is_a_line_of_its_own_at_once() -> None:
    view = ProgressView(is_log=True)
    lines = {name: ProgressLine(0.0, name, "succeeded", f"run 1, Secret {name}") for name in "abc"}
    for name, line in lines.items():
        assert [one.text for one in view.take(line, 1.0)] == [f"{name}: succeeded (run 1, Secret {name})"]
    assert (view.rest(), view.due(100.0)) == ([], [])


@pytest.mark.parametrize(
    ("verbosity", "has_notices", "is_shown"),
    [
        (Verbosity.NORMAL, False, False),
        (Verbosity.NORMAL, True, True),
        (Verbosity.ALL, False, True),
        (Verbosity.QUIET, True, False),
    ],
)
def test_a_notice_is_printed_with_v_and_with_full_verbosity(
    verbosity: Verbosity, *, has_notices: bool, is_shown: bool
) -> None:
    view = ProgressView(verbosity, has_notices=has_notices)
    lines = [line.text for line in view.take(ProgressLine(0, "run", NOTICE, "no fence"), 1000.0)]
    assert lines == ["run: notice (no fence)"] * is_shown
