# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests that mostly wait, played in parallel: each is a generator that yields what it waits for.

A test reads from top to bottom like any other one. Between its `yield`s the others continue::

    @story
    def test_an_errand_runs(site: ErrandSite) -> Story:
        site.create(errand("it"))
        yield site.is_settled("it")
        assert site.errand("it").status.phase is Phase.SUCCEEDED
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass

from .errands import ErrandSite

Condition = Callable[[], object]
"""What a story waits for: true once it is so."""
Story = Generator[Condition, None, None]
StoryFunction = Callable[[ErrandSite], Story]

SIDE_BY_SIDE = 10
"""How many stories go on at once. More of them make the node slow, and a second of a test too short."""
PATIENCE = 300.0
"""Seconds that a story waits for one thing."""
TICK_SECONDS = 0.1


def story(function: StoryFunction) -> Callable[[StoryPlayer], None]:
    """Turn a story into a test. It starts with others, and the test ends when the story does."""

    def test(story_player: StoryPlayer) -> None:
        story_player.finish(function)

    test.__name__, test.__qualname__ = function.__name__, function.__qualname__
    test.__doc__, test.__module__ = function.__doc__, function.__module__
    test.__dict__["story"] = function
    return test


@dataclass
class _Play:
    """A story that has started."""

    story: Story
    waits_for: Condition = bool
    since: float = 0.0
    is_over: bool = False
    error: BaseException | None = None

    def begin(self) -> None:
        self._go_on(lambda: next(self.story))

    def go_on(self) -> None:
        """Continue if the awaited condition holds; fail the story if that takes too long."""
        try:
            is_so = self.waits_for()
        except Exception as error:
            thrown = error
            self._go_on(lambda: self.story.throw(thrown))
            return
        if is_so:
            self._go_on(lambda: next(self.story))
        elif time.monotonic() - self.since > PATIENCE:
            late = AssertionError(f"what the story waits for has not come about within {PATIENCE:g} s")
            self._go_on(lambda: self.story.throw(late))

    def _go_on(self, step: Callable[[], Condition]) -> None:
        try:
            self.waits_for, self.since = step(), time.monotonic()
        except StopIteration:
            self.is_over = True
        except BaseException as error:
            self.is_over, self.error = True, error
            if not isinstance(error, Exception):
                raise


class StoryPlayer:
    """Plays stories in parallel, and reconciles the errands of their site.

    Args:
        site: where they play.
        functions: the stories, in the order of their tests.
    """

    def __init__(self, site: ErrandSite, functions: Iterable[StoryFunction]) -> None:
        self._site = site
        self._waiting = list(functions)
        self._plays: dict[StoryFunction, _Play] = {}

    def finish(self, function: StoryFunction) -> None:
        """Play on until a story has ended.

        Raises:
            Exception: what the story has raised.
            AssertionError: a reconciliation meanwhile has shown a defect, perhaps for another story.
        """
        while function not in self._plays or not self._plays[function].is_over:
            self._tick()
        error = self._plays[function].error
        if error is not None:
            error.add_note(self._site.report())
            raise error
        assert self._site.take_defects() == []

    def close(self) -> None:
        """End the stories that have not ended."""
        for play in self._plays.values():
            play.story.close()

    def _tick(self) -> None:
        self._site.reconcile()
        going = [play for play in self._plays.values() if not play.is_over]
        for play in going:
            play.go_on()
        for _place in range(SIDE_BY_SIDE - len(going)):
            if self._waiting:
                function = self._waiting.pop(0)
                play = self._plays[function] = _Play(function(self._site))
                play.begin()
        time.sleep(TICK_SECONDS)
