# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Times in the format of Kubernetes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TypedDict


def timestamp(when: datetime | None = None) -> str:
    """A time, by default now, in RFC 3339: UTC, whole seconds."""
    return (when or datetime.now(UTC)).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def precise_timestamp(when: datetime | None = None) -> str:
    """A time, by default now, in RFC 3339: UTC, with milliseconds."""
    moment = (when or datetime.now(UTC)).astimezone(UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_time(text: object) -> datetime | None:
    """The moment of a text in RFC 3339, or of a day: in UTC if it names no zone; None for other values."""
    try:
        moment = datetime.fromisoformat(str(text or ""))
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


class Times(TypedDict):
    """The start and the end of an operation (UTC, with milliseconds); empty if unknown."""

    started_at: str
    finished_at: str


NO_TIMES: Times = {"started_at": "", "finished_at": ""}


def interval_until_now(seconds: float) -> Times:
    """The start and the end of an operation that took so many seconds and has just ended."""
    now = datetime.now(UTC)
    return {
        "started_at": precise_timestamp(now - timedelta(seconds=seconds)),
        "finished_at": precise_timestamp(now),
    }
