# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The model of an errand: what its author wants, and what its status records of its runs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any, NamedTuple, TypeAlias

from .._cluster.cluster import API_VERSION, GROUP, Address, Object
from .._cluster.fields.field_owners import owns
from .._cluster.fields.managed_fields import APPLY, UPDATE
from .._cluster.fields.written_by import is_write_of
from .._cluster.own_objects import ERRAND
from .._custom_resources.conditions import Conditions, ObservedGeneration, Time
from .._field_notes import METADATA, SPEC, STATUS, described, in_metadata, not_stored, whole_part
from .._jobs.configuration import ConfigurationEntry
from .._jobs.job_outcome import JobOutcome
from .._loose_json import mapping_of
from .._record_codec import from_parts, to_record

KIND = ERRAND

FIELD_MANAGER = "kyma-lifecycle/errands"
"""The field manager of what is written while errands are got on."""
RUN_REQUEST = f"{GROUP}/run-requested"
"""An annotation: each new value runs the errand once."""
ERRAND_LABEL = f"{GROUP}/errand"
"""On Jobs and pods: the errand that they belong to, see :func:`label_value`."""
RUN_LABEL = f"{GROUP}/run"
"""On Jobs and pods: the number of the run."""
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
"""The annotation of appliers that keep on the client what they have applied."""

HOLD_SECONDS = 3600
"""How long a holding container keeps an output that nobody has read, unless the errand says otherwise."""


class Strategy(StrEnum):
    """When an errand runs."""

    MANUAL = "manual"
    NOW = "now"
    ONCE = "once"
    DONE = "done"


AUTOMATIC = frozenset({Strategy.ONCE, Strategy.DONE})
"""The strategies of an auto-errand, which may run again where its configuration changes."""


class OutputSource(StrEnum):
    """Where the engine reads the output of a container."""

    EXEC = "exec"
    TERMINATION_MESSAGE = "terminationMessage"


class ErrandPhase(StrEnum):
    """The phase of an errand. The last two are how its last run ended."""

    IDLE = "Idle"
    REFUSED = "Refused"
    WAITING = "Waiting"
    QUEUED = "Queued"
    RUNNING = "Running"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"


class RunReason(StrEnum):
    """Why a run was started."""

    REQUESTED = "Requested"
    NOW = "Now"
    ONCE = "Once"
    CONFIGURATION_CHANGED = "ConfigurationChanged"


