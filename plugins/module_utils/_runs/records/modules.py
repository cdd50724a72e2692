# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The records of modules: their definition, their model, reading and writing them.

A record has all that must be known of a module when the user's list no longer names it: what was wanted, by
which policy it is removed, and which default configuration it got.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ..._cluster.cluster import FIELD_MANAGER, Cluster, Object, Ref, group_of
from ..._custom_resources.conditions import new_condition
from ..._custom_resources.crd_builder import (
    BOOLEAN,
    CONDITIONS_SCHEMA,
    STRING,
    STRINGS,
    object_schema,
    resource_definition,
)
from ..._timestamp import timestamp
from .record_schema import API_VERSION, known_record
from .record_writer import apply_record

MANAGED, UNMANAGED, ABSENT = "managed", "unmanaged", "absent"
"""What a user wants of a module."""
CREATE_AND_DELETE, IGNORE = "create_and_delete", "ignore"
"""What happens to a module that is no longer wanted."""

READY, PROCESSING, WARNING, ERROR = "Ready", "Processing", "Warning", "Error"
DELETING, GIVEN_UP, INSTALLED, NOT_INSTALLED = "Deleting", "Unmanaged", "Installed", "NotInstalled"
"""The states that are reported of a module."""

SKIP_LABEL = "operator.kyma-project.io/skip-reconciliation"
"""A label for a Module, as Kyma's lifecycle manager has it for its resources: "true" skips it."""

_OBJECT_SCHEMA = object_schema(apiVersion=STRING, kind=STRING, namespace=STRING, name=STRING, uid=STRING)
MODULE_DEFINITION = resource_definition(
    "Module",
    "modules",
    "kymod",
    {
        "spec": object_schema(
            state=STRING,
            policy=STRING,
            channel=STRING,
            version=STRING,
            default=BOOLEAN,
            mandatory=BOOLEAN,
            needs=STRINGS,
            configuration=_OBJECT_SCHEMA,
            configurationCreation=STRING,
            deletionSince=STRING,
            deletesConfiguration=BOOLEAN,
            takenOver=BOOLEAN,
        ),
        "status": object_schema(
            state=STRING,
            message=STRING,
            version=STRING,
            manager=_OBJECT_SCHEMA,
            managerImage=STRING,
            deploying=object_schema(version=STRING, managerImage=STRING),
            managedKinds={"type": "array", "items": object_schema(group=STRING, kind=STRING)},
            blockers=STRINGS,
            conditions=CONDITIONS_SCHEMA,
        ),
    },
    [
        ("Wanted", "string", ".spec.state"),
        ("State", "string", ".status.state"),
        ("Version", "string", ".status.version"),
        ("Channel", "string", ".spec.channel"),
        ("Policy", "string", ".spec.policy"),
        ("Age", "date", ".metadata.creationTimestamp"),
        ("Message", "string", ".status.message"),
    ],
)


class KnownObject(NamedTuple):
    """An object that a record names.

    Attributes:
        api_version: the API version with which it was written or read.
        ref: identifies the object.
        uid: its uid, or empty if it is not known.
    """

    api_version: str
    ref: Ref
    uid: str = ""


@dataclass(frozen=True)
class ModuleStatus:
    """The status that was last reported of a module.

    Attributes:
        state: one of the states above; empty before the first report.
        message: why, in a sentence; empty if nothing needs to be said.
        blockers: what blocks its deletion, each in a line.
    """

    state: str = ""
    message: str = ""
    blockers: tuple[str, ...] = ()


@dataclass(frozen=True)
class ModuleRecord:
    """What the cluster remembers of a module.

    Attributes:
        name: of the module.
        state: what is wanted: ``managed``, ``unmanaged`` or ``absent``.
        policy: ``create_and_delete`` or ``ignore``.
        channel, version: what the user asked for; one of them is empty.
        is_default: whether the user's list marks it as a default module.
        is_mandatory: whether the catalog demanded it, and not the user.
        needs: the modules that it needs.
        configuration: the default configuration; its uid is empty until its creation is known.
        configuration_creation: the progress of its creation, see
            :class:`~.._module_lifecycle.default_configuration.Creation`; empty before it is decided.
        deletion_since: when its deletion began, or empty.
        deletes_configuration: whether the deletion has requested the deletion of the default configuration.
        installed_version: the version that was last deployed or adopted, or empty.
        manager, manager_image: the operator's workload at that time.
        deploying_version, deploying_image: the version whose deployment has begun and has not succeeded, and
            the image of its operator; mostly empty.
        is_taken_over: whether the user has taken it over from Kyma's lifecycle manager.
        managed_kinds: kinds (group, kind) whose instances block the deletion, besides those that the manifest
            defines.
        status: what was last reported.
        is_skipped: whether a person has marked it as skipped, except for its deletion.
        conditions: in the form of the record.
    """

    name: str
    state: str = MANAGED
    policy: str = CREATE_AND_DELETE
    channel: str = ""
    version: str = ""
    is_default: bool = False
    is_mandatory: bool = False
    needs: tuple[str, ...] = ()
    configuration: KnownObject | None = None
    configuration_creation: str = ""
    deletion_since: str = ""
    deletes_configuration: bool = False
    installed_version: str = ""
    manager: KnownObject | None = None
    manager_image: str = ""
    deploying_version: str = ""
    deploying_image: str = ""
    is_taken_over: bool = False
    managed_kinds: tuple[tuple[str, str], ...] = ()
    status: ModuleStatus = ModuleStatus()
    is_skipped: bool = False
    conditions: tuple[Mapping[str, Any], ...] = field(default=(), compare=False)

    @property
    def is_managed(self) -> bool:
        """Whether this collection manages the module, which includes a deletion in progress."""
        return self.state == MANAGED or bool(self.deletion_since)


