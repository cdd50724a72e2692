# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One record of each kind whose fields are declared, with a value in each field."""

from __future__ import annotations

from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object, Ref
from ansible_collections.kyma.lifecycle.plugins.module_utils._custom_resources.resource_kind import (
    ResourceKind,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.results import PredictedVerdict
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory_entry import (
    InventoryEntry,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.approvals import APPROVAL, Approval
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.cluster_hold import Hold
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.hold_records import HOLD
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.installation import (
    INSTALLATION,
    Installation,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.inventories import (
    INVENTORY,
    InventoryPart,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.journal_records import (
    JOURNAL_ENTRY,
    RecordedEntry,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.modules import (
    MODULE,
    Deploying,
    GroupKind,
    KlmOrder,
    KlmReport,
    KnownObject,
    ModuleRecord,
    ModuleStatus,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.record_schema import (
    RolloutReference,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.run_record import (
    Cancellation,
    PhaseRecord,
    RunBegin,
    RunRecord,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.runs import RUN
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.counters import JOB_COUNTER, JobCounter
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.switches import (
    JOB_STORE,
    SourceOfTruth,
    StoreSwitches,
    UnknownJobs,
)

TIME = "2026-11-24T10:00:00Z"
REF = Ref("apps", "Deployment", "kyma-system", "nats")
READY = {"type": "Ready", "status": "False", "reason": "Deleting", "message": "x", "lastTransitionTime": TIME}
ENTRY = InventoryEntry(
    api_version="apps/v1",
    ref=REF,
    uid="u1",
    resource_version="7",
    own="a",
    others_hash="b",
    manual_write_time=TIME,
    intent="c",
    dropped=True,
    ceded=("spec.replicas (hpa)",),
    added=("metadata.labels.x (jane)",),
    finished="d",
    made_by="others",
)
RECORDS: tuple[tuple[ResourceKind[Any], Any], ...] = (
    (
        APPROVAL,
        Approval("eu", "a" * 64, "CHG-1", TIME, "system:admin", "jane", ("eu-1",), name="eu-1"),
    ),
    (
        INVENTORY,
        InventoryPart("nats.module", "nats", "module", "kyma-system", "d", {"version": "1"}, 0, 2, (ENTRY,)),
    ),
    (
        JOURNAL_ENTRY,
        RecordedEntry(
            migration="logging/grow",
            verb="patch",
            api_version="apps/v1",
            ref=REF,
            is_settled=True,
            sequence=1_700_000_000_000_000,
            at=TIME,
            by="jane@bastion",
            run="r1",
            subresource="scale",
            irreversible="no",
            undone_at=TIME,
            undone_by="bob@bastion",
            name="r1-1",
            before_text="{}",
            change="{}",
            encoding="gzip",
        ),
    ),
    (
        MODULE,
        ModuleRecord(
            "nats",
            state="absent",
            policy="ignore",
            channel="fast",
            version="1.0.0",
            is_default=True,
            is_mandatory=True,
            needs=("keda",),
            configuration=KnownObject("example.com/v1", Ref("example.com", "Nats", "kyma-system", "a"), "u1"),
            configuration_creation="created",
            deletion_since=TIME,
            deletes_configuration=True,
            installed_version="1.0.0",
            manager=KnownObject("apps/v1", REF, "u2"),
            manager_image="example.com/nats:1.0.0",
            deploying=Deploying("1.1.0", "example.com/nats:1.1.0"),
            is_taken_over=True,
            managed_by="klm",
            klm=KlmOrder("fast", "Ignore", "remove"),
            klm_report=KlmReport("Ready", "1.0.0", "fast", TIME),
            managed_kinds=(GroupKind("example.com", "Stream"),),
            status=ModuleStatus("Deleting", "3 resources of its kinds exist", ("Stream default/a",)),
            conditions=(READY,),
        ),
    ),
    (HOLD, Hold("jane", "CHG-2", TIME, TIME)),
    (
        INSTALLATION,
        Installation(
            version="2.9",
            target="2.10",
            profile="production",
            digest="a",
            components=("istio", "nats"),
            last_run="r1",
            definitions="b",
            conditions=(READY,),
            release_digest="c",
            release_since=TIME,
            rollout=RolloutReference("eu", "c"),
        ),
    ),
    (
        RUN,
        RunRecord(
            cancel=Cancellation("jane@bastion: CHG-3", TIME),
            state="cancelled",
            message="jane@bastion: CHG-3",
            cancelled="jane@bastion: CHG-3",
            cancelled_at=TIME,
            finished_at=TIME,
            seconds=12.5,
            begin=RunBegin(
                action="deploy",
                version="2.10",
                previous="2.9",
                profile="production",
                digest="a",
                release_digest="c",
                rollout=RolloutReference("eu", "c"),
                started_by="jane@bastion",
                installation="u1",
                started_at=TIME,
                clock=100.5,
                deadline=3600.0,
                components=("istio",),
                all_components=("istio", "nats"),
                selection={"istio": "d"},
                takings={"istio": ("e",)},
                actions={"istio": "upgrade"},
                alone=("istio",),
                digest_of_others="f",
                prune=("old",),
                phases=("apply",),
                migrations={"istio/move": PredictedVerdict("needed", "2 gateways have the old host")},
                code={"istio/move": "g"},
            ),
            lease={"holder": "jane@bastion"},
            components={"istio": {"state": "cancelled"}},
            migrations={"istio/move": {"state": "succeeded"}},
            phases={"apply": PhaseRecord("cancelled", 3.5, TIME, TIME)._asdict()},
            undone={"istio/move": {"state": "succeeded"}},
            conditions=(READY,),
        ),
    ),
    (JOB_COUNTER, JobCounter("default", 3, 2, frozenset({"a", "b"}), frozenset({"c"}))),
    (JOB_STORE, StoreSwitches(SourceOfTruth.STORAGE, UnknownJobs.IGNORE)),
)


def record_of_kind(kind: ResourceKind[Any]) -> Object:
    """The object of the record of a kind."""
    return kind.object_of(next(record for one, record in RECORDS if one is kind))
