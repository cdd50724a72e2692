# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How many requests a cluster answered, from its audit log."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path


def end_of(log: Path) -> int:
    """The position in bytes of the current end of the log."""
    return log.stat().st_size if log.exists() else 0


def requests_since(log: Path, position: int, agents: Sequence[str]) -> int:
    """Count the requests of these user agents since the log ended at a position."""
    with log.open("rb") as file:
        file.seek(position)
        return count(file, agents)


def count(lines: Iterable[bytes], agents: Sequence[str]) -> int:
    """Count the requests of user agents whose names have this prefix.

    A watch has a line for its start and one for its end, with the same `auditID`. The last line may be
    incomplete.
    """
    audit_ids = set()
    for line in lines:
        if line.endswith(b"\n"):
            event = json.loads(line)
            if event.get("userAgent", "").startswith(tuple(agents)):
                audit_ids.add(event["auditID"])
    return len(audit_ids)