def module_record_from(obj: Object) -> ModuleRecord:
    """The record in an object; what others have written of the version that runs does not count.

    Raises:
        NewerRecord: a newer version of this collection has written it.
    """
    known_record(obj)
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    runs = status if _is_ours(obj, "status", "version", "manager", "managerImage") else {}
    deploying = (status.get("deploying") if _is_ours(obj, "status", "deploying") else None) or {}
    return ModuleRecord(
        name=obj["metadata"]["name"],
        state=spec.get("state", MANAGED),
        policy=spec.get("policy", CREATE_AND_DELETE),
        channel=spec.get("channel", ""),
        version=spec.get("version", ""),
        is_default=spec.get("default", False),
        is_mandatory=spec.get("mandatory", False),
        needs=tuple(spec.get("needs") or ()),
        configuration=_known_object(spec.get("configuration")),
        configuration_creation=spec.get("configurationCreation", ""),
        deletion_since=spec.get("deletionSince", ""),
        deletes_configuration=spec.get("deletesConfiguration", False),
        installed_version=runs.get("version", ""),
        manager=_known_object(runs.get("manager")),
        manager_image=runs.get("managerImage", ""),
        deploying_version=deploying.get("version", ""),
        deploying_image=deploying.get("managerImage", ""),
        is_taken_over=spec.get("takenOver", False) and _is_ours(obj, "spec", "takenOver"),
        managed_kinds=tuple((one["group"], one["kind"]) for one in status.get("managedKinds") or ()),
        status=ModuleStatus(
            status.get("state", ""), status.get("message", ""), tuple(status.get("blockers") or ())
        ),
        is_skipped=str((obj["metadata"].get("labels") or {}).get(SKIP_LABEL)).lower() == "true",
        conditions=tuple(status.get("conditions") or ()),
    )


def module_object(record: ModuleRecord, now: str) -> Object:
    """The object of a record.

    Args:
        record: of the module.
        now: the time for the conditions; RFC 3339.
    """
    spec = {
        "state": record.state,
        "policy": record.policy,
        "channel": record.channel,
        "version": record.version,
        "default": record.is_default,
        "mandatory": record.is_mandatory,
        "needs": list(record.needs),
        "configuration": _object_fields(record.configuration),
        "configurationCreation": record.configuration_creation,
        "deletionSince": record.deletion_since,
        "deletesConfiguration": record.deletes_configuration,
        "takenOver": record.is_taken_over,
    }
    deploying = {"version": record.deploying_version, "managerImage": record.deploying_image}
    status = {
        "state": record.status.state,
        "message": record.status.message,
        "version": record.installed_version,
        "manager": _object_fields(record.manager),
        "managerImage": record.manager_image,
        "deploying": {key: value for key, value in deploying.items() if value},
        "managedKinds": [{"group": group, "kind": kind} for group, kind in record.managed_kinds],
        "blockers": list(record.status.blockers),
        "conditions": [_ready_condition(record, now)],
    }
    return {
        "apiVersion": API_VERSION,
        "kind": "Module",
        "metadata": {"name": record.name},
        "spec": {key: value for key, value in spec.items() if value},
        "status": {key: value for key, value in status.items() if value},
    }


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


def _known_object(fields: Mapping[str, Any] | None) -> KnownObject | None:
    if not fields:
        return None
    api_version = fields["apiVersion"]
    ref = Ref(group_of(api_version), fields["kind"], fields.get("namespace", ""), fields["name"])
    return KnownObject(api_version, ref, fields.get("uid", ""))


def _object_fields(known: KnownObject | None) -> dict[str, str]:
    if known is None:
        return {}
    fields = {
        "apiVersion": known.api_version,
        "kind": known.ref.kind,
        "namespace": known.ref.namespace,
        "name": known.ref.name,
        "uid": known.uid,
    }
    return {key: value for key, value in fields.items() if value}


def read_module_records(cluster: Cluster) -> dict[str, ModuleRecord]:
    """The records of all modules, by name."""
    records = map(module_record_from, cluster.list(API_VERSION, "Module").items)
    return {record.name: record for record in records}


def write_module_record(cluster: Cluster, record: ModuleRecord) -> ModuleRecord:
    """Write the record of a module; the record after the write."""
    answer = apply_record(cluster, MODULE_DEFINITION, module_object(record, timestamp()), force=True)
    return replace(record, conditions=tuple((answer.get("status") or {}).get("conditions") or ()))


def delete_module_record(cluster: Cluster, name: str) -> None:
    """Delete the record of a module."""
    cluster.delete(API_VERSION, "Module", name)
