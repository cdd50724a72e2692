# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Findings that an inventory does not record yet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from .._cluster.cluster import Ref
from .._objects.ownership.findings import DriftOutcome, Finding

if TYPE_CHECKING:
    from .._objects.inventory.inventory_entry import InventoryEntry


def new_findings(findings: Iterable[Finding], known: Mapping[Ref, InventoryEntry]) -> list[Finding]:
    """The findings that were not reported before."""
    return [
        finding
        for finding in findings
        if (entry := known.get(finding.ref)) is None
        or finding.key not in (*entry.ceded, *entry.added)
        or finding.outcome not in (DriftOutcome.CEDED, DriftOutcome.RETAINED)
    ]
