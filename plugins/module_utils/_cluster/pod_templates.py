# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where Kubernetes' own workloads have the template of their pods: pure.

What is returned of an object is its part itself, so that it can be changed in place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._loose_json import fields_at, text_of
from .cluster import Object, group_of

JOB_TEMPLATE = "jobTemplate"
"""The field of a CronJob's spec with metadata and spec of its Jobs."""

_PATHS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("", "Pod"): (),
    ("", "PodTemplate"): ("template",),
    ("", "ReplicationController"): ("spec", "template"),
    # A StatefulSet or a DaemonSet had it before, and gets it again by a rollback.
    ("apps", "ControllerRevision"): ("data", "spec", "template"),
    ("apps", "DaemonSet"): ("spec", "template"),
    ("apps", "Deployment"): ("spec", "template"),
    ("apps", "ReplicaSet"): ("spec", "template"),
    ("apps", "StatefulSet"): ("spec", "template"),
    ("batch", "CronJob"): ("spec", JOB_TEMPLATE, "spec", "template"),
    ("batch", "Job"): ("spec", "template"),
}
"""The fields that lead to the pod template, by group and kind; a Pod is its own template."""


def pod_template_path(obj: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The fields that lead to an object's pod template; None if its kind has none."""
    return _PATHS.get((group_of(text_of(obj.get("apiVersion"))), text_of(obj.get("kind"))))


def pod_template(obj: Mapping[str, Any]) -> Object:
    """An object's pod template, with ``metadata`` and ``spec``; empty if it has none."""
    path = pod_template_path(obj)
    return {} if path is None else fields_at(obj, *path)


def spec_with_pod_template(obj: Mapping[str, Any]) -> Object:
    """The spec that has an object's pod template: in a CronJob, that of its Jobs. Empty if there is none."""
    path = pod_template_path(obj)
    return fields_at(obj, *path[:-1]) if path else {}


def job_template(cron_job: Mapping[str, Any]) -> Object:
    """Metadata and spec of the Jobs of a CronJob; empty for other kinds."""
    return fields_at(cron_job, "spec", JOB_TEMPLATE)
