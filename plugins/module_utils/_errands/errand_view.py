# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of an errand, as input of the decision on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from .._cluster.cluster import Object
from .._jobs.configuration import ConfigurationEntry
from .errand_model import Errand
from .holding_container import DEFAULT_IMAGE

WORKERS = 8
"""How many errands are reconciled at the same time."""


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """The options of runs.

    Attributes:
        holder_image: of holding containers.
        refused_pod_seconds: after how long a run fails whose pod is refused.
        image_pull_seconds: after how long a run fails whose image can't be pulled.
    """

    holder_image: str = DEFAULT_IMAGE
    refused_pod_seconds: float = 600.0
    image_pull_seconds: float = 600.0


DEFAULT_OPTIONS = RunOptions()


@dataclass(frozen=True)
class CurrentConfiguration:
    """The current state of the ConfigMaps and Secrets of a template.

    Attributes:
        entries: those that exist, as a run that starts now would record them.
        missing: what is required and does not exist, each in a clause.
        secret_names: the Secrets whose names in the template are replaced by those of their newest versions.
        changed: the differences from the configuration of the last run, each in a clause.
    """

    entries: tuple[ConfigurationEntry, ...] = ()
    missing: tuple[str, ...] = ()
    secret_names: Mapping[str, str] = field(default_factory=dict)
    changed: tuple[str, ...] = ()


@dataclass(frozen=True)
class ErrandView:
    """The state of an errand.

    Attributes:
        errand: as it is in the cluster.
        now: the moment of the decision.
        job: the Job with the name of the last run's Job, no matter who created it.
        pod: the newest of that Job.
        earlier_jobs: other Jobs of the errand.
        has_started: whether a pod of the last run existed, even if its Job does not.
        configuration: what a run would be created with; None if nothing depends on it.
        cycle: the errands that would run one another for ever, in a circle that begins with this one.
        may_exec: whether the output may be read in pods; None if nothing depends on it.
        renewed: when the holding containers were last renewed; None if unknown.
        pod_refusal: why no pod of the Job could be created; empty if one exists, or if it is unknown.
        refused_since: since when a pod is refused for another reason than a quota that is used up, which may
            change without anyone's help; None if it is not.
        quota_grown: when a quota of the namespace last got more room; None if unknown.
        is_namespace_ending: whether the Job or the pod goes because its namespace is being deleted.
        options: of its runs.
    """

    errand: Errand
    now: datetime
    job: Object | None = None
    pod: Object | None = None
    earlier_jobs: tuple[Object, ...] = ()
    has_started: bool = False
    configuration: CurrentConfiguration | None = None
    cycle: tuple[str, ...] = ()
    may_exec: bool | None = None
    renewed: datetime | None = None
    pod_refusal: str = ""
    refused_since: datetime | None = None
    quota_grown: datetime | None = None
    is_namespace_ending: bool = False
    options: RunOptions = DEFAULT_OPTIONS
