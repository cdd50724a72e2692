# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The two switches of the job store: the source of lists, and the handling of unknown jobs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from .._cluster.cluster import GROUP, Cluster, Object
from .._custom_resources.storage_version import require_known_version, with_storage_version
from .._record_codec import from_record, to_record

STORE_KIND = (f"{GROUP}/v1alpha1", "JobStore")
"""The cluster-scoped kind (apiVersion, kind) of the object with the switches."""
STORAGE_VERSION = 1
"""The version in which switches are written. A change of their fields needs a new one, and a conversion."""
STORE_NAME = "job-store"
"""The name of the only object of this kind."""


class SourceOfTruth(StrEnum):
    """The source of lists of jobs."""

    KUBERNETES = "kubernetes"
    """What runs."""
    STORAGE = "storage"
    """What the definitions say."""


class UnknownJobs(StrEnum):
    """The handling of a job that exists only in Kubernetes."""

    ADOPT = "adopt"
    """It is listed, and the next write makes its definition."""
    IGNORE = "ignore"
    """It is hidden, and counted."""


@dataclass(frozen=True)
class StoreSwitches:
    """The switches; three of their combinations are the stages of a move to the store.

    Attributes:
        source_of_truth: the source of lists.
        unknown_jobs: the handling of a job that exists only in Kubernetes.
    """

    source_of_truth: SourceOfTruth = SourceOfTruth.KUBERNETES
    unknown_jobs: UnknownJobs = UnknownJobs.ADOPT


def switches_from(obj: Object | None) -> StoreSwitches:
    """The switches in an object. A missing object or an unknown word means the default.

    Raises:
        NewerRecord: a newer version of this collection has written it.
    """
    if obj:
        require_known_version(obj, STORAGE_VERSION)
    return from_record(StoreSwitches, (obj or {}).get("spec"))


def switches_object(switches: StoreSwitches) -> Object:
    """The object that holds the switches."""
    meta = {"name": STORE_NAME}
    obj = {"apiVersion": STORE_KIND[0], "kind": STORE_KIND[1], "metadata": meta, "spec": to_record(switches)}
    return with_storage_version(obj, STORAGE_VERSION)


def read_switches(cluster: Cluster) -> StoreSwitches:
    """The switches of a cluster; one request."""
    return switches_from(cluster.get(*STORE_KIND, STORE_NAME))


def write_switches(cluster: Cluster, switches: StoreSwitches) -> None:
    """Set the switches of a cluster; one request."""
    cluster.apply(switches_object(switches), force=True)