class ErrandKey(NamedTuple):
    """The key of an errand in a cluster."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"Errand {self.namespace}/{self.name}"

    @property
    def address(self) -> Address:
        """The address of its object."""
        return API_VERSION, KIND, self.name, self.namespace


class PersistenceMethod(StrEnum):
    """What becomes of a file."""

    ONE_TO_ONE = "one-to-one"
    FAN_OUT = "fan-out"


Texts: TypeAlias = Mapping[str, str]


@dataclass(frozen=True)
class OutputFile:
    """A file of a container that becomes a Secret. Its container and its name are the keys of its entry."""

    container: Annotated[str, not_stored()]
    file: Annotated[str, not_stored()]
    secret: Annotated[
        str,
        described("Name of the Secret, or the prefix of the names of its versions or parts.", name="name"),
    ]
    is_versioned: Annotated[
        bool, described("Whether each new content becomes a new, immutable Secret NAME-vN.", name="versioned")
    ] = False
    method: Annotated[
        PersistenceMethod,
        described(
            "one-to-one: the file becomes one Secret. fan-out: each value becomes a Secret NAME-KEY.",
            name="persistenceMethod",
        ),
    ] = PersistenceMethod.ONE_TO_ONE
    labels: Annotated[Texts, described("Labels of the Secret.", name="secretLabels")] = field(
        default_factory=dict
    )
    annotations: Annotated[Texts, described("Annotations of the Secret.", name="secretAnnotations")] = field(
        default_factory=dict
    )
    keep: Annotated[
        int, described("How many versions to retain. Versions in use are never deleted.", minimum=1)
    ] = 0
    keep_seconds: Annotated[
        int, described("Seconds from its creation for which a version is retained, too.", minimum=1)
    ] = 0

    @property
    def is_fan_out(self) -> bool:
        """Whether each value of the file is the JSON of a Secret."""
        return self.method is PersistenceMethod.FAN_OUT


_KEEP_NEEDS_VERSIONED = (
    "has(self.versioned) && self.versioned || !has(self.keep) && !has(self.keepSeconds)",
    "keep and keepSeconds need versioned: true",
)


@dataclass(frozen=True)
class OutputSpec:
    """What happens to the output of a run."""

    output_map: Annotated[
        Mapping[
            str,
            Annotated[
                Mapping[
                    str,
                    Annotated[
                        OutputFile, described("What becomes of the file.", rules=(_KEEP_NEEDS_VERSIONED,))
                    ],
                ],
                described(maxProperties=1000),
            ],
        ],
        described("Files in /mnt/quarks that become Secrets, by container and file name.", maxProperties=100),
    ] = field(default_factory=dict)
    labels: Annotated[Texts, described("Labels of all Secrets.", name="secretLabels")] = field(
        default_factory=dict
    )
    writes_on_failure: Annotated[
        bool, described("Whether the output of a failed run is written, too.", name="writeOnFailure")
    ] = False
    hold_seconds: Annotated[
        int,
        described("Seconds for which the output stays readable after a container has written it.", minimum=1),
    ] = HOLD_SECONDS
    source: Annotated[
        OutputSource,
        described(
            "exec: read the files in the pod. terminationMessage: read the termination messages of the"
            " containers, up to 4095 bytes each. All who may read pods can read those.",
            name="from",
        ),
    ] = OutputSource.EXEC
    overwrites: Annotated[
        bool,
        described(
            "Whether to overwrite Secrets of others, and to add versions to those of another errand.",
            name="overwrite",
        ),
    ] = False

    @cached_property
    def files(self) -> tuple[OutputFile, ...]:
        """The files that become Secrets, sorted; none if there is no output."""
        return tuple(
            replace(entry, container=container, file=file)
            for container, files in sorted(self.output_map.items())
            for file, entry in sorted(files.items())
        )

    @property
    def containers(self) -> tuple[str, ...]:
        """The containers with output, sorted."""
        return tuple(sorted({one.container for one in self.files}))

    @property
    def is_held(self) -> bool:
        """Whether holding containers keep the output readable."""
        return bool(self.files) and self.source is OutputSource.EXEC


@dataclass(frozen=True)
class Trigger:
    """When an errand runs."""

    strategy: Annotated[
        Strategy,
        described(
            "manual: does not run. now: runs, and becomes manual afterwards. once: runs one time, and becomes"
            " done afterwards."
        ),
    ]


@dataclass(frozen=True)
class ErrandSpec:
    """What the author of an errand wants."""

    trigger: Annotated[Trigger, "When the errand runs."]
    template: Annotated[
        Mapping[str, Any], "Template of the Job, {metadata, spec}, like jobTemplate of a CronJob."
    ]
    output: Annotated[OutputSpec, "What becomes of the output."] = OutputSpec()
    reruns_on_change: Annotated[
        bool,
        described(
            "Whether a finished auto-errand runs again when the data of a ConfigMap or Secret changes that"
            " its template refers to.",
            name="updateOnConfigChange",
        ),
    ] = False

    @property
    def strategy(self) -> Strategy:
        """When it runs."""
        return self.trigger.strategy

    @property
    def pod_template(self) -> Mapping[str, Any]:
        """The template of its pods."""
        # The definition leaves the shape of templates open.
        return mapping_of(mapping_of(self.template.get("spec")).get("template"))

    @property
    def template_digest(self) -> str:
        """A digest of the template; it shows whether a run is of this template."""
        text = json.dumps(self.template, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:32]


@dataclass(frozen=True)
class OutputNote:
    """The result of the output of a run."""

    secrets: Annotated[tuple[str, ...], "The Secrets that hold the output."] = ()
    reason: Annotated[str, "Why there are no Secrets, in one word."] = ""
    message: Annotated[str, "The reason in a sentence, or a warning."] = ""
    pruned: Annotated[
        tuple[str, ...],
        described("The Secrets of old versions that were deleted after the output was written."),
    ] = ()
    unchanged: Annotated[int, "How many of the Secrets had this content already."] = 0


@dataclass(frozen=True)
class Run:
    """A run in the status. It is recorded before its Job is created."""

    number: Annotated[int, "The number of the run, counted for each errand."]
    reason: Annotated[RunReason, "Why the run was started."]
    generation: Annotated[int, "The generation of the errand when the run was recorded."]
    template_digest: Annotated[str, "A hash of the template of the Job."]
    job: Annotated[str, "The name of the Job."]
    recorded_at: Annotated[Time, described("When the run was recorded.", name="noted")]
    request: Annotated[str, "The value of the annotation that requested the run."] = ""
    configuration: Annotated[
        tuple[ConfigurationEntry, ...],
        described("The ConfigMaps and Secrets that the run was created with."),
    ] = ()
    job_uid: Annotated[str, "The uid of the Job. Empty until it is known to exist."] = ""
    output: Annotated[OutputNote | None, "The result of the output. Missing before that is known."] = None
    # It is read while the pod exists, because the pod is gone before its Job fails.
    disruption: Annotated[str, "What disrupted the pod, as read while the pod existed."] = ""
    pull_failure: Annotated[str, "Why the Job is deleted: the image that could not be pulled."] = ""
    outcome: Annotated[JobOutcome | None, "How the run ended. Missing before."] = None
    ended_generation: Annotated[int, "The generation of the errand when the run ended."] = 0

    @property
    def is_open(self) -> bool:
        """Whether it has not ended yet."""
        return self.outcome is None


@dataclass(frozen=True)
class ErrandStatus:
    """The content of the status of an errand."""

    phase: Annotated[ErrandPhase, "The phase of the errand."] = ErrandPhase.IDLE
    message: Annotated[str, "Why, in a sentence. Empty if there is nothing to report."] = ""
    run: Annotated[Run | None, "The run that is open, or the last one."] = None
    once_digest: Annotated[str, "A hash of the template that last ran automatically. Empty if none has."] = ""
    request: Annotated[
        str, "The last value of the annotation run-requested that was answered with a run."
    ] = ""
    history: Annotated[tuple[Mapping[str, Any], ...], "The runs that have ended, the newest first."] = ()
    conditions: Conditions = ()
    observed_generation: ObservedGeneration = 0

    @property
    def open_run(self) -> Run | None:
        """The run that has not ended; None if there is none."""
        return self.run if self.run and self.run.is_open else None


@dataclass(frozen=True)
class StrategyOwner:
    """Who has set the strategy of an errand.

    Attributes:
        is_declared: whether an applier declared it, which sets it again at each apply.
        blocks_applier: whether we own it, so that an applier that declares another one gets a conflict.
    """

    is_declared: bool = False
    blocks_applier: bool = False


@dataclass(frozen=True)
class Errand:
    """An errand as it is in the cluster. The request is the value of the annotation that requests a run."""

    key: Annotated[ErrandKey, whole_part(METADATA)]
    uid: Annotated[str, in_metadata()]
    generation: Annotated[int, in_metadata()]
    resource_version: Annotated[str, in_metadata()]
    spec: Annotated[ErrandSpec, whole_part(SPEC, "What the author wants.")]
    status: Annotated[ErrandStatus, whole_part(STATUS, "What is known of the runs.")]
    deletion_timestamp: Annotated[str, in_metadata()] = ""
    request: str = ""
    strategy_owner: StrategyOwner = StrategyOwner()

    @property
    def is_deleting(self) -> bool:
        """Whether it is being deleted."""
        return bool(self.deletion_timestamp)

    @property
    def owner(self) -> Object:
        """The reference to the errand as the owner of other objects."""
        meta = {**self.key._asdict(), "uid": self.uid}
        return {"apiVersion": API_VERSION, "kind": KIND, "metadata": meta}


def owner_reference(errand: Errand) -> Object:
    """The entry of ``ownerReferences`` that has the objects of an errand deleted with it.

    A foreground deletion of the errand waits for them. Servers may ask for the right to its finalizers.
    """
    reference = {"apiVersion": API_VERSION, "kind": KIND, "name": errand.key.name, "uid": errand.uid}
    return {**reference, "blockOwnerDeletion": True}


def key_of(obj: Mapping[str, Any]) -> ErrandKey:
    """The key of the errand in an object."""
    return ErrandKey(obj["metadata"]["namespace"], obj["metadata"]["name"])


def label_value(name: str) -> str:
    """The value of :data:`ERRAND_LABEL` for an errand: its name, or a digest if that is too long."""
    return name if len(name) <= 63 else hashlib.sha256(name.encode()).hexdigest()[:32]


def errand_from(obj: Mapping[str, Any]) -> Errand:
    """The errand in an object."""
    meta = obj["metadata"]
    return replace(
        from_parts(Errand, obj),
        request=str((meta.get("annotations") or {}).get(RUN_REQUEST) or ""),
        strategy_owner=strategy_owner(meta.get("managedFields") or ()),
    )


def strategy_owner(managed_fields: Sequence[Mapping[str, Any]]) -> StrategyOwner:
    """Who has set the strategy, by ``metadata.managedFields`` (KEP-555).

    An applier owns it by an entry with the operation Apply. It also owns it by an entry with the annotation
    in which appliers such as ``kubectl apply`` store what they have applied.
    """
    owners = [entry for entry in managed_fields if owns_strategy(entry)]
    is_declared = any(
        is_entry_of_applier(entry) or owns(entry, "f:metadata", "f:annotations", f"f:{LAST_APPLIED}")
        for entry in owners
    )
    is_ours = any(is_own_strategy(entry) for entry in owners)
    return StrategyOwner(is_declared, is_ours and any(map(is_entry_of_applier, managed_fields)))


def owns_strategy(entry: Mapping[str, Any]) -> bool:
    """Whether an entry of ``metadata.managedFields`` owns the strategy."""
    return not entry.get("subresource") and owns(entry, "f:spec", "f:trigger", "f:strategy")


def is_own_strategy(entry: Mapping[str, Any]) -> bool:
    """Whether we own the strategy by an entry of ``metadata.managedFields``."""
    return is_write_of(entry, FIELD_MANAGER, UPDATE) and owns_strategy(entry)


def is_entry_of_applier(entry: Mapping[str, Any]) -> bool:
    """Whether an entry of ``metadata.managedFields`` is that of a server-side applier of the errand."""
    return not entry.get("subresource") and entry.get("operation") == APPLY and owns(entry, "f:spec")


def status_fields(status: ErrandStatus) -> Object:
    """The ``status`` of an errand's object, without empty fields."""
    fields: Object = to_record(status, is_compact=True)
    return fields
