# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What there is of an errand, as the decision on it takes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from .._cluster.cluster import Object
from .._jobs.configuration import ConfigurationEntry
from .errand import Errand


@dataclass(frozen=True)
class CurrentConfiguration:
    """What the ConfigMaps and Secrets of a template are like now.

    Attributes:
        entries: those that are there, as a run that starts now would note them.
        missing: what is not there and has to be, each in a clause.
        secret_names: the Secrets whose names in the template give way to their newest versions'.
        changed: what differs from what the last run was made with, each in a clause.
    """

    entries: tuple[ConfigurationEntry, ...] = ()
    missing: tuple[str, ...] = ()
    secret_names: Mapping[str, str] = field(default_factory=dict)
    changed: tuple[str, ...] = ()


@dataclass(frozen=True)
class ErrandView:
    """What there is of an errand.

    Attributes:
        errand: as it stands in the cluster.
        now: the moment of the decision.
        job: that has the name of the last run's Job, whoever made it.
        pod: of that Job, the newest.
        earlier_jobs: other Jobs of the errand.
        has_started: whether a pod of the last run was there, also where its Job is not.
        configuration: what a run would be made with; None where nothing depends on it.
        cycle: the errands that would run one another for ever, in a circle that begins with this one.
        may_exec: whether the output may be read in pods; None where nothing depends on it.
        renewed: when the holding containers were last told to hold on; None where nobody knows.
        pod_refusal: why no pod of the Job could be made; empty where one is there, or nobody knows.
        holder_image: the image of holding containers.
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
    holder_image: str = ""
