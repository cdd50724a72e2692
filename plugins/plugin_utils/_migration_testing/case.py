# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A migration with the states that its author gives, and the helpers of all proofs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ...module_utils._cluster.cluster import Cluster, Object, address_of
from ...module_utils._cluster.served_versions import find_object
from ...module_utils._deep_copy import deep_copy
from ...module_utils.migration import Component, Migration
from .api_server import ApiServer, BadTest, InMemory
from .attempt_record import AttemptRecord, MigrationEnvironment, attempt_migration
from .memory_cluster import MemoryCluster, Reaction
from .process_state import data_in_modules
from .state import (
    ClusterState,
    api_versions_of,
    incomplete,
    read_state,
    state_differences,
    status_differences,
)


@dataclass
class Case:
    """A migration, the states around it, and how to prove it.

    Attributes:
        migration: the class.
        before: all objects that it is about, as a migration finds them. They exist as if the component had
            been applied, with their status.
        after: the same objects as they must be afterwards. Omitted objects must be gone. Of a status, only
            the given fields are compared.
        stays: objects that must be the same ones all the time, such as a Pod that must run on; apiVersion,
            kind and metadata are enough. Their other fields are not compared, unless they are in ``after``.
        variables: the user's ``kyma_migration_variables``.
        components: those of the release; default: the migration's own, without objects.
        release, profile: as in the context.
        ignore: paths of fields that may differ, such as ``metadata.annotations.example.com/since``, or
            ``ConfigMap:data.since`` for one kind.
        crds: CustomResourceDefinitions of the kinds that not every cluster has.
        prepare: called with the cluster once ``before`` exists, for what objects can't express.
        reactions: called after each write with a cluster and the event, in place of controllers; only in
            memory, because a real API server has its own.
        max_requests: how many requests a check may make.
        seconds: real time that ``check`` and ``run`` together may take; default 10 in memory, 300 on a real
            API server. In memory ``ctx.sleep`` takes no time, and counts against the migration's timeout.
        server: the API server; default in memory.
        said: the log lines and errors of all attempts.
        left: what attempts have changed in the process, each as a clause, and when for the first time.
    """

    migration: type[Migration]
    before: Sequence[Object]
    after: Sequence[Object]
    stays: Sequence[Object] = ()
    variables: Mapping[str, Any] = field(default_factory=dict)
    components: Sequence[Component] | Mapping[str, Component] = ()
    release: str = "1.0"
    profile: str = ""
    ignore: Iterable[str] = ()
    crds: Sequence[Object] = ()
    prepare: Callable[[Cluster], None] | None = None
    reactions: Sequence[Reaction] = ()
    max_requests: int = 3
    seconds: float = 0.0
    server: ApiServer = field(default_factory=InMemory)
    said: dict[str, None] = field(default_factory=dict, init=False)
    left: dict[str, str] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        at_rest = self.after is self.before
        given = {"state": self.before} if at_rest else {"before": self.before, "after": self.after}
        given |= {"crds": self.crds}
        problems = [problem for name, objects in given.items() for problem in incomplete(objects, name)]
        if problems:
            raise BadTest("; ".join(problems))
        self.ignored = frozenset(self.ignore)
        self._data = data_in_modules(self.migration)
        self._versions = api_versions_of([*self.before, *self.after])

    @cached_property
    def around(self) -> MigrationEnvironment:
        """The environment. Without given components it has only the migration's own."""
        given = self.components
        known = dict(given) if isinstance(given, Mapping) else {one.name: one for one in given}
        name = getattr(self.migration, "component", "")
        if not known and name:
            places = [obj["metadata"].get("namespace") for obj in self.before]
            known = {name: Component(name, next(filter(None, places), "default"))}
        seconds = self.seconds or self.server.seconds
        variables = dict(self.variables)
        return MigrationEnvironment(known, self.release, self.profile, variables, seconds, self.server.waits)

    def start(self) -> Cluster:
        """A cluster in the state ``before``."""
        cluster = self.holding(self.before)
        if self.prepare:
            self.prepare(cluster)
        return cluster

    def start_after(self) -> Cluster:
        """A new cluster in the state ``after``."""
        return self.holding(self.after)

    def holding(self, objects: Sequence[Object]) -> Cluster:
        """A cluster with these objects alone."""
        cluster = self.server.hold(deep_copy(list(objects)), self.crds, self._namespaces())
        if isinstance(cluster, MemoryCluster):
            for reaction in self.reactions:
                cluster.on_write(reaction)
        return cluster

    def _namespaces(self) -> set[str]:
        """Namespaces that the migration finds, even if empty: all but those that it creates itself."""
        made = {obj["metadata"]["name"] for obj in self.after if obj["kind"] == "Namespace"}
        return {ref.namespace for ref in api_versions_of(self.after) if ref.namespace} - made

    def attempt(self, cluster: Cluster, **how: Any) -> AttemptRecord:
        """One attempt, by :func:`attempt_migration`. Written objects belong to the state from then on."""
        done = attempt_migration(self.migration, cluster, self.around, **how)
        self._versions = {**done.recording.written, **self._versions}
        self.said.update(dict.fromkeys((*done.said, done.error)))
        self.left = {**done.left, **self.left}
        self.server.note(done.recording.created)
        return done

    def remembered(self) -> list[str]:
        """Names of variables that have changed in the process since the case was created."""
        now = data_in_modules(self.migration)
        return [name for name, value in now.items() if name not in self._data or self._data[name] != value]

    def state(self, cluster: Cluster) -> ClusterState:
        """The current state of all objects of the case."""
        only_stays = api_versions_of(self.stays).keys() - api_versions_of(self.after).keys()
        return read_state(cluster, {ref: at for ref, at in self._versions.items() if ref not in only_stays})

    def touch(self, cluster: Cluster) -> None:
        """Write all objects of the case, with the same content in the end."""
        for obj in filter(None, self.state(cluster).values()):
            for value in ("yes", None):
                cluster.patch(*address_of(obj), {"metadata": {"annotations": {"touched": value}}})

    def being_deleted(self, cluster: Cluster) -> list[str]:
        """Names of the objects of the case that are being deleted."""
        live = (find_object(cluster, ref, at) for ref, at in self._versions.items())
        return [obj["metadata"]["name"] for obj in live if obj and obj["metadata"].get("deletionTimestamp")]

    def staying(self, cluster: Cluster) -> ClusterState:
        """The current state of the objects that must stay."""
        return read_state(cluster, api_versions_of(self.stays))

    def compare(
        self, cluster: Cluster, desired: ClusterState, name: str, *, without: Collection[str] = ()
    ) -> list[str]:
        """How the cluster differs from a state, after the time that controllers need.

        Args:
            cluster: the cluster to read.
            desired: the desired state.
            name: the name of that state in the sentences.
            without: kinds that are skipped.
        """
        compared = {ref: obj for ref, obj in desired.items() if ref.kind not in without}

        def look() -> list[str]:
            live = {ref: obj for ref, obj in self.state(cluster).items() if ref.kind not in without}
            return self.differences(live, compared, name)

        return self.server.eventually(look)

    def differences(self, live: ClusterState, desired: ClusterState, name: str) -> list[str]:
        """How two states differ; see :func:`differences`."""
        return state_differences(live, desired, name=name, ignored=self.ignored | self.server.chosen)

    def differences_from_after(self, live: ClusterState, after: ClusterState) -> list[str]:
        """How a state differs from ``after``, with the statuses that the author gives there."""
        return [*self.differences(live, after, "`after`"), *status_differences(live, self.after)]

    @cached_property
    def state_before(self) -> ClusterState:
        """The state ``before`` on the API server, with its defaults."""
        return self.state(self.start())

    @cached_property
    def state_after(self) -> ClusterState:
        """The state ``after`` on the API server, with its defaults."""
        return self.state(self.start_after())

    @cached_property
    def undisturbed(self) -> tuple[AttemptRecord, ClusterState]:
        """The result of an undisturbed attempt, which all disturbed attempts must reach too."""
        # A real API server has one state at a time, so the state to compare with is read first.
        after = self.state_after
        cluster = self.start()
        done = self.attempt(cluster)
        self.server.eventually(lambda: self.differences_from_after(self.state(cluster), after))
        return done, self.state(cluster)
