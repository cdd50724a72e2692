# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Moments as Kubernetes writes them."""

from __future__ import annotations

from datetime import UTC, datetime


def timestamp(when: datetime | None = None) -> str:
    """A moment, by default now, in RFC 3339: UTC, whole seconds."""
    return (when or datetime.now(UTC)).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
