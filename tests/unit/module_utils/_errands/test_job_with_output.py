# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a Job gets so that its output can be read: for empty fields, long names, and policies for messages."""

from __future__ import annotations

from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import API_VERSION, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_model import KIND, errand_from
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.holding_container import (
    OUTPUT_ANNOTATION,
    OUTPUT_FOLDER,
    holder_name,
    job_with_output,
    recorded_output,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._jobs.job_template import build_job


def job_of(template: Object, output: Object) -> Any:
    """The Job of an errand with a template and an output."""
    errand = errand_from(
        {
            "apiVersion": API_VERSION,
            "kind": KIND,
            "metadata": {"name": "app", "namespace": "shop", "uid": "u"},
            "spec": {"trigger": {"strategy": "once"}, "template": template, "output": output},
        }
    )
    built = build_job(
        template, name="app-1", namespace="shop", owner=errand.owner, labels={}, secret_names={}
    )
    return job_with_output(built.job, errand, "holder")


def output_of(*containers: str, **fields: Any) -> Object:
    return {
        "outputMap": {
            name: {"output.json": {"name": f"out-{number}"}} for number, name in enumerate(containers)
        },
        **fields,
    }


def test_a_field_that_was_left_empty_is_as_one_that_is_not_there() -> None:
    main = {"name": "main", "image": "busybox", "volumeMounts": None, "securityContext": None}
    empty = {"annotations": None, "labels": None}
    pod = {"metadata": empty, "spec": {"containers": [main], "volumes": None, "securityContext": None}}
    job = job_of({"metadata": empty, "spec": {"template": pod}}, output_of("main"))
    assert recorded_output(job).containers == ("main",)
    spec = job["spec"]["template"]["spec"]
    assert [one["mountPath"] for one in spec["containers"][0]["volumeMounts"]] == [OUTPUT_FOLDER]
    assert len(spec["volumes"]) == 2
    assert list(job["spec"]["template"]["metadata"]["annotations"]) == [OUTPUT_ANNOTATION]


def test_holding_containers_of_long_names_have_names_of_their_own() -> None:
    names = ["c" * 62 + end for end in "ab"]
    template = {"spec": {"template": {"spec": {"containers": [{"name": name} for name in names]}}}}
    job = job_of(template, output_of(*names))
    container_names = [one["name"] for one in job["spec"]["template"]["spec"]["containers"]]
    assert len(set(container_names)) == 4
    assert max(len(name) for name in container_names) == 63
    assert [*recorded_output(job).holders.values()] == container_names[2:]
    assert holder_name("c" * 58) == "hold-" + "c" * 58


def test_the_log_never_becomes_the_output() -> None:
    main = {"name": "main", "terminationMessagePolicy": "FallbackToLogsOnError"}
    other = {"name": "other", "terminationMessagePolicy": "FallbackToLogsOnError"}
    template = {"spec": {"template": {"spec": {"containers": [main, other]}}}}
    job = job_of(template, output_of("main", **{"from": "terminationMessage"}))
    read, unread = job["spec"]["template"]["spec"]["containers"]
    assert read["terminationMessagePolicy"] == "File"
    assert read["terminationMessagePath"] == f"{OUTPUT_FOLDER}/output.json"
    assert unread == other
