# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All kinds of record that the collection stores in a cluster."""

from __future__ import annotations

from ..._runs.records.approvals import APPROVAL
from ..._runs.records.definitions import RecordKinds
from ..._runs.records.hold_records import HOLD
from ..._runs.records.installation import INSTALLATION
from ..._runs.records.inventories import INVENTORY
from ..._runs.records.journal_records import JOURNAL_ENTRY
from ..._runs.records.modules import MODULE
from ..._runs.records.runs import RUN

RECORD_KINDS = RecordKinds(
    viewable=(INSTALLATION, INVENTORY, MODULE, RUN),
    # It holds whole objects of any kind.
    confidential=(JOURNAL_ENTRY,),
    # Only people write them, so that no deployer approves its own rollout, or ends the hold that stops it.
    read_only=(APPROVAL, HOLD),
)
