# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All kinds of record that the collection keeps in a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.definitions import RecordKinds


def record_kinds() -> RecordKinds:
    """All kinds of record that the collection keeps in a cluster."""
    # Only here, as all of it would be compiled at each plan that finds nothing to do.
    from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records import (
        definitions,
        installation,
        inventories,
        journal_records,
        runs,
    )

    return definitions.RecordKinds(
        viewable=(
            installation.INSTALLATION_DEFINITION,
            inventories.INVENTORY_DEFINITION,
            runs.RUN_DEFINITION,
        ),
        # It holds whole objects of any kind.
        confidential=(journal_records.JOURNAL_ENTRY_DEFINITION,),
    )
