# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The data that all components of a run share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from .._cluster.cluster import Cluster, Object, Ref
from .._cluster.kinds import Kind
from .._objects.inventory.inventory import COMPONENT, Inventory
from .._objects.ownership.autoscaling import Target
from .._objects.ownership.policy import Policy
from .._progress import Progress
from ..migration import Phase

if TYPE_CHECKING:
    from .._objects.health.watcher import Watcher


class PhaseMigrations(Protocol):
    """Runs the migrations of one component and phase."""

    def __call__(self, component: str, phase: Phase) -> Sequence[Mapping[str, Any]]:
        """The result of each, as in a task's results: ``id``, ``state``, ``error``, ``fatal``, ..."""


@dataclass(frozen=True)
class KnownState:
    """The cluster's records at the start of a task.

    Attributes:
        inventories: of all earlier deployments, by owner.
        autoscaled: the targets of autoscalers of the cluster and of what is deployed.
        is_recorded: whether the cluster stores our records, so that inventories can be written.
        live: the metadata of the objects in the inventories; empty if the work reads it itself.
    """

    inventories: Mapping[str, Inventory]
    autoscaled: frozenset[Target] = frozenset()
    is_recorded: bool = True
    live: Mapping[Ref, Object] = field(default_factory=dict)


@dataclass(frozen=True)
class RunAdditions:
    """The kinds and namespaces that this run added, so that no plan could ask the server about them.

    Attributes:
        kinds: by apiVersion and kind.
        namespaces: names of namespaces, some of which may have existed before.
    """

    kinds: Mapping[tuple[str, str], Kind] = field(default_factory=dict)
    namespaces: frozenset[str] = frozenset()


class ContentSource(NamedTuple):
    """The source of the components' content.

    Attributes:
        version: of the release, or of the module.
        fingerprint: of all rendered content.
    """

    version: str
    fingerprint: str


@dataclass(frozen=True)
class WorkContext:
    """The shared means of the work on components, of a run or of a rehearsal.

    Attributes:
        cluster: the live one, or the overlay of a rehearsal.
        policy: what the user allows.
        migrate: runs the migrations of one component and phase.
        known: the cluster's records.
        out_of_grace: whether the time for running work after a cancellation has ended.
        is_rehearsal: whether nothing is stored: the work goes on after refusals, to find all of them.
    """

    cluster: Cluster
    policy: Policy
    migrate: PhaseMigrations
    known: KnownState
    out_of_grace: Callable[[], bool] = lambda: False
    is_rehearsal: bool = False


@dataclass(frozen=True, kw_only=True)
class ComponentContext(WorkContext):
    """The shared means of the work on the components of a run.

    Attributes:
        progress: receives the progress.
        cancelled: whether a person has asked to stop.
        timeout: seconds a component may take to become healthy, if it has no timeout itself.
        watcher: shared by all waits for components.
        source: the source of the content.
        additions: the additions of this run.
        selection: which objects of each component are read and applied, see :mod:`~.selection`; all, if
            it does not name a component.
        planned: by component, the keys of the values that it may take from others, as the plan of the run
            lists them; None if no plan limits that.
        providers: the components that install kinds when they run, by API group.
        run: the name of the run, which the inventories record; empty outside a run.
        owner_kind: the kind of the components in the inventories: of a release, or modules.
        count: called when a component is done; returns the number done, to end a sentence; empty outside a
            run.
    """

    progress: Progress
    cancelled: Callable[[], bool]
    timeout: float
    watcher: Watcher
    source: ContentSource
    additions: RunAdditions = RunAdditions()
    selection: Mapping[str, str] = field(default_factory=dict)
    planned: Mapping[str, Sequence[str]] | None = None
    providers: Mapping[str, str] = field(default_factory=dict)
    run: str = ""
    owner_kind: str = COMPONENT
    count: Callable[[], str] = lambda: ""
