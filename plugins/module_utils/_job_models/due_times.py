# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a schedule of a CronJob is due, by the library cronsim. Pure."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from .schedules import plain_schedule, schedule_problem

CLUSTER_ZONE = "UTC"
"""The zone of a schedule without one: that of kube-controller-manager, which is UTC in most clusters."""


class UnknownDueTimes(ValueError):
    """The times of a schedule can't be computed; the text is why, as a clause."""


def due_times(schedule: str, zone: str, now: datetime) -> tuple[datetime | None, datetime | None]:
    """The last time when a schedule was due, and the next one, in its time zone; None for never.

    Args:
        schedule: of a CronJob, also a macro, which Kubernetes does not spread.
        zone: the name of its time zone; empty for that of the cluster.
        now: a time with a zone.

    Raises:
        UnknownDueTimes: it can't be computed.
    """
    try:
        from cronsim import CronSim, CronSimError
    except ImportError:
        raise UnknownDueTimes("the library cronsim is not installed") from None
    try:
        local = now.astimezone(ZoneInfo(zone or CLUSTER_ZONE))
    except (ZoneInfoNotFoundError, OSError, ValueError):
        raise UnknownDueTimes(f"the time zone {zone} is not known here") from None
    if problem := schedule_problem(schedule):
        raise UnknownDueTimes(problem)
    if schedule.startswith("@every"):
        raise UnknownDueTimes(f"the schedule {schedule} has no times of the day")
    # With a field for seconds, it does not imitate Debian's cron on the days on which clocks change. Nor does
    # Kubernetes.
    line = f"0 {plain_schedule(schedule)}"
    try:
        last, following = (
            next(filter(_exists, CronSim(line, local, reverse=is_backward)), None)
            for is_backward in (True, False)
        )
    except CronSimError as error:
        raise UnknownDueTimes(f"the schedule {schedule} has no times: {error}") from None
    return last, following


def _exists(time: datetime) -> bool:
    """Whether the clocks of its zone show a time, and do not leave it out."""
    return time.astimezone(UTC).astimezone(time.tzinfo).time() == time.time()
