# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the work on components shares, in a run and in the rehearsal of one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from .._cluster.cluster import Cluster, Object, Ref
from .._cluster.kinds import Kind
from .._objects.inventory.inventory import Inventory
from .._objects.inventory.owner_kinds import COMPONENT
from .._objects.ownership.autoscaling import Target
from .._objects.ownership.policy import Policy
from .._progress import Progress, no_progress
from ..migration import Phase

if TYPE_CHECKING:
    from .._objects.health.watcher import Watcher


class PhaseMigrations(Protocol):
    """Runs the migrations of one component and phase."""

    def __call__(self, component: str, phase: Phase) -> Sequence[Mapping[str, Any]]:
        """The result of each, as in a task's results: ``id``, ``state``, ``error``, ``fatal``, ..."""


@dataclass(frozen=True, kw_only=True)
class WorkContext:
    """What the work on components shares, on the cluster or on the overlay of a rehearsal.

    Attributes:
        cluster: the live one, or the overlay.
        policy: what the user allows.
        migrate: runs the migrations of one component and phase.
        inventories: of all earlier deployments, by owner.
        watcher: shared by all waits for components.
        autoscaled: the targets of autoscalers of the cluster and of what is deployed.
        live: the metadata of the objects in the inventories; empty if the work reads it itself.
        is_recorded: whether the cluster stores our records, so that inventories can be written.
        is_rehearsal: whether nothing is stored: the work goes on after refusals, to find all of them.
        version: of the release, or of the module.
        digest: of all rendered content.
        providers: the components that install kinds when they run, by API group.
        owner_kind: the kind of the components in the inventories: of a release, or modules.
        run: the name of the run, which the inventories record; empty outside a run.
        progress: receives the progress.
        cancelled: whether a person has asked to stop.
        out_of_grace: whether the time for running work after a cancellation has ended.
        timeout: seconds a component may take to become healthy, if it has no timeout itself.
        new_kinds: that this run added, by apiVersion and kind: no plan could ask the server about them.
        new_namespaces: that this run may have added.
        selection: which objects of each component are read and applied, see :mod:`~.selection`; all, if
            it does not name a component.
        planned: by component, the keys of the values that it may take from others, as the plan of the run
            lists them; None if no plan limits that.
        count: called when a component is done; returns the number done, to end a sentence; empty outside a
            run.
    """

    cluster: Cluster
    policy: Policy
    migrate: PhaseMigrations
    inventories: Mapping[str, Inventory]
    watcher: Watcher
    autoscaled: frozenset[Target] = frozenset()
    live: Mapping[Ref, Object] = field(default_factory=dict)
    is_recorded: bool = True
    is_rehearsal: bool = False
    version: str = ""
    digest: str = ""
    providers: Mapping[str, str] = field(default_factory=dict)
    owner_kind: str = COMPONENT
    run: str = ""
    progress: Progress = no_progress
    cancelled: Callable[[], bool] = lambda: False
    out_of_grace: Callable[[], bool] = lambda: False
    timeout: float = 0.0
    new_kinds: Mapping[tuple[str, str], Kind] = field(default_factory=dict)
    new_namespaces: frozenset[str] = frozenset()
    selection: Mapping[str, str] = field(default_factory=dict)
    planned: Mapping[str, Sequence[str]] | None = None
    count: Callable[[], str] = lambda: ""
