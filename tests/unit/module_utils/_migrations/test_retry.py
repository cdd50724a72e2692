# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Retries belong to a migration: how often, how long apart, on what, and what ends them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.engine import run_migrations
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.results import MigrationOutcome
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    Conflict,
    Context,
    MigrationError,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.clock import FOREVER
from tests.support.migrations import Observer, config_map, migration, setting


class Flaky:
    """Fails so many times, and remembers when it was called."""

    def __init__(self, failures: int, error: Callable[[], Exception] = lambda: MigrationError("not yet")):
        self._left = failures
        self._error = error
        self.calls: list[float] = []

    def __call__(self) -> str:
        self.calls.append(time.monotonic())
        if self._left:
            self._left -= 1
            raise self._error()
        return "there it is"


def retried(
    flaky: Flaky, observer: Observer | None = None, timeout: float = 10.0, **how: Any
) -> MigrationOutcome:
    """What comes of a migration that retries."""

    def work(ctx: Context) -> None:
        assert ctx.retry(flaky, **{"delay": 0.01, **how}) == "there it is"
        ctx.cluster.apply(config_map("retries"))

    [outcome] = run_migrations([migration("retries", run=work, timeout=timeout)], setting(observer=observer))
    return outcome


def test_a_call_is_retried_until_it_succeeds_with_growing_delays() -> None:
    flaky = Flaky(3)
    assert retried(flaky, delay=0.04).state == "done"
    gaps = [later - earlier for earlier, later in zip(flaky.calls, flaky.calls[1:], strict=False)]
    assert len(gaps) == 3
    assert all(gap >= expected for gap, expected in zip(gaps, (0.04, 0.08, 0.16), strict=True))


def test_the_last_error_counts_when_the_attempts_are_used_up() -> None:
    flaky = Flaky(99)
    outcome = retried(flaky, attempts=3)
    assert (outcome.state, outcome.error, len(flaky.calls)) == ("failed", "not yet", 3)


def test_other_errors_are_worth_no_attempt() -> None:
    flaky = Flaky(99)
    assert (retried(flaky, on=(Conflict,)).state, len(flaky.calls)) == ("failed", 1)
    typo = Flaky(99, error=lambda: KeyError("spec"))
    assert retried(typo).error.startswith("KeyError: 'spec'")
    assert len(typo.calls) == 1


def test_a_retry_gives_up_if_its_delay_is_longer_than_the_time_that_is_left() -> None:
    flaky = Flaky(99)
    outcome = retried(flaky, timeout=FOREVER, delay=2 * FOREVER)
    assert (outcome.state, outcome.error, len(flaky.calls)) == ("failed", "not yet", 1)


def test_a_cancellation_wakes_it_from_its_delay() -> None:
    observer = Observer()
    timer = threading.Timer(0.1, observer.stop.set)

    def error() -> Exception:
        if len(flaky.calls) == 1:
            timer.start()
        return MigrationError("not yet")

    flaky = Flaky(99, error)
    outcome = retried(flaky, observer, timeout=2 * FOREVER, delay=FOREVER)
    timer.join()
    # What was begun may be tried once more, as it may be all that is missing.
    assert (outcome.state, outcome.error, len(flaky.calls)) == ("cancelled", "not yet", 2)


def test_a_retry_without_attempts_is_refused() -> None:
    assert "attempts must be at least 1" in retried(Flaky(0), attempts=0).error


def test_a_rehearsal_does_not_wait_between_attempts() -> None:
    flaky = Flaky(3)

    def work(ctx: Context) -> None:
        ctx.retry(flaky, delay=FOREVER)
        ctx.cluster.apply(config_map("retries"))

    [outcome] = run_migrations(
        [migration("retries", run=work, timeout=30 * FOREVER)], setting(MemoryCluster(), rehearsal=True)
    )
    assert (outcome.state, len(flaky.calls)) == ("done", 4)


@pytest.mark.parametrize(
    ("what", "error"),
    [
        ({"run": lambda _ctx: Flaky(1)()}, "not yet"),
        ({"check": lambda _ctx: Flaky(1)()}, "not yet"),
        ({"run": lambda ctx: ctx.sleep(60), "timeout": 0.1}, "longer than its timeout of 0.1 s"),
        ({"run": lambda _ctx: None}, "its check still says needed"),
    ],
)
@pytest.mark.parametrize("on_failure", ["fail", "warn"])
def test_each_failure_is_fatal_or_only_a_warning(what: dict[str, Any], error: str, on_failure: str) -> None:
    [outcome] = run_migrations([migration("fails", on_failure=on_failure, **what)], setting())
    assert error in outcome.error
    assert outcome.fatal is (on_failure == "fail")
    assert (outcome.state == "warned") is (on_failure == "warn")
