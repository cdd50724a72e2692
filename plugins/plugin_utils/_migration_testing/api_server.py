# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where migrations are proved: an API server that can be brought to a state again and again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    Cluster,
    Object,
    Ref,
    ref_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.kinds import (
    built_in_kinds,
    defined_kinds,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errors import LifecycleError

from .memory_cluster import MemoryCluster, namespace_named


class BadTest(LifecycleError):
    """The states that a test gives can't be tested with."""


class ApiServer(ABC):
    """An API server that a test may fill and empty.

    Attributes:
        waits: whether time passes there, and controllers need some; else sleeps are skipped.
        chosen: paths of fields that the server chooses values for, so that they differ each time.
        seconds: how long one step of a migration may take there unless the author says otherwise.
    """

    waits: bool = False
    chosen: frozenset[str] = frozenset()
    seconds: float = 10.0

    @abstractmethod
    def hold(
        self, objects: Sequence[Object], crds: Sequence[Object] = (), namespaces: Collection[str] = ()
    ) -> Cluster:
        """A cluster that holds these objects, and nothing else of what tests have made there.

        Args:
            objects: what is there, as if the deployer had applied it. A status is kept.
            crds: the definitions of their kinds.
            namespaces: those that are there though none of the objects lives in them.
        """

    @abstractmethod
    def note(self, created: Mapping[Ref, str]) -> None:
        """Learn of objects that a migration has created, each with its apiVersion: they go, too."""

    def eventually(self, look: Callable[[], Iterable[str]]) -> list[str]:
        """What is still wrong, once it has had the time that things take there."""
        return list(look())

    @abstractmethod
    def close(self) -> None:
        """Remove all that tests have made there."""


def namespaced_kinds(objects: Sequence[Object]) -> dict[tuple[str, str], bool]:
    """Whether each kind that every cluster serves, or that these objects define, is namespaced."""
    kinds = {**built_in_kinds(), **defined_kinds(objects)}
    return {name: kind.resource.namespaced for name, kind in kinds.items()}


class InMemory(ApiServer):
    """A new cluster in memory each time: milliseconds."""

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
        """Nothing outlives a test."""

    def close(self) -> None:
        """There is nothing to remove."""
