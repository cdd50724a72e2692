# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Repeatedly reads the objects that one errand depends on, for a caller that waits for its run."""

from __future__ import annotations

from collections.abc import Sequence

from ..._cluster.cluster import Cluster, Object
from ..._cluster.informer import InformerScope
from ..._jobs.pod_references import pod_references
from ..._threads import map_in_threads
from ..due_run import needs_configuration
from ..errand_index import ErrandIndex, watched_scopes
from ..errand_model import ERRAND_LABEL, Errand, ErrandKey, label_value


class OneErrandReader:
    """Fills an index with the objects that one errand depends on: its namespace, and no foreign pods.

    The other errands of its namespace count, too, because they may use the versions that it writes.

    Args:
        cluster: the live one.
        key: of the errand.

    Attributes:
        index: to decide from.
    """

    def __init__(self, cluster: Cluster, key: ErrandKey) -> None:
        self.index = ErrandIndex()
        self._cluster = cluster
        self._key = key
        self._known: dict[tuple[str, str], dict[str, Object]] = {}

    def refresh(self) -> Errand | None:
        """Read all objects again; return the errand, or None if it is gone.

        Raises:
            ClusterError: the server does not answer, or refuses a list.
        """
        errands, jobs, pods, *configuration = watched_scopes([self._key.namespace])
        selector = f"{ERRAND_LABEL}={label_value(self._key.name)}"
        self._read([errands, *(one._replace(label_selector=selector) for one in (jobs, pods))])
        errand = self.index.errand(self._key)
        if errand and needs_configuration(errand):
            # The list has only their versions; whole objects are read one by one.
            kinds = {one.kind for one in pod_references(errand.spec.pod_template)}
            self._read([one for one in configuration if one.kind in kinds])
        return errand

    def _read(self, scopes: Sequence[InformerScope]) -> None:
        pages = map_in_threads(lambda one: one.list(self._cluster), scopes)
        for scope, page in zip(scopes, pages, strict=True):
            kind, objects = scope[:2], {str(obj["metadata"]["name"]): obj for obj in page.items}
            for name, obj in self._known.get(kind, {}).items():
                if name not in objects:
                    self.index.discard(kind, obj)
            for obj in objects.values():
                self.index.put(kind, obj)
            self._known[kind] = objects
