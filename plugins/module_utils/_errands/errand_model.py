# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The model of an errand: what its author wants, and what its status records of its runs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple, TypeVar

from .._cluster.cluster import GROUP, Address, Object
from .._cluster.fields.field_owners import owns
from .._cluster.fields.managed_fields import APPLY, UPDATE
from .._cluster.fields.written_by import is_write_of
from .._cluster.own_objects import ERRAND
from .._jobs.configuration import ConfigurationEntry
from .._jobs.job_outcome import JobOutcome
from .._loose_json import mapping_of
from .._record_codec import from_record, stored_as, to_record

API_VERSION = f"{GROUP}/v1alpha1"
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


Word = TypeVar("Word", bound=StrEnum)


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


@dataclass(frozen=True)
class OutputFile:
    """A file of a container that becomes a Secret.

    Attributes:
        container: its name.
        file: the name of the file in the output folder.
        secret: the name of the Secret, or the base of the names of its versions or parts.
        is_versioned: whether each new content becomes a new Secret.
        is_fan_out: whether each value of the file is the JSON of a Secret.
        labels, annotations: of the Secret.
        keep: how many versions to retain; 0 for all.
        keep_seconds: younger versions are retained, too.
    """

    container: str
    file: str
    secret: str
    is_versioned: bool = False
    is_fan_out: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    keep: int = 0
    keep_seconds: int = 0


