# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The counters of jobs that exist only in Kubernetes or only in storage, one object per namespace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, replace
from typing import Any, Protocol

from .._cluster.cluster import GROUP, Cluster, Object
from .._cluster.errors import Conflict, NotFound
from .._jobs.loose_json import mapping_of, number_of, text_of

COUNTER_KIND = (f"{GROUP}/v1alpha1", "JobCounter")
"""The namespaced kind (apiVersion, kind) of the objects with the counters."""
COUNTER_NAME = "jobs"
"""The name of the only object of this kind in a namespace."""

MOST_ATTEMPTS = 10
"""How often a counter is written while others change it at the same time."""


class HasUid(Protocol):
    """Anything with the uid of an object."""

    @property
    def uid(self) -> str:
        """The ``metadata.uid`` of the object."""


@dataclass(frozen=True)
class JobCounter:
    """The counters of a namespace.

    Attributes:
        namespace: that it counts in.
        only_in_kubernetes: how many jobs without a definition were found so far.
        only_in_storage: how many definitions without their job were found so far.
        uids: of the jobs that were counted and still exist, so that each counts once.
        definition_uids: of the definitions that were counted and still exist.
        resource_version: of the object in the cluster; empty if there is none.
    """

    namespace: str
    only_in_kubernetes: int = 0
    only_in_storage: int = 0
    uids: frozenset[str] = frozenset()
    definition_uids: frozenset[str] = frozenset()
    resource_version: str = ""

    @property
    def counts(self) -> tuple[int, int]:
        """Both numbers."""
        return self.only_in_kubernetes, self.only_in_storage


def counted(
    counter: JobCounter,
    unknown: Iterable[HasUid],
    missing: Iterable[Mapping[str, Any] | Any],
    existing_uids: Set[str],
) -> JobCounter:
    """The counter after jobs were found: each uid counts once. Pure."""
    raise NotImplementedError
