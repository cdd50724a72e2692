# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The paths to the pod templates of Kubernetes' own workloads. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._cluster.cluster import Object, group_of

POD_TEMPLATE_PATHS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("", "Pod"): (),
    ("", "PodTemplate"): ("template",),
    ("", "ReplicationController"): ("spec", "template"),
    ("apps", "DaemonSet"): ("spec", "template"),
    ("apps", "Deployment"): ("spec", "template"),
    ("apps", "ReplicaSet"): ("spec", "template"),
    ("apps", "StatefulSet"): ("spec", "template"),
    ("batch", "CronJob"): ("spec", "jobTemplate", "spec", "template"),
    ("batch", "Job"): ("spec", "template"),
}
"""The fields that lead to the pod template, by group and kind; a Pod is its own template."""


def pod_template_path(obj: Object) -> tuple[str, ...] | None:
    """The fields that lead to an object's pod template; None if its kind has none."""
    return POD_TEMPLATE_PATHS.get((group_of(obj["apiVersion"]), obj["kind"]))


def pod_template(obj: Object) -> Mapping[str, Any]:
    """An object's pod template; empty if it has none."""
    path = pod_template_path(obj)
    if path is None:
        return {}
    template: Any = obj
    for name in path:
        template = template.get(name) if isinstance(template, Mapping) else None
    return template if isinstance(template, Mapping) else {}