@dataclass(frozen=True)
class OutputSpec:
    """What happens to the output.

    Attributes:
        files: the files that become Secrets; none if there is no output.
        labels: of each of the Secrets.
        writes_on_failure: whether the output of a failed run is written, too.
        hold_seconds: how long the output stays readable.
        source: where the engine reads it.
        overwrites: whether to overwrite Secrets that belong to others.
    """

    files: tuple[OutputFile, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    writes_on_failure: bool = False
    hold_seconds: int = HOLD_SECONDS
    source: OutputSource = OutputSource.EXEC
    overwrites: bool = False

    @property
    def containers(self) -> tuple[str, ...]:
        """The containers with output, sorted."""
        return tuple(sorted({one.container for one in self.files}))

    @property
    def is_held(self) -> bool:
        """Whether holding containers keep the output readable."""
        return bool(self.files) and self.source is OutputSource.EXEC


def output_spec_from(fields: Mapping[str, Any] | None) -> OutputSpec:
    """The output of an errand's ``spec.output``, which has passed the schema."""
    given = fields or {}
    return OutputSpec(
        files=tuple(
            _output_file(container, file, entry or {})
            for container, files in sorted((given.get("outputMap") or {}).items())
            for file, entry in sorted((files or {}).items())
        ),
        labels=dict(given.get("secretLabels") or {}),
        writes_on_failure=bool(given.get("writeOnFailure")),
        hold_seconds=int(given.get("holdSeconds") or HOLD_SECONDS),
        source=_one_of(OutputSource, given.get("from"), OutputSource.EXEC),
        overwrites=bool(given.get("overwrite")),
    )


def _one_of(words: type[Word], text: object, otherwise: Word) -> Word:
    """A value of an enumeration. One that a newer version has written must not block all other errands."""
    return next((word for word in words if word == text), otherwise)


def _output_file(container: str, file: str, entry: Mapping[str, Any]) -> OutputFile:
    method = entry.get("persistenceMethod") or entry.get("persistencemethod") or ""
    return OutputFile(
        container,
        file,
        secret=str(entry.get("name") or ""),
        is_versioned=bool(entry.get("versioned")),
        is_fan_out=method == "fan-out",
        labels=dict(entry.get("secretLabels") or {}),
        annotations=dict(entry.get("secretAnnotations") or {}),
        keep=int(entry.get("keep") or 0),
        keep_seconds=int(entry.get("keepSeconds") or 0),
    )


@dataclass(frozen=True)
class ErrandSpec:
    """What the author of an errand wants.

    Attributes:
        strategy: when it runs.
        template: of its Jobs, as ``{metadata, spec}``.
        output: what happens to its output.
        output_fields: the same, as written in the spec.
        reruns_on_change: whether a finished auto-errand runs again if its configuration has changed.
    """

    strategy: Strategy
    template: Mapping[str, Any]
    output: OutputSpec = OutputSpec()
    output_fields: Mapping[str, Any] = field(default_factory=dict)
    reruns_on_change: bool = False

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
    """The result of the output of a run.

    Attributes:
        secrets: the Secrets that hold it, by name.
        reason: why there are none; empty if there are.
        message: the reason in a sentence, or a warning; mostly empty.
        pruned: the Secrets of older versions that were deleted, by name.
        unchanged: how many of the Secrets had this content already.
    """

    secrets: tuple[str, ...] = ()
    reason: str = ""
    message: str = ""
    pruned: tuple[str, ...] = ()
    unchanged: int = 0


@dataclass(frozen=True)
class Run:
    """A run in the status. It is recorded before its Job is created.

    Attributes:
        number: of the run, counted for each errand.
        reason: why it was started.
        generation: of the errand's ``metadata`` at that time.
        template_digest: see :attr:`ErrandSpec.template_digest`.
        request: the value of the annotation that requested the run, if any.
        configuration: the ConfigMaps and Secrets that it was created with.
        job, job_uid: its Job; the uid is empty until the Job is known to exist.
        recorded_at: when it was recorded, RFC 3339.
        output: the result of its output; None before that is known.
        disruption: what disrupted its pod; read while the pod existed, because the pod is gone before its Job
            fails.
        pull_failure: why its Job is deleted, as an image could not be pulled; empty if it is not.
        outcome: how it ended; None before.
        ended_generation: of the errand's ``metadata`` when it ended.
    """

    number: int
    reason: RunReason
    generation: int
    template_digest: str
    job: str
    recorded_at: str = field(metadata=stored_as("noted"))
    request: str = ""
    configuration: tuple[ConfigurationEntry, ...] = ()
    job_uid: str = ""
    output: OutputNote | None = None
    disruption: str = ""
    pull_failure: str = ""
    outcome: JobOutcome | None = None
    ended_generation: int = 0

    @property
    def is_open(self) -> bool:
        """Whether it has not ended yet."""
        return self.outcome is None


@dataclass(frozen=True)
class ErrandStatus:
    """The content of the status of an errand.

    Attributes:
        phase: of the errand.
        message: why, in a sentence; empty if there is nothing to report.
        run: the open run, or else the last one.
        once_digest: the digest of the template with which it last ran automatically; empty if it never has.
        request: the last value of the annotation that was answered with a run.
        history: the runs that have ended, the newest first.
        conditions: as the status has them.
        observed_generation: of the errand's ``metadata`` when the status was written.
    """

    phase: ErrandPhase = ErrandPhase.IDLE
    message: str = ""
    run: Run | None = None
    once_digest: str = ""
    request: str = ""
    history: tuple[Mapping[str, Any], ...] = ()
    conditions: tuple[Mapping[str, Any], ...] = ()
    observed_generation: int = 0

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
    """An errand as it is in the cluster.

    Attributes:
        key: of the errand.
        uid, generation, resource_version: of its ``metadata``.
        spec, status: the wanted state, and the known state of its runs.
        request: the value of the annotation that requests a run.
        strategy_owner: who has set its strategy.
        is_deleting: whether it is being deleted.
    """

    key: ErrandKey
    uid: str
    generation: int
    resource_version: str
    spec: ErrandSpec
    status: ErrandStatus
    request: str = ""
    strategy_owner: StrategyOwner = StrategyOwner()
    is_deleting: bool = False

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
    meta, spec = obj["metadata"], obj.get("spec") or {}
    return Errand(
        key=key_of(obj),
        uid=str(meta.get("uid") or ""),
        generation=int(meta.get("generation") or 0),
        resource_version=str(meta.get("resourceVersion") or ""),
        spec=ErrandSpec(
            strategy=_one_of(Strategy, (spec.get("trigger") or {}).get("strategy"), Strategy.MANUAL),
            template=spec.get("template") or {},
            output=output_spec_from(spec.get("output")),
            output_fields=spec.get("output") or {},
            reruns_on_change=bool(spec.get("updateOnConfigChange")),
        ),
        status=from_record(ErrandStatus, obj.get("status")),
        request=str((meta.get("annotations") or {}).get(RUN_REQUEST) or ""),
        strategy_owner=strategy_owner(meta.get("managedFields") or ()),
        is_deleting=bool(meta.get("deletionTimestamp")),
    )


def strategy_owner(managed_fields: Sequence[Mapping[str, Any]]) -> StrategyOwner:
    """Who has set the strategy, by ``metadata.managedFields`` (KEP-555).

    An applier owns it by an entry with the operation Apply. It also owns it by an entry with the annotation
    in which appliers such as ``kubectl apply`` store what they have applied.
    """
    owners = [entry for entry in managed_fields if owns_strategy(entry)]
    is_declared = any(
        is_applied(entry) or owns(entry, "f:metadata", "f:annotations", f"f:{LAST_APPLIED}")
        for entry in owners
    )
    is_ours = any(is_own_strategy(entry) for entry in owners)
    return StrategyOwner(is_declared, is_ours and any(map(is_applied, managed_fields)))


def owns_strategy(entry: Mapping[str, Any]) -> bool:
    """Whether an entry of ``metadata.managedFields`` owns the strategy."""
    return not entry.get("subresource") and owns(entry, "f:spec", "f:trigger", "f:strategy")


def is_own_strategy(entry: Mapping[str, Any]) -> bool:
    """Whether we own the strategy by an entry of ``metadata.managedFields``."""
    return is_write_of(entry, FIELD_MANAGER, UPDATE) and owns_strategy(entry)


def is_applied(entry: Mapping[str, Any]) -> bool:
    """Whether an entry of ``metadata.managedFields`` is that of a server-side applier of the errand."""
    return not entry.get("subresource") and entry.get("operation") == APPLY and owns(entry, "f:spec")


def status_fields(status: ErrandStatus) -> Object:
    """The ``status`` of an errand's object, without empty fields."""
    fields = to_record(status)
    if run := fields["run"]:
        # The exit code 0 is known, and so is a failure.
        run["outcome"] = run["outcome"] and _without((None, ""), run["outcome"])
        run["output"] = run["output"] and _without(_EMPTY, run["output"])
        fields["run"] = _without(_EMPTY, run)
    return _without(_EMPTY, fields)


_EMPTY: tuple[Any, ...] = (None, "", [], 0)


def _without(values: Collection[Any], fields: Mapping[str, Any]) -> Object:
    return {name: value for name, value in fields.items() if value not in values}
