# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Times for people, in a time zone: pure."""

from __future__ import annotations

import re
from datetime import datetime, tzinfo

TIMESTAMP = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)")


def local_time(moment: datetime, zone: tzinfo | None) -> str:
    """A moment with its time zone, such as ``2026-11-27 09:40 CET``; with seconds if it has some.

    Args:
        moment: with a time zone.
        zone: to show it in; None for the one of this machine.
    """
    local = moment.astimezone(zone)
    return f"{local:%Y-%m-%d %H:%M:%S %Z}" if local.second else f"{local:%Y-%m-%d %H:%M %Z}"


def with_local_times(text: str, zone: tzinfo | None) -> str:
    """A text whose times (RFC 3339) are shown in a zone; see :func:`local_time`."""
    return TIMESTAMP.sub(lambda match: _shown(match[0], zone), text)


def _shown(text: str, zone: tzinfo | None) -> str:
    try:
        return local_time(datetime.fromisoformat(text), zone)
    except (ValueError, OverflowError):
        # Text of others that only looks like a time.
        return text
