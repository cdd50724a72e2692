# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The two switches of the job store: the source of lists, and the handling of unknown jobs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from .._cluster.cluster import Cluster, Object
from .._custom_resources.resource_kind import ResourceKind
from .._field_notes import in_spec

STORE_NAME = "job-store"
"""The name of the only object with switches."""


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
    """The switches; three of their combinations are the stages of a move to the store."""

    source_of_truth: Annotated[SourceOfTruth, in_spec("Where lists of jobs come from.")] = (
        SourceOfTruth.KUBERNETES
    )
    unknown_jobs: Annotated[UnknownJobs, in_spec("What happens to a job that has no definition.")] = (
        UnknownJobs.ADOPT
    )


JOB_STORE = ResourceKind(
    StoreSwitches,
    "JobStore",
    "jobstores",
    "kyjs",
    "The switches of the job store. There is one.",
    [
        ("Source", "string", ".spec.sourceOfTruth"),
        ("Unknown jobs", "string", ".spec.unknownJobs"),
        ("Age", "date", ".metadata.creationTimestamp"),
    ],
    only_name=STORE_NAME,
)


def switches_object(switches: StoreSwitches) -> Object:
    """The object that holds the switches."""
    return JOB_STORE.object_of(switches)


def read_switches(cluster: Cluster) -> StoreSwitches:
    """The switches of a cluster; one request. A missing object or an unknown word means the default.

    Raises:
        NewerRecord: a newer version of this collection has written them.
    """
    obj = cluster.get(*JOB_STORE.address, STORE_NAME)
    return JOB_STORE.read(obj) if obj else StoreSwitches()


def write_switches(cluster: Cluster, switches: StoreSwitches) -> None:
    """Set the switches of a cluster; one request."""
    cluster.apply(switches_object(switches), force=True)
