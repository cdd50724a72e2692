# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An outage of the API server is two lines in the log of an engine, whatever fails meanwhile."""

from __future__ import annotations

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import (
    ClusterError,
    Unreachable,
    api_error,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.endpoint.server_outage import (
    ServerOutage,
)

REFUSED = Unreachable("watch Pod: connection refused", sent=False)


class Played:
    """An outage whose time passes by seconds, of an engine whose lease lasts 45 s."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.lines: list[str] = []
        self.outage = ServerOutage(
            lambda state, text: self.lines.append(f"{state}: {text}"), lambda: self.seconds
        )

    def let(self, seconds: int, *errors: ClusterError, lease_age: float = 0.0) -> None:
        """Let seconds pass, with these errors in each."""
        for _second in range(seconds):
            self.seconds += 1
            for error in errors:
                self.outage.is_unanswered(error)
            self.outage.check(has_failing_watches=bool(errors), lease_age=lease_age, lease_seconds=45)


def test_an_outage_is_one_line_and_its_end_another_one() -> None:
    played = Played()
    played.let(60, REFUSED, Unreachable("renew: reset", sent=True), REFUSED)
    played.let(30)
    assert played.lines == [
        "away: the API server does not answer: watch Pod: connection refused. Errands go on when it is back",
        "back: the API server answers again, after 60 s",
    ]
    played.let(10, api_error("watch Pod", 503, {"message": "no backend"}))
    assert [line.partition(":")[0] for line in played.lines] == ["away", "back", "away"]


def test_a_connection_that_breaks_is_no_line() -> None:
    played = Played()
    for _time in range(20):
        played.let(2, REFUSED)
        played.let(1)
    assert played.lines == []


def test_a_server_that_hangs_is_seen_by_the_age_of_the_lease() -> None:
    played = Played()
    played.let(20, lease_age=22)
    assert played.lines == []
    played.let(20, lease_age=25)
    played.let(1)
    assert played.lines == [
        "away: the API server has not answered for 25 s. Errands go on when it is back",
        "back: the API server answers again, after 20 s",
    ]


@pytest.mark.parametrize("error", [ClusterError("other"), api_error("list", 403, {"message": "no"})])
def test_other_errors_are_not_of_an_outage(error: ClusterError) -> None:
    played = Played()
    assert not played.outage.is_unanswered(error)
    played.let(60, error)
    assert played.lines == []
