# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core model of a job: the user's intent, with every default resolved. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple


class JobType(StrEnum):
    """The type of a job."""

    ONE_OFF = "one-off"
    """Runs once, as a Job."""
    SCHEDULED = "scheduled"
    """Runs by a schedule, as a CronJob."""
    CONTINUOUS = "continuous"
    """Runs all the time, as a Deployment, with a Service if it has a port."""


class JobKey(NamedTuple):
    """The key of a job. A name can be used once in a namespace, for one type only."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True)
class Mount:
    """A volume of the job.

    Attributes:
        claim: the name of a PersistentVolumeClaim in the job's namespace.
        path: the mount path in the container; empty for the default.
    """

    claim: str
    path: str = ""


@dataclass(frozen=True)
class Volume:
    """One of several volumes, or one more mount of a volume.

    Attributes:
        path: where it is mounted in the container; empty if only other containers mount it.
        source: the kind of its source, as the field has it (``claim``, ``secret``, ``config_map`` or
            ``empty_dir``), or as Kubernetes has it; empty for one more mount of the volume ``name``.
        value: of the source: the name of the object, or the size of an ``empty_dir``; or the mapping that
            Kubernetes has for the source.
        name: of the volume; empty for ``volume-`` and its place in the list, from 1.
        sub_path: of the volume, to mount only that; empty for all of it.
        read_only: whether the container can't write it.
    """

    path: str = ""
    source: str = ""
    value: Any = ""
    name: str = ""
    sub_path: str = ""
    read_only: bool = False


@dataclass(frozen=True)
class LogFiles:
    """Files in the container to which the command's output is appended; empty for the container's log."""

    stdout: str = ""
    stderr: str = ""


@dataclass(frozen=True)
class HealthCheck:
    """How Kubernetes detects whether a continuous job works: by exactly one of these.

    Attributes:
        script: a shell line that exits with 0 while the job works.
        path: of an HTTP request to the job's port.
        command: a program with its arguments that exits with 0 while the job works.
        tcp: whether the job's port accepts connections.
    """

    script: str = ""
    path: str = ""
    command: tuple[str, ...] = ()
    tcp: bool = False


@dataclass(frozen=True)
class CoreJob:
    """A job as its user means it.

    Attributes:
        key, type: its key and its type.
        image: of the container.
        command: one shell line, without redirections to log files, or a program with its arguments; empty for
            the image's own entry point.
        memory, cpu: quantities that are requested and the limit; empty for none.
        requests, limits: quantities by resource, in place of ``memory`` and ``cpu``.
        env: environment variables of the container: texts, or where the value comes from, as the
            ``valueFrom`` of Kubernetes.
        mount: a volume, if any.
        volumes: several of them.
        image_pull_secrets: the names of Secrets.
        sidecars: more containers of the pods, as Kubernetes has them.
        retry: how often a run that failed is tried again (one-off and scheduled).
        schedule: five cron fields, or a macro such as ``@daily`` (scheduled).
        timezone: of the schedule, such as ``Europe/Berlin``; empty for the cluster's.
        suspend: whether it does not run for now.
        timeout: seconds that a run may take; 0 for no limit (one-off and scheduled).
        replicas: how many pods run (continuous).
        port: that the Service of a continuous job offers; 0 for none.
        port_protocol: TCP, UDP or SCTP.
        health_check: of a continuous job, if any.
        logs: files for the output.
        emails: when to send an email: none, all, onfinish or onfailure. Stored as data only.
        publish: whether Toolforge routes requests from outside to the job. Stored as data only.
        store_labels: whether the objects and their pods have the labels of the store.
        kubernetes: the values of the set fields of :data:`~.kubernetes_fields.KUBERNETES_FIELDS`, by name.
        extra: by the kind of a runtime object (Job, CronJob, Deployment, Service), a JSON merge patch (RFC
            7386) for what no field covers. A mapping in place of a list of named items, such as containers,
            patches the items by name.
        given: the names of the fields that were set; all others hold a default.
    """

    key: JobKey
    type: JobType
    image: str = ""
    command: str | tuple[str, ...] = ""
    memory: str = ""
    cpu: str = ""
    requests: Mapping[str, str] = field(default_factory=dict)
    limits: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, Any] = field(default_factory=dict)
    mount: Mount | None = None
    volumes: tuple[Volume, ...] = ()
    image_pull_secrets: tuple[str, ...] = ()
    sidecars: tuple[Mapping[str, Any], ...] = ()
    retry: int = 0
    schedule: str = ""
    timezone: str = ""
    suspend: bool = False
    timeout: int = 0
    replicas: int = 1
    port: int = 0
    port_protocol: str = "TCP"
    health_check: HealthCheck | None = None
    logs: LogFiles = LogFiles()
    emails: str = "none"
    publish: bool = False
    store_labels: bool = True
    kubernetes: Mapping[str, Any] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)
    given: frozenset[str] = frozenset()
