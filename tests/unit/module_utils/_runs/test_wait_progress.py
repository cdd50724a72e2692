# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is reported of a wait, by a clock that the tests set."""

from __future__ import annotations

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Ref
from ansible_collections.kyma.lifecycle.plugins.module_utils._errors import MOST_REASONS
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.health.result import (
    NOT_OBSERVED,
    current,
    progressing,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.health.wait import UnhealthyObject
from ansible_collections.kyma.lifecycle.plugins.module_utils._progress import Step
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.wait_progress import WaitProgress

FOREVER = float("inf")
AVAILABLE = progressing("MinimumReplicasUnavailable", "0 of 1 replicas are available")


def ref(name: str) -> Ref:
    return Ref("apps", "Deployment", "shop", name)


class Wait:
    """A wait of 600 seconds that has begun at second 100.

    Attributes:
        reports: the details and steps that were reported.
        now: the clock.
        causes: why objects are not there, by name.
    """

    def __init__(self, limit: float = 600.0) -> None:
        self.reports: list[tuple[str, Step]] = []
        self.now = 100.0
        self.causes: dict[str, str] = {}
        self.explained: list[str] = []
        self.progress = WaitProgress(
            self._report,
            "checkout",
            "waiting",
            limit=limit,
            deadline=self.now + limit,
            explain=self._explain,
            clock=lambda: self.now,
        )

    def _report(self, subject: str, state: str, detail: str = "", step: Step | None = None) -> None:
        assert (subject, state) == ("checkout", "waiting")
        assert step
        self.reports.append((detail, step))

    def _explain(self, unhealthy: UnhealthyObject) -> str:
        self.explained.append(unhealthy.ref.name)
        return self.causes[unhealthy.ref.name]

    def hang(self, *names: str) -> None:
        """Look into the causes of these objects."""
        self.progress.note_causes([UnhealthyObject("apps/v1", ref(n), AVAILABLE, None) for n in names])


def test_each_change_is_reported_with_the_time_that_is_over() -> None:
    wait = Wait()
    wait.now += 25
    wait.progress.note_change(ref("checkout"), AVAILABLE)
    reason = "Deployment shop/checkout: 0 of 1 replicas are available"
    assert wait.reports == [(reason, Step(limit=600, spent=25, reason=reason))]


def test_a_current_object_is_no_longer_the_reason() -> None:
    wait = Wait()
    for name in ("cart", "checkout"):
        wait.progress.note_change(ref(name), AVAILABLE)
    wait.progress.note_change(ref("cart"), current())
    [*_before, (detail, step)] = wait.reports
    assert detail == "Deployment shop/cart: current"
    assert step.reason == "Deployment shop/checkout: 0 of 1 replicas are available"


def test_a_change_without_a_meaning_for_people_is_no_detail() -> None:
    wait = Wait()
    wait.progress.note_change(
        ref("checkout"), progressing(NOT_OBSERVED, "it has no status from its controller yet")
    )
    [(detail, step)] = wait.reports
    assert detail == ""
    assert step.reason


def test_a_cause_takes_the_place_of_what_the_object_itself_says() -> None:
    wait = Wait()
    wait.progress.note_change(ref("checkout"), AVAILABLE)
    wait.causes = {"checkout": "Deployment shop/checkout: pod checkout-7d9: Unschedulable"}
    wait.hang("checkout")
    assert wait.reports[-1][0] == wait.reports[-1][1].reason == wait.causes["checkout"]


def test_the_same_cause_is_reported_once() -> None:
    wait = Wait()
    wait.causes = {"checkout": "Deployment shop/checkout: pod checkout-7d9: Unschedulable"}
    wait.hang("checkout")
    wait.hang("checkout")
    assert len(wait.reports) == 1


def test_causes_of_many_are_looked_for_among_the_first_alone() -> None:
    """Each of them can cost requests."""
    wait = Wait()
    names = [f"part-{number}" for number in range(MOST_REASONS + 5)]
    wait.causes = dict.fromkeys(names, "why")
    wait.hang(*names)
    assert wait.explained == names[:MOST_REASONS]


def test_more_reasons_than_fit_are_counted() -> None:
    wait = Wait()
    for number in range(MOST_REASONS + 2):
        wait.progress.note_change(ref(f"part-{number}"), AVAILABLE)
    assert wait.reports[-1][1].reason.endswith("; and 2 more")


def test_a_wait_without_a_limit_has_none() -> None:
    wait = Wait(limit=FOREVER)
    wait.now += 25
    wait.progress.note_change(ref("checkout"), AVAILABLE)
    step = wait.reports[-1][1]
    assert (step.limit, step.spent) == (0, 0)
