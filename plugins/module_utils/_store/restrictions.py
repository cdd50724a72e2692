# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether anything restricts the pods of jobs: the shipped policies, or a level of Pod Security."""

from __future__ import annotations

from collections.abc import Iterable

from .._cluster.cluster import Cluster
from .._cluster.errors import Forbidden
from .._loose_json import fields_at
from .._text import counted_names

BINDING_KIND = ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding")
POLICY = "kyma-lifecycle-stored-jobs"
"""The name of the shipped policy for pods, and of its binding."""
_LEVEL = "pod-security.kubernetes.io/enforce"
_RESTRICTING_LEVELS = ("baseline", "restricted")
_MOST_NAMES = 5


def restriction_warnings(cluster: Cluster, namespaces: Iterable[str]) -> list[str]:
    """A warning that nothing restricts the pods of jobs in these namespaces, if that is known.

    It takes one request, and one more for each namespace if the policies are missing.

    Args:
        cluster: to read from. Without the right to read policies or namespaces, nothing is known.
        namespaces: of jobs that were changed.

    Raises:
        ClusterError: the cluster does not answer.
    """
    try:
        if cluster.get(*BINDING_KIND, POLICY) is not None:
            return []
        free = [name for name in sorted(namespaces) if not _is_restricted(cluster, name)]
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
    return labels.get(_LEVEL) in _RESTRICTING_LEVELS
