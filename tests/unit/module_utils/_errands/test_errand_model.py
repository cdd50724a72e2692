# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an errand's object holds: nothing is lost between the model, its object and the definition."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import API_VERSION
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.authoring.errand_report import (
    errand_report,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_model import (
    FIELD_MANAGER,
    KIND,
    LAST_APPLIED,
    ErrandPhase,
    ErrandStatus,
    OutputNote,
    OutputSource,
    OutputSpec,
    Run,
    RunReason,
    Strategy,
    StrategyOwner,
    errand_from,
    label_value,
    status_fields,
    strategy_owner,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_steps import WriteStatus
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_view import ErrandView
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.open_errand_run import end_steps
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.output import MOST_PARTS
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.output_collector import LONGEST_NOTE
from ansible_collections.kyma.lifecycle.plugins.module_utils._jobs.configuration import ConfigurationEntry
from ansible_collections.kyma.lifecycle.plugins.module_utils._jobs.job_outcome import JobOutcome
from ansible_collections.kyma.lifecycle.plugins.module_utils._record_codec import from_record

from tests.support.played_errands import NAMESPACE, PlayedErrands, errand_object, one_file

MOMENT = "2026-11-25T00:00:00Z"
RUN = Run(
    number=7,
    reason=RunReason.CONFIGURATION_CHANGED,
    generation=3,
    template_digest="abc",
    job="app-7",
    recorded_at=MOMENT,
    request="again",
    configuration=(ConfigurationEntry("Secret", "x-v1", "x-v3", "uid", "12", "digest"),),
    job_uid="job-uid",
    output=OutputNote(("a", "b"), "OutputInvalid", "no JSON", ("c",), 1),
    disruption="evicted",
    pull_failure="no image",
    outcome=JobOutcome(False, "ContainerFailed", "it failed", 3, MOMENT, MOMENT),
    ended_generation=4,
)
STATUS = ErrandStatus(
    phase=ErrandPhase.FAILED,
    message="it failed",
    run=RUN,
    once_digest="abc",
    request="again",
    history=({"run": 7, "succeeded": False, "reason": "ContainerFailed", "secrets": ["a"]},),
    conditions=(
        {
            "type": "Accepted",
            "status": "True",
            "reason": "Valid",
            "message": "",
            "lastTransitionTime": MOMENT,
            "observedGeneration": 4,
        },
    ),
    observed_generation=4,
)


def test_a_status_with_the_largest_outputs_of_ten_runs_fits_into_etcd() -> None:
    obj = {"metadata": {"namespace": "shop", "name": "app", "uid": "u"}}
    names = tuple(f"{number:04}-{'x' * 248}" for number in range(MOST_PARTS))
    output = OutputNote(names, "", "w" * LONGEST_NOTE, names)
    history: tuple[Any, ...] = ()
    for number in range(1, 12):
        run = replace(RUN, number=number, outcome=None, output=output)
        status = replace(errand_from(obj).status, run=run, history=history)
        errand = replace(errand_from(obj), status=status)
        (step,) = end_steps(ErrandView(errand, datetime.now(UTC)), run, JobOutcome(True, "Completed"))
        assert isinstance(step, WriteStatus)
        history = step.status.history
    # etcd takes 1.5 MiB.
    assert len(json.dumps(status_fields(step.status))) < 1_200_000
    assert history[0]["secrets"] == list(names)
    assert (history[0]["prunedCount"], history[1]["secretsCount"], history[9]["secretsCount"]) == (
        1000,
        1000,
        1000,
    )
    report = errand_report(replace(errand, status=step.status))["history"]
    assert [len(one["secrets"]) for one in report] == [1000, *[0] * 9]
    assert [one["secret_count"] for one in report] == [1000] * 10


def test_the_statuses_of_this_test_have_every_field() -> None:
    for one in (RUN, STATUS, RUN.output, RUN.outcome, RUN.configuration[0]):
        assert one is not None
        values = {field.name: getattr(one, field.name) for field in fields(one)}
        empty = [name for name, value in values.items() if value is not False and not value]
        assert empty == []


@pytest.mark.parametrize(
    "status", [STATUS, ErrandStatus(), ErrandStatus(run=Run(1, RunReason.NOW, 1, "d", "j", MOMENT))]
)
def test_the_definition_takes_every_status_and_loses_nothing_of_it(status: ErrandStatus) -> None:
    played = PlayedErrands()
    played.create(errand_object())
    played.cluster.patch(
        API_VERSION, KIND, "app", NAMESPACE, {"status": status_fields(status)}, subresource="status"
    )
    assert played.errand().status == status


def test_an_output_that_was_not_written_is_known_and_an_unknown_one_is_none() -> None:
    for output in (None, OutputNote()):
        run = Run(1, RunReason.NOW, 1, "d", "j", MOMENT, output=output)
        obj = {**errand_object(), "status": status_fields(ErrandStatus(run=run))}
        assert errand_from(obj).status.run == run


def test_an_exit_code_of_0_is_not_taken_for_an_unknown_one() -> None:
    for code in (None, 0, 3):
        run = Run(1, RunReason.NOW, 1, "d", "j", MOMENT, outcome=JobOutcome(False, "x", exit_code=code))
        obj = {**errand_object(), "status": status_fields(ErrandStatus(run=run))}
        assert errand_from(obj).status.run == run


def test_words_of_a_newer_version_hinder_no_reader() -> None:
    obj = errand_object(strategy="hourly", output={**one_file(), "from": "log"})
    obj["status"] = {"phase": "Hibernating", "run": {"reason": "Whim"}, "onceDigest": "abc"}
    errand = errand_from(obj)
    assert errand.spec.strategy is Strategy.MANUAL
    assert errand.spec.output.source is OutputSource.EXEC
    assert (errand.status.phase, errand.status.once_digest) == (ErrandPhase.IDLE, "abc")
    assert errand.status.run is not None
    assert (errand.status.run.number, errand.status.run.reason) == (0, RunReason.REQUESTED)


def test_the_definition_loses_nothing_of_a_spec() -> None:
    entry = {
        "name": "x",
        "versioned": True,
        "persistenceMethod": "fan-out",
        "secretLabels": {"a": "b"},
        "secretAnnotations": {"c": "d"},
        "keep": 2,
    }
    output = {
        "outputMap": {"main": {"f": entry, "g": {"name": "y", "persistenceMethod": "one-to-one"}}},
        "secretLabels": {"e": "f"},
        "writeOnFailure": True,
        "holdSeconds": 5,
        "from": "terminationMessage",
        "overwrite": True,
    }
    played = PlayedErrands()
    declared = errand_object(output=output, reruns=True)
    played.create(declared)
    assert played.object()["spec"] == declared["spec"]
    spec = played.errand().spec
    assert spec.reruns_on_change
    [first, second] = spec.output.files
    assert (first.is_fan_out, first.is_versioned, first.keep, second.is_fan_out) == (True, True, 2, False)
    assert (spec.output.hold_seconds, spec.output.source) == (5, OutputSource.TERMINATION_MESSAGE)
    assert (spec.output.writes_on_failure, spec.output.overwrites, spec.output.is_held) == (True, True, False)


@pytest.mark.parametrize(
    "change",
    [
        {"trigger": {"strategy": "always"}},
        {"trigger": {}},
        {"output": {"outputMap": {"main": {"f": {"versioned": True}}}}},
        {"output": {"outputMap": {"main": {"f": {"name": "x", "persistenceMethod": "both"}}}}},
        {"output": {"holdSeconds": "5"}},
        {"output": {"from": "log"}},
    ],
)
def test_the_definition_refuses_what_the_model_can_not_read(change: dict[str, Any]) -> None:
    played = PlayedErrands()
    obj = errand_object()
    obj["spec"] |= change
    with pytest.raises(Exception, match="spec"):
        played.create(obj)


def test_an_output_has_defaults() -> None:
    assert from_record(OutputSpec, None).files == ()
    spec = from_record(OutputSpec, one_file())
    assert (spec.hold_seconds, spec.source, spec.is_held) == (3600, OutputSource.EXEC, True)
    assert from_record(OutputSpec, {"outputMap": {"main": None}}).files == ()


def test_a_long_name_has_a_short_label_of_its_own() -> None:
    names = ["a" * 63, "a" * 64, "a" * 65]
    values = [label_value(name) for name in names]
    assert values[0] == names[0]
    assert len(set(values)) == 3
    assert max(map(len, values)) == 63


def owned(*paths: tuple[str, ...]) -> dict[str, Any]:
    """The fields of a manager."""
    all_fields: dict[str, Any] = {}
    for path in paths:
        fields_of_path = all_fields
        for step in path:
            fields_of_path = fields_of_path.setdefault(step, {})
    return all_fields


TEMPLATE = ("f:spec", "f:template")
NO_OWNER = StrategyOwner()
STRATEGY = ("f:spec", "f:trigger", "f:strategy")
OURS = {"manager": FIELD_MANAGER, "operation": "Update", "fieldsV1": owned(STRATEGY)}
REMEMBERED = ("f:metadata", "f:annotations", f"f:{LAST_APPLIED}")


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([], StrategyOwner()),
        ([{"operation": "Update", "fieldsV1": owned(STRATEGY)}], StrategyOwner()),
        ([{"operation": "Apply", "fieldsV1": owned(STRATEGY)}], StrategyOwner(True, False)),
        ([{"operation": "Apply", "fieldsV1": owned(TEMPLATE)}], StrategyOwner()),
        ([{"operation": "Apply", "fieldsV1": owned(TEMPLATE)}, OURS], StrategyOwner(False, True)),
        # No applier to be in the way of.
        ([{"operation": "Update", "fieldsV1": owned(TEMPLATE)}, OURS], StrategyOwner()),
        (
            [{"operation": "Apply", "subresource": "status", "fieldsV1": owned(TEMPLATE)}, OURS],
            StrategyOwner(),
        ),
        ([{"operation": "Update", "fieldsV1": owned(STRATEGY, REMEMBERED)}], StrategyOwner(True, False)),
        ([{"operation": "Apply", "subresource": "status", "fieldsV1": owned(STRATEGY)}], StrategyOwner()),
        (
            # Somebody has set it after the tool, which keeps the annotation.
            [
                {"operation": "Update", "fieldsV1": owned(REMEMBERED)},
                {"operation": "Update", "fieldsV1": owned(STRATEGY)},
            ],
            StrategyOwner(),
        ),
    ],
)
def test_the_owner_of_a_strategy_follows_from_the_managed_fields(
    entries: list[dict[str, Any]], expected: StrategyOwner
) -> None:
    assert strategy_owner(entries) == expected
