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
class LogFiles:
    """Files in the container to which the command's output is appended; empty for the container's log."""

    stdout: str = ""
    stderr: str = ""


@dataclass(frozen=True)
class HealthCheck:
    """How Kubernetes detects whether a continuous job works: by a script or by an HTTP path, never both.

    Attributes:
        script: a shell line that exits with 0 while the job works.
        path: of an HTTP request to the job's port.
    """

    script: str = ""
    path: str = ""


@dataclass(frozen=True)
class CoreJob:
    """A job as its user means it.

    Attributes:
        key, type: its key and its type.
        image: of the container.
        command: one shell line, without redirections to log files; empty for the image's own entry point.
        memory, cpu: quantities that are requested and the limit; empty for none.
        env: environment variables of the container.
        mount: a volume, if any.
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
        extra: by the kind of a runtime object (Job, CronJob, Deployment, Service), a JSON merge patch (RFC
            7386) for what no field covers. A mapping in place of a list of named items, such as containers,
            patches the items by name.
        given: the names of the fields that were set; all others hold a default.
    """

    key: JobKey
    type: JobType
    image: str = ""
    command: str = ""
    memory: str = ""
    cpu: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    mount: Mount | None = None
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
    extra: Mapping[str, Any] = field(default_factory=dict)
    given: frozenset[str] = frozenset()
