# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One look at all jobs of a cluster: their definitions, what runs, the switches and the counters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .._cluster.cluster import Cluster, Object, Ref
from .._job_models.core_job import JobKey, JobType
from .counters import JobCounter
from .switches import StoreSwitches

if TYPE_CHECKING:
    from .._job_models.storage.definition import StoredDefinition


@dataclass(frozen=True)
class RuntimeJob:
    """The Kubernetes objects of a job.

    Attributes:
        type: of the job, by the kind of its main object.
        main: its Job, CronJob or Deployment.
        service: of a Deployment, if it has one.
    """

    type: JobType
    main: Object
    service: Object | None = None

    @property
    def key(self) -> JobKey:
        """What names the job."""
        return JobKey(self.main["metadata"]["namespace"], self.main["metadata"]["name"])

    @property
    def uid(self) -> str:
        """The uid of the main object."""
        return str(self.main["metadata"].get("uid") or "")

    @property
    def is_deleting(self) -> bool:
        """Whether the main object is being deleted."""
        return bool(self.main["metadata"].get("deletionTimestamp"))


@dataclass(frozen=True)
class Unreadable:
    """An object that can't be read as the definition of a job.

    Attributes:
        ref: of the object.
        problem: why, in one sentence.
    """

    ref: Ref
    problem: str

    @property
    def key(self) -> JobKey:
        """What names the job that it would define."""
        return JobKey(self.ref.namespace, self.ref.name)


@dataclass(frozen=True)
class StoreSnapshot:
    """All jobs of some namespaces, or of all.

    Attributes:
        definitions: the one that counts for each name.
        replaced: definitions that those of the same name replace, while a job changes its type.
        unreadable: definitions that can't be read.
        runtime: what runs, by name and type. What is no job is left out.
        excluded: why an object that has a job's kind is no job, by name and type.
        store: the switches.
        counters: by namespace.
        warnings: one sentence each.
        namespaces: that were read; empty for all.
        label_selector: of the jobs that were read; empty for all.
    """

    definitions: Mapping[JobKey, StoredDefinition] = field(default_factory=dict)
    replaced: Mapping[JobKey, StoredDefinition] = field(default_factory=dict)
    unreadable: tuple[Unreadable, ...] = ()
    runtime: Mapping[tuple[JobKey, JobType], RuntimeJob] = field(default_factory=dict)
    excluded: Mapping[tuple[JobKey, JobType], str] = field(default_factory=dict)
    store: StoreSwitches = StoreSwitches()
    counters: Mapping[str, JobCounter] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
    label_selector: str = ""


def read_snapshot(
    cluster: Cluster, namespaces: Sequence[str] = (), label_selector: str = ""
) -> StoreSnapshot:
    """Read all jobs: one list per kind, or one per kind and namespace where namespaces are given."""
    raise NotImplementedError
