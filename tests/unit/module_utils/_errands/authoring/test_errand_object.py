# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From options to the errand that is wanted, and all that is wrong with it."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import API_VERSION, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.authoring.errand_object import (
    ErrandRequest,
    desired_errand,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_model import ErrandKey

TEMPLATE: Object = {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "busybox"}]}}}}
OUTPUT: Object = {"outputMap": {"main": {"output.json": {"name": "out"}}}}


def errand(strategy: str = "manual", **metadata: Any) -> Object:
    spec = {"trigger": {"strategy": strategy}, "template": TEMPLATE}
    return {"apiVersion": API_VERSION, "kind": "Errand", "metadata": metadata or {"name": "a"}, "spec": spec}


def test_an_errand_is_built_from_options() -> None:
    desired = desired_errand(
        ErrandRequest("a", "ns", template=TEMPLATE, output=OUTPUT, reruns_on_change=True, trigger="once")
    )
    assert desired.problems == ()
    assert desired.key == ErrandKey("ns", "a")
    assert desired.obj["spec"] == {
        "trigger": {"strategy": "once"},
        "template": TEMPLATE,
        "output": OUTPUT,
        "updateOnConfigChange": True,
    }


def test_a_field_that_is_not_requested_is_not_applied() -> None:
    desired = desired_errand(ErrandRequest("a", "ns", template=TEMPLATE))
    assert desired.obj["spec"].keys() == {"trigger", "template"}
    assert desired.obj["spec"]["trigger"] == {"strategy": "manual"}


@pytest.mark.parametrize(
    ("written", "trigger", "strategy"),
    [
        ("once", "", "once"),
        ("now", "", "now"),
        ("once", "manual", "manual"),
        ("manual", "once", "once"),
        # An annotation asks for the run.
        ("manual", "now", "manual"),
        ("once", "now", "once"),
        ("now", "now", "manual"),
    ],
)
def test_the_trigger_wins_over_the_definition(written: str, trigger: str, strategy: str) -> None:
    desired = desired_errand(ErrandRequest(namespace="ns", definition=errand(written), trigger=trigger))
    assert desired.problems == ()
    assert desired.obj["spec"]["trigger"] == {"strategy": strategy}


def test_an_exported_errand_is_taken_as_its_author_wrote_it() -> None:
    annotations = {"kubectl.kubernetes.io/last-applied-configuration": "{}", "mine": "yes"}
    exported = errand(name="a", namespace="ns", uid="1", annotations=annotations, managedFields=[])
    desired = desired_errand(ErrandRequest(definition={**exported, "status": {"phase": "Idle"}}))
    assert desired.obj["metadata"] == {"name": "a", "namespace": "ns", "annotations": {"mine": "yes"}}
    assert "status" not in desired.obj
    assert exported["metadata"]["uid"] == "1"


@pytest.mark.parametrize(
    ("request_", "problems"),
    [
        (ErrandRequest(definition=errand()), ["namespace is missing"]),
        (ErrandRequest("a", "ns", output=OUTPUT, trigger="now"), ["what it runs is missing"]),
        (ErrandRequest(template=TEMPLATE), ["name is missing", "namespace is missing"]),
        (
            ErrandRequest("b", "other", definition=errand(name="a", namespace="ns")),
            ["name is b, and metadata.name of the definition is a", "namespace is other"],
        ),
        (ErrandRequest("A_b", "ns", template=TEMPLATE), ["name A_b is not valid"]),
        (ErrandRequest("a", "ns"), ["what it runs is missing. Set template or definition"]),
        (ErrandRequest("a", "ns", trigger="once"), ["what it runs is missing"]),
        (
            ErrandRequest("a", "ns", definition={"apiVersion": "batch/v1", "kind": "Job"}),
            ["definition is Job of batch/v1. Give an object of kind Errand"],
        ),
        (
            ErrandRequest("a", "ns", definition={**errand(), "spec": {"trigger": {"strategy": "later"}}}),
            ["spec.template: Required value", "spec.trigger.strategy: Unsupported value"],
        ),
        (
            ErrandRequest("a", "ns", template=TEMPLATE, output={"outputMaps": {}, "holdSeconds": "1"}),
            [
                "spec.output.outputMaps is no field of Errand; did you mean outputMap?",
                "spec.output.holdSeconds: Invalid value",
            ],
        ),
        (
            ErrandRequest("a", "ns", template=TEMPLATE, output={"outputMap": {"main": {"f": {"nam": "x"}}}}),
            ["spec.output.outputMap.main.f.name: Required", "nam is no field of Errand; did you mean name?"],
        ),
        (ErrandRequest("a", "ns", template={"spec": 1}), ["spec.template has no spec.template.spec"]),
        (ErrandRequest("a", "ns", definition={**errand(), "spec": None}), ["spec: Required value"]),
    ],
)
def test_all_problems_are_found_at_once(request_: ErrandRequest, problems: list[str]) -> None:
    messages = desired_errand(request_).problems
    assert len(messages) == len(problems), messages
    assert all(any(part in one for one in messages) for part in problems), messages


def test_a_quarks_job_has_a_warning_for_each_ignored_field_and_one_for_all_differences() -> None:
    definition = {
        **errand("once"),
        "apiVersion": "quarks.cloudfoundry.org/v1alpha1",
        "kind": "QuarksJob",
        "other": 1,
    }
    desired = desired_errand(ErrandRequest(namespace="ns", definition=definition))
    assert desired.problems == ()
    ignored, differs = desired.warnings
    assert ignored.startswith("QuarksJob a: other is left out")
    assert differs.startswith("QuarksJob a, as an Errand: a failed run is not repeated")
    assert "runs once for each template" in differs
