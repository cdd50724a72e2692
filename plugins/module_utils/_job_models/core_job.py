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
        mount: more fields of the mount, as Kubernetes has them.
    """

    path: str = ""
    source: str = ""
    value: Any = ""
    name: str = ""
    sub_path: str = ""
    read_only: bool = False
    mount: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class LogFiles:
    """Files in the container to which the command's output is appended; empty for the container's log.

    Attributes:
        stdout, stderr: their paths.
        suffix: the operator, ``>>`` or ``>``, of redirections that end the shell line, as in jobs of
            Toolforge's version 1; empty for redirections before the command. Of several commands in the
            line, only the last one is redirected by its end.
    """

    stdout: str = ""
    stderr: str = ""
    suffix: str = ""


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
            ``valueFrom`` of Kubernetes. Or the list that Kubernetes has, whose order stays.
        mount: a volume, if any.
        volumes: several of them.
        image_pull_secrets: the names of Secrets.
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
        workload, job, pod, container, service: patches in the form of Kubernetes: on the CronJob or
            Deployment, on the Job or the ``jobTemplate``, on the template of the pods, on the container, and
            on the Service. They are JSON merge patches (RFC 7386), which also merge a list of named items.
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
    env: Mapping[str, Any] | tuple[Mapping[str, Any], ...] = field(default_factory=dict)
    mount: Mount | None = None
    volumes: tuple[Volume, ...] = ()
    image_pull_secrets: tuple[str, ...] = ()
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
    workload: Mapping[str, Any] = field(default_factory=dict)
    job: Mapping[str, Any] = field(default_factory=dict)
    pod: Mapping[str, Any] = field(default_factory=dict)
    container: Mapping[str, Any] = field(default_factory=dict)
    service: Mapping[str, Any] = field(default_factory=dict)
    given: frozenset[str] = frozenset()


VOLUME_PARTS = ("path", "name", "sub_path", "read_only", "mount")
"""What an entry of ``volumes`` has beside the source."""
MAPPINGS = ("workload", "job", "pod", "container", "service")
"""The fields of a job in the form of Kubernetes."""
