# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A hold: a person's decision that nothing is deployed to a cluster for now. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

from ..._errors import LifecycleError
from ..._field_notes import in_spec
from ..._text import one_line
from ..._timestamp import parse_time, timestamp


class ClusterHeld(LifecycleError):
    """The cluster is held, so nothing may be deployed now."""

    state = "held"


@dataclass(frozen=True)
class Hold:
    """That a cluster is held."""

    by: Annotated[str, in_spec("Who holds the cluster.", read=one_line)] = ""
    reason: Annotated[str, in_spec("Why the cluster is held.", read=one_line)] = ""
    since: Annotated[str, in_spec("When the hold was set (RFC 3339).", read=one_line)] = ""
    until: Annotated[
        str,
        in_spec("When the hold ends by itself (RFC 3339). Empty if a person must end it.", read=one_line),
    ] = ""

    def __str__(self) -> str:
        parts = [
            "the cluster is held",
            f"by {self.by}" if self.by else "",
            f"since {self.since}" if self.since else "",
            f"until {self.until}" if self.until else "",
        ]
        return " ".join(filter(None, parts)) + (f": {self.reason}" if self.reason else "")

    def is_in_force(self, now: datetime) -> bool:
        """Whether the hold is in force at a moment; an end that cannot be read never arrives."""
        end = parse_time(self.until)
        return end is None or now < end


def hold_problem(hold: Hold | None, now: datetime) -> str:
    """Why nothing may be deployed now, and what to do, in a sentence; empty if a deployment is allowed."""
    if hold is None or not hold.is_in_force(now):
        return ""
    return (
        f"{hold} (if deployments may go on, end the hold with `ansible localhost -m kyma.lifecycle.hold -a"
        " state=absent`)"
    )


def require_no_hold(hold: Hold | None) -> None:
    """Raise ClusterHeld if a hold is in force now."""
    if problem := hold_problem(hold, datetime.now(UTC)):
        raise ClusterHeld(problem)


def new_hold(by: str, reason: str, until: str, now: datetime) -> Hold:
    """A hold from now on.

    Raises:
        LifecycleError: ``reason`` is blank, or ``until`` is no time, or has passed.
    """
    # In the form in which it is read back: a second task with the same reason changes nothing.
    reason = one_line(reason)
    if not reason:
        raise LifecycleError("cannot hold the cluster: reason is empty. Say why nothing may be deployed.")
    end = parse_time(until)
    if until and (end is None or end <= now):
        raise LifecycleError(
            f"cannot hold the cluster: until is {until}, which is not a time in the future. Give one such as"
            " 2026-11-22T06:00:00Z, or leave until out."
        )
    return Hold(by, reason, timestamp(now), timestamp(end) if end else "")
