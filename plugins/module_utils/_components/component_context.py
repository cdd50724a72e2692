# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What all components of a run share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from .._cluster.cluster import Cluster
from .._cluster.kinds import Kind
from .._objects.health.watcher import Watcher
from .._objects.inventory.inventory import COMPONENT, Inventory
from .._objects.ownership.autoscaling import Target
from .._objects.ownership.policy import Policy
from .._progress import Progress
from ..migration import Phase


class PhaseMigrations(Protocol):
    """Runs the migrations of one component and phase."""

    def __call__(self, component: str, phase: Phase) -> Sequence[Mapping[str, Any]]:
        """What came of each, as it stands in results: ``id``, ``state``, ``error``, ``fatal``, ..."""


@dataclass(frozen=True)
class KnownState:
    """What the cluster remembers as a task begins.

    Attributes:
        inventories: of all that was deployed before, by owner.
        autoscaled: what autoscalers of the cluster and of what is deployed target.
        is_recorded: whether the cluster keeps our records, so that inventories can be written.
    """

    inventories: Mapping[str, Inventory]
    autoscaled: frozenset[Target] = frozenset()
    is_recorded: bool = True


@dataclass(frozen=True)
class RunAdditions:
    """What came to the cluster with this run, so that no plan could ask the server about it.

    Attributes:
        kinds: by apiVersion and kind.
        namespaces: names of namespaces, some of which may have been there before.
    """

    kinds: Mapping[tuple[str, str], Kind] = field(default_factory=dict)
    namespaces: frozenset[str] = frozenset()


class ContentSource(NamedTuple):
    """Where the content of components comes from.

    Attributes:
        version: of the release, or of the module.
        fingerprint: of all of it, as it is rendered.
    """

    version: str
    fingerprint: str


@dataclass(frozen=True)
class ComponentContext:
    """What working on components takes.

    Attributes:
        cluster: the live one.
        policy: what the user allows.
        migrate: runs the migrations of one component and phase.
        progress: where to tell what is going on.
        cancelled: whether a person has asked to stop.
        out_of_grace: whether what was in flight then has had its time.
        timeout: seconds a component may take to become healthy, where it has no timeout of its own.
        watcher: shared by all components that are waited for.
        known: what the cluster remembers.
        source: where the content comes from.
        additions: what came with this run.
        selection: which objects of each component are read and applied, see :mod:`~.selection`; all, where
            it does not name a component.
        providers: the components that install kinds when they run, by API group.
        owner_kind: what the components are to the inventories: of a release, or modules.
        count: called as a component is done: how many of them are, to follow a sentence; empty outside a run.
    """

    cluster: Cluster
    policy: Policy
    migrate: PhaseMigrations
    progress: Progress
    cancelled: Callable[[], bool]
    out_of_grace: Callable[[], bool]
    timeout: float
    watcher: Watcher
    known: KnownState
    source: ContentSource
    additions: RunAdditions = RunAdditions()
    selection: Mapping[str, str] = field(default_factory=dict)
    providers: Mapping[str, str] = field(default_factory=dict)
    owner_kind: str = COMPONENT
    count: Callable[[], str] = lambda: ""
