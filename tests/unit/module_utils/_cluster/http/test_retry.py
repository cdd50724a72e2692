# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When another attempt is made, and when not."""

from __future__ import annotations

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.retry import Loss, RetryPolicy


@pytest.mark.parametrize(
    ("outcome", "repeatable", "again"),
    [
        (Loss.NOT_SENT, False, True),
        (Loss.NO_ANSWER, False, False),
        (Loss.NO_ANSWER, True, True),
        (429, False, True),
        (503, False, False),
        (503, True, True),
        (502, True, True),
        (504, True, True),
        (500, True, True),
        (500, False, False),
        (404, True, False),
        (409, True, False),
    ],
)
def test_only_what_is_safe_is_tried_again(outcome: Loss | int, repeatable: bool, again: bool) -> None:
    wait = RetryPolicy().delay(outcome, attempt=1, elapsed=0.0, repeatable=repeatable)

    assert (wait is not None) is again


def test_delays_grow_to_a_bound() -> None:
    policy = RetryPolicy(first_delay=0.1, factor=2.0, longest_delay=0.5)

    delays = [policy.delay(503, attempt=n, elapsed=0.0, repeatable=True) for n in (1, 2, 3, 4, 10_000)]

    assert delays == [0.1, 0.2, 0.4, 0.5, 0.5]


@pytest.mark.parametrize(
    ("outcome", "patient", "elapsed", "again"),
    [
        (503, True, 100.0, True),
        (503, True, 120.0, False),
        (503, False, 100.0, True),
        (Loss.NOT_SENT, True, 100.0, True),
        (Loss.NOT_SENT, False, 1.0, True),
        (Loss.NOT_SENT, False, 2.0, False),
        (Loss.NO_ANSWER, False, 2.0, False),
        (500, True, 10.0, True),
        (500, True, 21.0, False),
    ],
)
def test_patience_ends(outcome: Loss | int, patient: bool, elapsed: float, again: bool) -> None:
    wait = RetryPolicy().delay(outcome, attempt=1, elapsed=elapsed, repeatable=True, patient=patient)

    assert (wait is not None) is again


def test_the_servers_wish_is_followed_within_the_limit() -> None:
    policy = RetryPolicy(limit=5.0)

    assert policy.delay(429, attempt=1, elapsed=0.0, repeatable=False, retry_after=3.0) == 3.0
    assert policy.delay(429, attempt=2, elapsed=3.0, repeatable=False, retry_after=3.0) is None
    assert policy.delay(429, attempt=1, elapsed=0.0, repeatable=False, retry_after=0.0) == 0.1
