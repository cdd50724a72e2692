# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Moments as Kubernetes writes them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


def timestamp(when: datetime | None = None) -> str:
    """A moment, by default now, in RFC 3339: UTC, whole seconds."""
    return (when or datetime.now(UTC)).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def precise_timestamp(when: datetime | None = None) -> str:
    """A moment, by default now, in RFC 3339: UTC, with milliseconds."""
    moment = (when or datetime.now(UTC)).astimezone(UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def interval_until_now(seconds: float) -> dict[str, str]:
    """``started_at`` and ``finished_at`` of what took so many seconds and has just ended."""
    now = datetime.now(UTC)
    return {
        "started_at": precise_timestamp(now - timedelta(seconds=seconds)),
        "finished_at": precise_timestamp(now),
    }
