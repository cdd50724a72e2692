# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All kinds of record that the collection stores in a cluster."""

from __future__ import annotations

from ..._runs.records.approvals import APPROVAL_DEFINITION
from ..._runs.records.definitions import RecordKinds
from ..._runs.records.installation import INSTALLATION_DEFINITION
from ..._runs.records.inventories import INVENTORY_DEFINITION
from ..._runs.records.journal_records import JOURNAL_ENTRY_DEFINITION
from ..._runs.records.modules import MODULE_DEFINITION
from ..._runs.records.runs import RUN_DEFINITION

RECORD_KINDS = RecordKinds(
    viewable=(INSTALLATION_DEFINITION, INVENTORY_DEFINITION, MODULE_DEFINITION, RUN_DEFINITION),
    # It holds whole objects of any kind.
    confidential=(JOURNAL_ENTRY_DEFINITION,),
    # Only approvers write it, so that no deployer approves its own rollout.
    read_only=(APPROVAL_DEFINITION,),
)
