# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The records of modules: their definition, their model, reading and writing them.

A record has all that must be known of a module when the user's list no longer names it: what was wanted, by
which policy it is removed, and which default configuration it got.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Annotated, Any, NamedTuple

from ..._cluster.cluster import FIELD_MANAGER, Cluster, Object, Ref
from ..._custom_resources.conditions import Conditions, Time, new_condition
from ..._custom_resources.resource_kind import ResourceKind
from ..._field_notes import SPEC, STATUS, FieldNote, described, in_metadata, in_spec, in_status, whole_part
from ..._timestamp import timestamp
from .record_schema import STORAGE_VERSION
from .record_writer import apply_record

MANAGED, UNMANAGED, ABSENT = "managed", "unmanaged", "absent"
"""What a user wants of a module."""
CREATE_AND_DELETE, IGNORE = "create_and_delete", "ignore"
"""What happens to a module that is no longer wanted."""

READY, PROCESSING, WARNING, ERROR = "Ready", "Processing", "Warning", "Error"
DELETING, GIVEN_UP, INSTALLED, NOT_INSTALLED = "Deleting", "Unmanaged", "Installed", "NotInstalled"
"""The states that are reported of a module."""

KLM, US = "klm", "us"
"""Who manages a module: Kyma's lifecycle manager, or this collection."""

SKIP_LABEL = "operator.kyma-project.io/skip-reconciliation"
"""A label for a KymaModule, as Kyma's lifecycle manager has it for its resources: "true" skips it."""


class KnownObject(NamedTuple):
    """An object that a record names. Its uid is empty if it is not known."""

    api_version: Annotated[str, "The API version with which the object was written or read."]
    ref: Annotated[Ref, FieldNote(is_inlined=True)]
    uid: Annotated[str, "The uid of the object. Empty until it is known."] = ""


class GroupKind(NamedTuple):
    """A kind in any version."""

    group: Annotated[str, "The API group of the kind."]
    kind: Annotated[str, "The kind."]


class Creation(StrEnum):
    """The progress of the creation of a module's default configuration."""

    REQUESTED = "requested"
    """It is about to be created, or was created by a run that could not record it."""
    CREATED = "created"
    DECLINED = "declined"
    """None is created: the cluster has the user's own instances."""


@dataclass(frozen=True)
class ModuleStatus:
    """The status that was last reported of a module."""

    state: Annotated[
        str,
        described(
            "The state that was last reported. Empty before the first report.",
            enum=[READY, PROCESSING, WARNING, ERROR, DELETING, GIVEN_UP, INSTALLED, NOT_INSTALLED],
        ),
    ] = ""
    message: Annotated[str, "Why, in a sentence. Empty if there is nothing to report."] = ""
    blockers: Annotated[tuple[str, ...], "What blocks the deletion, each in a line."] = ()


@dataclass(frozen=True)
class Deploying:
    """A version whose deployment has begun and has not succeeded; mostly empty."""

    version: Annotated[str, "Its version."] = ""
    manager_image: Annotated[str, "The image of its operator."] = ""


@dataclass(frozen=True)
class KlmOrder:
    """What was asked of Kyma's lifecycle manager (KLM) for a module that it manages; else empty."""

    channel: Annotated[str, "The channel that the user named. Empty to follow the Kyma resource."] = ""
    policy: Annotated[str, "The policy that was written into the Kyma resource."] = ""
    step: Annotated[
        str, "How far a run is that gives the module up or removes it. Empty if none is at work."
    ] = ""


@dataclass(frozen=True)
class KlmReport:
    """What KLM last said of a module that it manages; else empty."""

    state: Annotated[str, "The state of the module."] = ""
    version: Annotated[str, "Its version."] = ""
    channel: Annotated[str, "The channel of that version. A removal puts it back if KLM has lost it."] = ""
    last_operation: Annotated[str, "When KLM last wrote its status."] = ""


