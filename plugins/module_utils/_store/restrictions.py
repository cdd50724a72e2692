# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether anything restricts the pods of jobs: the shipped policies, or a level of Pod Security."""

from __future__ import annotations

from collections.abc import Iterable

from .._cluster.cluster import GROUP, Cluster
from .._cluster.errors import Forbidden
from .._job_models.core_job import CoreJob
from .._loose_json import fields_at
from .._text import counted_names

BINDING_KIND = ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding")
POLICY = "kyma-lifecycle-stored-jobs"
"""The name of the shipped policy for pods, and of its binding to those with the label of the store."""
NAMESPACES_BINDING = f"{POLICY}-of-namespaces"
"""The binding of that policy to namespaces with the label."""
RESTRICT_LABEL = f"{GROUP}/restrict-jobs"
_LEVEL = "pod-security.kubernetes.io/enforce"
_RESTRICTING_LEVELS = ("baseline", "restricted")
_MOST_NAMES = 5


def restriction_warnings(cluster: Cluster, jobs: Iterable[CoreJob]) -> list[str]:
    """A warning that nothing restricts the pods of some jobs, if that is known.

    It takes one request if the policies restrict all of them by their label, and at most two more for each
    namespace.

    Args:
        cluster: to read from. Without the right to read policies or namespaces, nothing is known.
        jobs: that were changed.

    Raises:
        ClusterError: the cluster does not answer.
    """
    have_label: dict[str, bool] = {}
    for job in jobs:
        have_label[job.key.namespace] = have_label.get(job.key.namespace, True) and job.store_labels
    try:
        is_by_label = _denies(cluster, POLICY)
        free = [
            name
            for name, is_labelled in sorted(have_label.items())
            if not (is_labelled and is_by_label) and not _is_restricted(cluster, name)
        ]
    except Forbidden:
        return []
    if not free:
        return []
    return [
        f"nothing restricts the pods of jobs in {counted_names(free, 'namespace', _MOST_NAMES)}: neither the"
        " policies of the job store, nor Pod Security of level baseline. So such pods may mount the files of"
        " their node. An admin can install the policies; the guide to the job store says how"
    ]


def _is_restricted(cluster: Cluster, namespace: str) -> bool:
    labels = fields_at(cluster.get("v1", "Namespace", namespace), "metadata", "labels")
    if labels.get(_LEVEL) in _RESTRICTING_LEVELS:
        return True
    return labels.get(RESTRICT_LABEL) == "true" and _denies(cluster, NAMESPACES_BINDING)


def _denies(cluster: Cluster, binding: str) -> bool:
    spec = fields_at(cluster.get(*BINDING_KIND, binding), "spec")
    return spec.get("policyName") == POLICY and "Deny" in (spec.get("validationActions") or ())
