# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What becomes of a QuarksJob, and what is said of it."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.quarks_job import (
    errand_from_quarks_job,
    is_quarks_job,
)


def quarks_job(**spec: Any) -> Object:
    pod = {"containers": [{"name": "main", "image": "busybox"}]}
    template = {
        "spec": {"backoffLimit": 0, "template": {"metadata": {"labels": {"delete": "pod"}}, "spec": pod}}
    }
    return {
        "apiVersion": "quarks.cloudfoundry.org/v1alpha1",
        "kind": "QuarksJob",
        "metadata": {"name": "a", "namespace": "ns", "labels": {"app": "shop"}},
        "spec": {"trigger": {"strategy": "manual"}, "template": template, **spec},
    }


def output(**more: Any) -> Object:
    entry = {"name": "foo", "versioned": True, "persistencemethod": "fan-out", "secretLabels": {"a": "b"}}
    return {"outputMap": {"main": {"output.json": {**entry, **more}}}}


def test_one_that_needs_no_word_keeps_all_its_fields() -> None:
    given = quarks_job(updateOnConfigChange=True)
    before = copy.deepcopy(given)
    converted = errand_from_quarks_job(given)
    assert converted.errand == {
        "apiVersion": "lifecycle.kyma-project.io/v1",
        "kind": "Errand",
        "metadata": given["metadata"],
        "spec": given["spec"],
    }
    assert (converted.ignored, converted.differences) == ((), ())
    converted.errand["spec"]["template"]["spec"]["template"]["spec"]["containers"].clear()
    assert given == before


def test_only_an_object_of_the_kind_is_a_quarks_job() -> None:
    assert is_quarks_job(quarks_job())
    assert not is_quarks_job({**quarks_job(), "kind": "Job"})
    assert not is_quarks_job({**quarks_job(), "apiVersion": "v1"})


def test_fields_that_a_quarks_job_ignored_are_named() -> None:
    given = quarks_job()
    given["spec"]["template"] |= {"backoffLimit": 2, "activeDeadlineSeconds": 5}
    converted = errand_from_quarks_job(given)
    assert converted.errand["spec"]["template"].keys() == {"spec"}
    assert converted.ignored == (
        "spec.template.activeDeadlineSeconds is left out: it is beside template.spec, where QuarksJob ignored"
        " it as well. If the Job needs it, move it to template.spec.activeDeadlineSeconds",
        "spec.template.backoffLimit is left out: it is beside template.spec, where QuarksJob ignored it as"
        " well",
    )


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"updateOnConfigchange": True}, "spec.updateOnConfigchange is left out.*mean updateOnConfigChange"),
        ({"trigger": {"strategy": "once", "when": "now"}}, "spec.trigger.when is left out"),
        (
            {"output": {**output(), "writeOnFailures": True}},
            "spec.output.writeOnFailures.*mean writeOnFailure",
        ),
        ({"output": output(label={})}, r"spec.output.outputMap.main\[output.json\].label is left out"),
    ],
)
def test_unknown_fields_are_left_out_and_named(change: Object, named: str) -> None:
    converted = errand_from_quarks_job(quarks_job(**change))
    (ignored,) = converted.ignored
    assert re.search(named, ignored)


def test_an_exported_one_loses_what_belongs_to_it_alone() -> None:
    given = quarks_job()
    given["status"] = {"completed": True}
    given["metadata"] |= {
        "uid": "1",
        "resourceVersion": "2",
        "managedFields": [],
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"},
        "ownerReferences": [{"kind": "BOSHDeployment"}],
    }
    converted = errand_from_quarks_job(given)
    assert converted.errand["metadata"] == {"name": "a", "namespace": "ns", "labels": {"app": "shop"}}
    assert "status" not in converted.errand
    assert converted.ignored == ("metadata.ownerReferences is left out: it belongs to the QuarksJob alone",)


@pytest.mark.parametrize(
    ("spec", "pattern"),
    [
        ({"trigger": {"strategy": "once"}}, "runs once for each template"),
        ({"trigger": {"strategy": "now"}}, "use trigger: now of the module"),
        (
            {"trigger": {"strategy": "done"}, "updateOnConfigChange": True},
            "updateOnConfigChange has no effect",
        ),
        ({"output": output(versioned=False)}, r"gets a container beside it .* \(hold-main\)"),
    ],
)
def test_a_difference_is_reported_if_it_concerns_the_errand(spec: Object, pattern: str) -> None:
    (difference,) = errand_from_quarks_job(quarks_job(**spec)).differences
    assert re.search(pattern, difference)


def test_versions_repetitions_and_pods_are_said_where_they_differ() -> None:
    (_holder, versions) = errand_from_quarks_job(quarks_job(output=output())).differences
    assert "makes no new version" in versions
    given = quarks_job()
    del given["spec"]["template"]["spec"]["backoffLimit"]
    del given["spec"]["template"]["spec"]["template"]["metadata"]
    repetition, pod = errand_from_quarks_job(given).differences
    assert "a failed run is not repeated" in repetition
    assert "delete: pod" in pod


@pytest.mark.parametrize(
    "spec", [None, [], "text", {"template": 1}, {"output": [1]}, {"output": {"outputMap": 3}}]
)
def test_any_shape_is_taken_and_left_to_the_definition(spec: Any) -> None:
    converted = errand_from_quarks_job({**quarks_job(), "spec": spec})
    assert converted.errand["kind"] == "Errand"