@dataclass(frozen=True)
class ModuleRecord:
    """What the cluster remembers of a module.

    Its conditions are in the form of the record. A person may mark a module by a label: it is skipped then,
    except for its deletion.
    """

    name: Annotated[str, in_metadata()]
    state: Annotated[str, in_spec("What is wanted.", enum=[MANAGED, UNMANAGED, ABSENT])] = MANAGED
    policy: Annotated[
        str,
        in_spec(
            "Whether the default configuration is created and deleted.", enum=[CREATE_AND_DELETE, IGNORE]
        ),
    ] = CREATE_AND_DELETE
    channel: Annotated[str, in_spec("The channel that the user named.")] = ""
    version: Annotated[str, in_spec("The version that the user named.")] = ""
    is_default: Annotated[
        bool, in_spec("Whether the user's list marks it as a default module.", name="default")
    ] = False
    is_mandatory: Annotated[
        bool, in_spec("Whether the catalog demands it, and not the user.", name="mandatory")
    ] = False
    needs: Annotated[tuple[str, ...], in_spec("The modules that it needs.")] = ()
    configuration: Annotated[KnownObject | None, in_status("The default configuration.")] = None
    configuration_creation: Annotated[
        str,
        in_status(
            "How far the creation of the default configuration is. Empty before it is decided.",
            shape=Creation,
        ),
    ] = ""
    deletion_since: Annotated[Time, in_spec("When the deletion of the module began.")] = ""
    deletes_configuration: Annotated[
        bool, in_status("Whether the deletion has requested that of the default configuration.")
    ] = False
    installed_version: Annotated[
        str, in_status("The version that was last deployed or adopted.", name="version")
    ] = ""
    manager: Annotated[KnownObject | None, in_status("The workload of the module's operator.")] = None
    manager_image: Annotated[str, in_status("The image of the operator.")] = ""
    deploying: Annotated[Deploying, in_status("A deployment that has begun and not succeeded.")] = Deploying()
    is_taken_over: Annotated[
        bool,
        in_spec(
            "Whether the user has taken the module over from Kyma's lifecycle manager.", name="takenOver"
        ),
    ] = False
    managed_kinds: Annotated[
        tuple[GroupKind, ...],
        in_status("Kinds whose objects block the deletion, besides those that the manifest defines."),
    ] = ()
    managed_by: Annotated[
        str, in_spec("Who manages the module: Kyma's lifecycle manager, or this collection.", enum=[KLM, US])
    ] = US
    klm: Annotated[KlmOrder, in_spec("What Kyma's lifecycle manager was asked for.")] = KlmOrder()
    klm_report: Annotated[
        KlmReport, in_status("What Kyma's lifecycle manager last said of the module.", name="klm")
    ] = KlmReport()
    status: Annotated[ModuleStatus, whole_part(STATUS)] = ModuleStatus()
    conditions: Annotated[Conditions, in_status()] = field(default=(), compare=False)
    is_skipped: bool = False

    @property
    def is_managed(self) -> bool:
        """Whether this collection manages the module, which includes a deletion in progress."""
        return self.state == MANAGED or bool(self.deletion_since)


MODULE = ResourceKind(
    ModuleRecord,
    "KymaModule",
    "kymamodules",
    "kymod",
    "A module of the cluster, as its user wants it, and its state.",
    [
        ("Wanted", "string", ".spec.state"),
        ("State", "string", ".status.state"),
        ("Version", "string", ".status.version"),
        ("Channel", "string", ".spec.channel"),
        ("Policy", "string", ".spec.policy"),
        ("Age", "date", ".metadata.creationTimestamp"),
        ("Message", "string", ".status.message"),
    ],
    has_status=True,
    storage_version=STORAGE_VERSION,
    example=ModuleRecord(""),
)


def module_record_from(obj: Object) -> ModuleRecord:
    """The record in an object; what others have written of the version that runs does not count.

    Raises:
        NewerRecord: a newer version of this collection has written it.
    """
    foreign = [group for group in _OWN_FIELDS if not _is_ours(obj, *group)]
    parts = {part: dict(obj.get(part) or {}) for part in (SPEC, STATUS)}
    for part, *names in foreign:
        for name in names:
            parts[part].pop(name, None)
    label = (obj["metadata"].get("labels") or {}).get(SKIP_LABEL)
    return replace(MODULE.read({**obj, **parts}), is_skipped=str(label).lower() == "true")


_OWN_FIELDS = (
    (STATUS, "version", "manager", "managerImage"),
    (STATUS, "deploying"),
    (SPEC, "takenOver"),
)
"""Fields that count only together, and only if no other field manager owns one."""


def module_object(record: ModuleRecord, now: str) -> Object:
    """The object of a record.

    Args:
        record: of the module.
        now: the time for the conditions; RFC 3339.
    """
    return MODULE.object_of(replace(record, conditions=(_ready_condition(record, now),)))


def _ready_condition(record: ModuleRecord, now: str) -> dict[str, Any]:
    """The condition ``Ready``, for ``kubectl wait --for=condition=Ready``."""
    state = record.status.state
    status = {READY: "True", PROCESSING: "Unknown", "": "Unknown"}.get(state, "False")
    message = record.status.message
    return new_condition("Ready", status, state or "Unknown", message, before=record.conditions, now=now)


def _is_ours(obj: Object, part: str, *names: str) -> bool:
    """Whether no other field manager alone has written anything in some fields of a record."""
    writers = obj["metadata"].get("managedFields") or ()
    if all(one.get("manager") == FIELD_MANAGER for one in writers):
        return True
    from ..._cluster.fields.field_sets import from_fields_v1

    ours, others = set[Any](), set[Any]()
    for one in writers:
        fields = ours if one.get("manager") == FIELD_MANAGER else others
        fields |= from_fields_v1(one.get("fieldsV1") or {})
    prefixes = {(f"f:{part}", f"f:{name}") for name in names}
    return not any(path[:2] in prefixes for path in others - ours)


def read_module_records(cluster: Cluster) -> dict[str, ModuleRecord]:
    """The records of all modules, by name."""
    records = map(module_record_from, cluster.list(*MODULE.address).items)
    return {record.name: record for record in records}


def write_module_record(cluster: Cluster, record: ModuleRecord) -> ModuleRecord:
    """Write the record of a module; the record after the write."""
    answer = apply_record(cluster, MODULE, module_object(record, timestamp()), force=True)
    return replace(record, conditions=tuple((answer.get("status") or {}).get("conditions") or ()))


def delete_module_record(cluster: Cluster, name: str) -> None:
    """Delete the record of a module."""
    cluster.delete(*MODULE.address, name)
