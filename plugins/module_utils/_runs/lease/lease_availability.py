# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a lease is free, held or expired: what an observer has seen of it by its own clock. Pure.

A holder renews its lease while it works. An observer considers the holder dead only after the lease was
unchanged for its whole duration by the observer's own clock. The times in a Lease are for people: two clocks
are never compared, so a clock that is off does no harm.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum

from ..._timestamp import parse_time
from .lease import Lease, holder_of

CLOCK_TOLERANCE = timedelta(minutes=1)
"""How far the clocks of a holder and of a reader may differ, until a reader shows a run as lost."""


class LeaseAvailability(Enum):
    """Whether a lease can be acquired."""

    FREE = "free"
    HELD = "held"
    EXPIRED = "expired"


@dataclass(frozen=True)
class LeaseObservation:
    """What an observer has seen of a lease.

    Attributes:
        lease: as it was last seen.
        since: since when the lease is unchanged, by the observer's clock.
        is_alive: whether the observer saw the holder renew it.
    """

    lease: Lease
    since: float
    is_alive: bool = False

    def availability(self, now: float) -> LeaseAvailability:
        """Whether the lease can be acquired at a moment of the observer's clock."""
        if not self.lease.holder:
            return LeaseAvailability.FREE
        return LeaseAvailability.EXPIRED if now - self.since >= self.lease.seconds else LeaseAvailability.HELD


def observe_lease(before: LeaseObservation | None, lease: Lease, now: float) -> LeaseObservation:
    """What an observer knows after the next reading.

    Args:
        before: what it knew before; None at the first reading.
        lease: the current one.
        now: by the observer's clock, after the answer has arrived.
    """
    if before is None:
        return LeaseObservation(lease, now)
    if _looks_of(before.lease) == _looks_of(lease):
        return LeaseObservation(lease, before.since, before.is_alive)
    return LeaseObservation(lease, now, before.lease.holder == lease.holder)


def is_run_lost(run: str, lease: Lease, now: datetime) -> bool:
    """Whether a run without an end in its record no longer has its lease: for people, not for a decision.

    Args:
        run: its name.
        lease: as it was just read.
        now: by the reader's clock.
    """
    if holder_of(lease.holder).run != run:
        return True
    renewed = parse_time(lease.renewed)
    return renewed is not None and now - renewed > timedelta(seconds=lease.seconds) + CLOCK_TOLERANCE


def _looks_of(lease: Lease) -> tuple[object, ...]:
    """The fields that a holder changes; a new label on the object is no sign of life."""
    return (lease.holder, lease.epoch, lease.seconds, lease.renewed, lease.uid)
