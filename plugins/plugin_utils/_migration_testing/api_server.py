# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""API servers to prove migrations on. A test can set their state again and again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from ...module_utils._cluster.cluster import Cluster, Object, Ref, ref_of
from ...module_utils._cluster.kinds import built_in_kinds, defined_kinds
from ...module_utils._errors import LifecycleError
from .memory_cluster import MemoryCluster, namespace_named


class BadTest(LifecycleError):
    """The states of a test are not valid."""


class ApiServer(ABC):
    """An API server that a test may fill and empty.

    Attributes:
        waits: whether sleeps take time, because controllers need some; otherwise sleeps are skipped.
        chosen: paths of fields whose values the server chooses, so that they differ each time.
        seconds: default timeout of one step of a migration.
    """

    waits: bool = False
    chosen: frozenset[str] = frozenset()
    seconds: float = 10.0

    @abstractmethod
    def hold(
        self, objects: Sequence[Object], crds: Sequence[Object] = (), namespaces: Collection[str] = ()
    ) -> Cluster:
        """A cluster with these objects, and no other objects of tests.

        Args:
            objects: the objects, as if the deployer had applied them, with their status.
            crds: the definitions of their kinds.
            namespaces: further namespaces, which may be empty.
        """

    @abstractmethod
    def note(self, created: Mapping[Ref, str]) -> None:
        """Note objects that a migration has created, each with its apiVersion, to delete them too."""

    def eventually(self, look: Callable[[], Iterable[str]]) -> list[str]:
        """The problems that remain after the time that controllers need."""
        return list(look())

    @abstractmethod
    def close(self) -> None:
        """Delete all objects of tests."""


def namespaced_kinds(objects: Sequence[Object]) -> dict[tuple[str, str], bool]:
    """Whether each kind that every cluster serves, or that these objects define, is namespaced."""
    kinds = {**built_in_kinds(), **defined_kinds(objects)}
    return {name: kind.resource.namespaced for name, kind in kinds.items()}


class InMemory(ApiServer):
    """An API server in memory: each state is a new cluster, within milliseconds."""

    def hold(
        self, objects: Sequence[Object], crds: Sequence[Object] = (), namespaces: Collection[str] = ()
    ) -> Cluster:
        namespaced = namespaced_kinds([*crds, *objects])
        for obj in objects:
            kind = (obj["apiVersion"], obj["kind"])
            if kind not in namespaced:
                raise BadTest(
                    f"{ref_of(obj)}: not every cluster serves {obj['kind']} in {obj['apiVersion']}, so the "
                    f"test has to give its CustomResourceDefinition in `crds`"
                )
            if namespaced[kind] and not obj["metadata"].get("namespace"):
                raise BadTest(f"{ref_of(obj)} lives in a namespace, and the test has to say in which")
        return MemoryCluster(*crds, *map(namespace_named, namespaces), *objects)

    def note(self, created: Mapping[Ref, str]) -> None:
        """Do nothing: each test has its own cluster."""

    def close(self) -> None:
        """Do nothing: there is nothing to delete."""
