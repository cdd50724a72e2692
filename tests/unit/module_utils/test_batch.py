# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Work on many objects stops between two of them, and knows what is left."""

from __future__ import annotations

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils import _batch
from ansible_collections.kyma.lifecycle.plugins.module_utils._batch import Batch, Stopped
from ansible_collections.kyma.lifecycle.plugins.module_utils._progress import Step


class Screen:
    """Records reports, and stops the work after some calls."""

    def __init__(self, stops_after: int = 1000) -> None:
        self.steps: list[tuple[int, int, str]] = []
        self.ends: list[str] = []
        self.worked: list[int] = []
        self._stops_after = stops_after

    def progress(self, subject: str, state: str, detail: str = "", step: Step | None = None, /) -> None:
        if step:
            self.steps.append((step.done, step.total, step.unit))
        else:
            self.ends.append(f"{subject}: {state} ({detail})")

    def cancelled(self) -> bool:
        return len(self.worked) >= self._stops_after

    def work(self, item: int) -> int:
        self.worked.append(item)
        return item * item

    def batch(self) -> Batch:
        return Batch("import", "writing", "jobs", progress=self.progress, cancelled=self.cancelled)


def test_all_is_done_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_batch, "REPORT_SECONDS", 0.0)
    screen = Screen()
    batch = screen.batch()
    assert batch.map(screen.work, range(3), threads=1) == [0, 1, 4]
    assert screen.steps == [(done, 3, "jobs") for done in range(4)]
    assert (screen.ends, batch.message, batch.stopped()) == ([], "", {})
    batch.require_all()


@pytest.mark.parametrize("threads", [1, 4])
def test_objects_that_are_not_begun_are_left_and_named(threads: int) -> None:
    screen = Screen(stops_after=2)
    batch = screen.batch()
    answers = batch.map(screen.work, range(50), name=lambda item: f"shop/{item:02}", threads=threads)
    assert batch.done == len(screen.worked) == 50 - len(batch.left)
    assert 2 <= batch.done <= 2 + threads
    assert [answer for answer in answers if answer is not None] == [
        item * item for item in sorted(screen.worked)
    ]
    result = batch.stopped()
    assert result["not_done"] == sorted(f"shop/{item:02}" for item in set(range(50)) - set(screen.worked))
    assert result["msg"].startswith(f"stopped after {batch.done} of 50 jobs. Not done: shop/")
    assert result["msg"].endswith("more. Run it again to do the rest")
    assert screen.ends == [f"import: cancelled ({result['msg']})"]
    with pytest.raises(Stopped) as stopped:
        batch.require_all()
    assert list(stopped.value.not_done) == result["not_done"]


def test_an_error_ends_it() -> None:
    screen = Screen()
    with pytest.raises(ZeroDivisionError):
        screen.batch().map(lambda item: 1 // item, [1, 0, 2], threads=1)
