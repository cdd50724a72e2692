# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The event source hands outcomes on from the engine's threads, and neither returns nor raises."""

from __future__ import annotations

import asyncio
import runpy
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

from tests.cluster.paths import BUILD

SOURCE = BUILD / "ansible_collections/kyma/lifecycle/extensions/eda/plugins/event_source/errands.py"
PACKAGE = "ansible_collections.kyma.lifecycle.plugins.module_utils."
HOST = {"host": "https://127.0.0.1:1", "api_key": "a-secret-key"}
"""Nobody answers there; nobody is asked."""


class Engine:
    """What the source starts instead of the engine; each start runs the next of these functions."""

    def __init__(self, *runs: Callable[[Any, Callable[[], bool]], None]) -> None:
        self.runs = list(runs)
        self.options: list[dict[str, Any]] = []
        self.threads: list[threading.Thread] = []
        self.is_closed = False

    def install(self, patch: pytest.MonkeyPatch) -> None:
        module = ModuleType(f"{PACKAGE}_errands.errand_engine")

        engines = self

        class ErrandEngine:
            def __init__(self, _cluster: object, _options: object, *, report: Any, on_outcome: Any) -> None:
                self.report, self.on_outcome = report, on_outcome

            def run(self, cancelled: Callable[[], bool]) -> None:
                engines.threads.append(threading.current_thread())
                engines.runs.pop(0)(self.on_outcome, cancelled)

        def options(**given: Any) -> dict[str, Any]:
            self.options.append(given)
            return given

        module.ErrandEngine, module.EngineOptions = ErrandEngine, options
        patch.setitem(sys.modules, module.__name__, module)

    def until_cancelled(self, on_outcome: Any, cancelled: Callable[[], bool]) -> None:
        for number in range(3):
            on_outcome({"state": "succeeded", "run": number})
        while not cancelled():
            threading.Event().wait(0.01)
        self.is_closed = True


def fails(_on_outcome: Any, _cancelled: Callable[[], bool]) -> None:
    raise RuntimeError("the lease can't be had")


def events_of(count: int, seconds: float = 60.0, **args: Any) -> list[dict[str, Any]]:
    """Run the source until it has put so many events, and cancel it as ansible-rulebook does."""
    source = runpy.run_path(str(SOURCE))
    source["main"].__globals__.update(RETRY_SECONDS=0.05, CLOSE_SECONDS=60.0)

    async def rulebook() -> list[dict[str, Any]]:
        queue: asyncio.Queue[dict[str, Any]] = asyncio.Queue(1)
        task = asyncio.create_task(source["main"](queue, {**HOST, **args}))
        try:
            async with asyncio.timeout(seconds):
                events = [await queue.get() for _number in range(count)]
                if not count:
                    await asyncio.sleep(0.3)
            assert not task.done(), "a source that ends takes the rulebook with it"
        finally:
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        return events

    return asyncio.run(rulebook())


def test_outcomes_come_in_their_order_and_the_engine_ends_first(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine()
    engine.runs.append(engine.until_cancelled)
    engine.install(monkeypatch)
    assert [event["run"] for event in events_of(3)] == [0, 1, 2]
    assert engine.is_closed
    assert engine.threads[0] is not threading.main_thread()


def test_an_engine_that_fails_is_logged_and_started_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    engine = Engine(fails)
    engine.runs.append(engine.until_cancelled)
    engine.install(monkeypatch)
    assert len(events_of(3)) == 3
    assert "the lease can't be had. It tries again" in caplog.text


def test_options_reach_the_engine_in_their_types(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine()
    engine.runs.append(engine.until_cancelled)
    engine.install(monkeypatch)
    events_of(
        1,
        namespaces="shop, bank",
        workers="3",
        refused_pod_seconds="90",
        image_pull_seconds=60,
        verify_ssl="false",
        eda_feedback_queue=None,
    )
    seconds = {"refused_pod_seconds": 90.0, "image_pull_seconds": 60.0}
    assert engine.options == [{"namespaces": ("shop", "bank"), "workers": 3, **seconds}]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({"namespace": "shop"}, "the option namespace does not exist. Use namespaces"),
        ({"workers": 0}, "the option workers is 0. Give it a number from 1 on"),
        (
            {"refused_pod_seconds": "soon"},
            "the option refused_pod_seconds is 'soon'. Give it a number of seconds",
        ),
        ({"namespaces": [1]}, "the option namespaces is [1]. Give it a list of names"),
    ],
)
def test_wrong_options_are_logged_and_the_rulebook_goes_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, args: dict[str, Any], message: str
) -> None:
    engine = Engine()
    engine.install(monkeypatch)
    assert events_of(0, **args) == []
    assert message in caplog.text
    assert HOST["api_key"] not in caplog.text
    assert engine.threads == []


@pytest.fixture
def _signal_handlers() -> Iterator[None]:
    """Handlers of ansible-rulebook, which the source replaces."""

    def handler(number: int, _frame: object) -> None:
        raise KeyboardInterrupt(f"signal {number}")

    numbers = (signal.SIGTERM, signal.SIGINT)
    before = {number: signal.signal(number, handler) for number in numbers}
    yield
    for number, handler_before in before.items():
        signal.signal(number, handler_before)


@pytest.mark.usefixtures("_signal_handlers")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("sources", [1, 2])
def test_a_signal_ends_the_loop_but_not_in_the_middle_of_a_callback(
    number: signal.Signals, sources: int
) -> None:
    seen: list[str] = []

    async def rulebook() -> None:
        for _source in range(sources):
            runpy.run_path(str(SOURCE))["handle_signals"](asyncio.get_running_loop())
        signal.raise_signal(number)
        seen.append("the callback ended")
        try:
            await asyncio.sleep(60)
        finally:
            seen.append("the source was cancelled")

    with pytest.raises(KeyboardInterrupt, match=f"received {number.name}"):
        asyncio.run(rulebook())
    assert seen == ["the callback ended", "the source was cancelled"]


@pytest.mark.usefixtures("_signal_handlers")
def test_a_signal_wakes_a_loop_that_waits() -> None:
    def take_signal() -> None:
        time.sleep(0.3)  # until the loop waits
        # A signal that another thread takes doesn't interrupt the wait of the main thread.
        signal.pthread_kill(threading.get_ident(), signal.SIGTERM)

    async def rulebook() -> None:
        runpy.run_path(str(SOURCE))["handle_signals"](asyncio.get_running_loop())
        threading.Thread(target=take_signal, daemon=True).start()
        await asyncio.sleep(60)

    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt, match="received SIGTERM"):
        asyncio.run(rulebook())
    assert time.monotonic() - begin < 30, "the loop has waited to its end"


def test_slow_rules_lose_the_oldest_outcomes_and_hear_of_it(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    source = runpy.run_path(str(SOURCE))
    monkeypatch.setitem(source["main"].__globals__, "MOST_WAITING", 2)

    async def emit() -> list[int]:
        bridge = source["Bridge"](asyncio.get_running_loop())
        for number in range(3):
            bridge.emit({"state": "started", "namespace": "shop", "name": "seed", "run": number})
        await asyncio.sleep(0.05)
        return [bridge.outcomes.get_nowait()["run"] for _number in range(bridge.outcomes.qsize())]

    assert asyncio.run(emit()) == [1, 2]
    assert "dropped the outcome started of shop/seed" in caplog.text
