# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of a run: what it says when the run begins, and how the run ends. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple, TypeAlias

from ..._custom_resources.conditions import Conditions, Time
from ..._field_notes import described, in_spec, in_status
from ..._loose_json import mapping_of
from ..._migrations.results import PredictedVerdict
from ..._record_codec import from_record
from .record_schema import RUNNING, RolloutReference


class Cancellation(NamedTuple):
    """A request to cancel a run."""

    by: Annotated[str, "Who requests it, and why."] = ""
    at: Annotated[Time, "When it was requested."] = ""


class PhaseRecord(NamedTuple):
    """A phase of a run that has ended. A plan has more to say of its phases."""

    state: Annotated[str, "How the phase ended."] = ""
    seconds: Annotated[float, "How long it took."] = 0.0
    started_at: Annotated[Time, described("When it began.", name="started_at")] = ""
    finished_at: Annotated[Time, described("When it ended.", name="finished_at")] = ""


OpenPhase: TypeAlias = Annotated[PhaseRecord, described(**{"x-kubernetes-preserve-unknown-fields": True})]
Entries: TypeAlias = Annotated[Mapping[str, Any], described(shape=Mapping[str, Mapping[str, Any]])]
"""An open entry by name."""


@dataclass(frozen=True)
class RunBegin:
    """What is known of a run when it begins; it never changes."""

    action: Annotated[str, "`deploy`, `delete` or `modules`."] = ""
    version: Annotated[str, "The release, or empty."] = ""
    previous: Annotated[str, "The release that the cluster had before."] = ""
    profile: Annotated[str, "The profile of the release."] = ""
    digest: Annotated[str, "A hash of the release as it was rendered, options included."] = ""
    release_digest: Annotated[str, "A hash of the files of the release."] = ""
    rollout: Annotated[
        RolloutReference, "The rollout that the run is part of. Missing for a run by hand."
    ] = field(default_factory=RolloutReference)
    started_by: Annotated[str, "Who started the run, as in `alice@bastion`."] = ""
    installation: Annotated[str, "The uid of the KymaInstallation."] = ""
    started_at: Annotated[Time, "When the run began."] = ""
    clock: Annotated[float, "The start, in seconds of the clock of the host."] = 0.0
    deadline: Annotated[float, "The seconds after which the run is cancelled. 0 for none."] = 0.0
    components: Annotated[tuple[str, ...], "The components that take part."] = ()
    all_components: Annotated[tuple[str, ...], "All components of the release, in its order."] = ()
    selection: Annotated[Mapping[str, str], "By component, a hash of what was selected for the run."] = field(
        default_factory=dict
    )
    takings: Annotated[
        Mapping[str, tuple[str, ...]],
        "By component, hashes of the values that the plan says are taken from other field managers.",
    ] = field(default_factory=dict)
    actions: Annotated[Mapping[str, str], "By component, what the plan says, such as `upgrade`."] = field(
        default_factory=dict
    )
    alone: Annotated[tuple[str, ...], "The components to which the user limited the run."] = ()
    digest_of_others: Annotated[
        str,
        described(
            "A hash of the release that the other components have, if the run is limited to some.",
            name="kept",
        ),
    ] = ""
    prune: Annotated[tuple[str, ...], "The owners whose objects are deleted at the end."] = ()
    phases: Annotated[tuple[str, ...], "The phases of the plan."] = ()
    migrations: Annotated[Mapping[str, PredictedVerdict], "By migration, what the plan expects."] = field(
        default_factory=dict
    )
    code: Annotated[Mapping[str, str], "By migration, a hash of its code."] = field(default_factory=dict)


@dataclass(frozen=True)
class RunRecord:
    """The record of a run."""

    cancel: Annotated[Cancellation, in_spec("A request to cancel the run. People write it.")] = field(
        default_factory=Cancellation
    )
    state: Annotated[str, in_status("`running`, `succeeded`, `failed` or `cancelled`.")] = ""
    message: Annotated[str, in_status("Why, in a sentence. Empty if there is nothing to report.")] = ""
    cancelled: Annotated[str, in_status("Who or what has cancelled the run, and why.")] = ""
    cancelled_at: Annotated[Time, in_status("When the run was cancelled.")] = ""
    finished_at: Annotated[Time, in_status("When the run ended.")] = ""
    seconds: Annotated[float, in_status("How long the run took.")] = 0.0
    begin: Annotated[RunBegin, in_status("What was known when the run began. It never changes.")] = field(
        default_factory=RunBegin
    )
    lease: Annotated[Mapping[str, Any], in_status("The lease under which the tasks of the run write.")] = (
        field(default_factory=dict)
    )
    components: Annotated[Entries, in_status("By component, how it ended, its times, and its failures.")] = (
        field(default_factory=dict)
    )
    migrations: Annotated[Entries, in_status("By migration, how it ended, and its evidence.")] = field(
        default_factory=dict
    )
    phases: Annotated[
        Mapping[str, Any],
        in_status("By phase, how it ended, and how long it took.", shape=Mapping[str, OpenPhase]),
    ] = field(default_factory=dict)
    undone: Annotated[Entries, in_status("By migration, what an undo has reverted.")] = field(
        default_factory=dict
    )
    conditions: Annotated[Conditions, in_status()] = ()


def run_status(run: Mapping[str, Any]) -> dict[str, Any]:
    """The status of a run. It is running until it has an end, and cancelled if a person has requested that.

    A run that was killed between the two requests that create its record has no status.
    """
    request = (run.get("spec") or {}).get("cancel") or {}
    requested = (
        {"cancelled": request["by"], "cancelledAt": request.get("at", "")} if request.get("by") else {}
    )
    return {"state": RUNNING, **requested, **(run.get("status") or {})}


def begin_of(run: Mapping[str, Any]) -> RunBegin:
    """What was known of a run when it began; empty if its record has no status."""
    return from_record(RunBegin, mapping_of(run.get("status")).get("begin"))
