# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the objects that would be deleted with a definition or a namespace, and a namespace's creator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain

from ..._cluster.cluster import Cluster, Object, Ref, ref_of
from ..._cluster.errors import ClusterError, Forbidden
from ..._cluster.kinds import CRD_KIND, NAMESPACE_KIND, built_in_kinds, kinds_of_crd
from ..._text import short_list
from ..._threads import map_in_threads
from ..access.rights import Right, list_right, right_for
from ..access.roles import GRANT_LABEL
from ..inventory.inventory_entry import InventoryEntry
from ..inventory.namespace_creators import has_other_creator
from .managed_resources import read_living
from .prune_decision import NOT_OWNED, RETAINED, RemovalDecision

MOST_NAMED = 10
"""How many objects a sentence lists by name."""

_TRACES = frozenset({"Event", "Endpoints", "EndpointSlice", "Lease", "ControllerRevision"})
"""Kinds that controllers create for other objects."""
_IN_EVERY_NAMESPACE = frozenset(
    {
        ("ConfigMap", "kube-root-ca.crt"),
        ("ConfigMap", "istio-ca-root-cert"),
        ("ServiceAccount", "default"),
    }
)
"""Objects that controllers publish into each namespace, by kind and name."""
_TOKEN_OF = "kubernetes.io/service-account.name"


class ContainedObjects:
    """Retains definitions that have resources, and namespaces that others use.

    Args:
        cluster: live or an overlay.
        forced: returns whether a definition or a namespace is deleted with all its contents; none by default.
        needed: other objects to retain, each with a sentence that says why.
        report: gets each object that is deleted with all its contents, and a sentence about these.
    """

    def __init__(
        self,
        cluster: Cluster,
        forced: Callable[[Ref], bool] = lambda _ref: False,
        needed: Mapping[Ref, str] | None = None,
        report: Callable[[Ref, str], None] | None = None,
    ) -> None:
        self._report = report
        self._cluster = cluster
        self._forced = forced
        self._needed = needed or {}

    def retain(self, entry: InventoryEntry, live: Object) -> RemovalDecision | None:
        """The decision to retain an object; None if it may be deleted."""
        ref = entry.ref
        if ref in self._needed:
            return RemovalDecision(RETAINED, self._needed[ref])
        if ref[:2] == NAMESPACE_KIND and has_other_creator(entry, live):
            return RemovalDecision(NOT_OWNED, f"{ref}: kyma.lifecycle did not create it, so it stays")
        if self._forced(ref):
            self._report_contents(entry)
            return None
        contents = self.describe_contents(entry)
        return RemovalDecision(RETAINED, f"{ref}: it stays, as {contents}") if contents else None

    def _report_contents(self, entry: InventoryEntry) -> None:
        if self._report is None:
            return
        try:
            contents = short_list(self._contents_of(entry), MOST_NAMED)
        except ClusterError as error:
            contents = f"it is unknown what that is: {error}"
        if contents:
            self._report(entry.ref, f"{entry.ref} is deleted with all that it has: {contents}")

    def describe_contents(self, entry: InventoryEntry) -> str:
        """A description of the objects that would be deleted with this one; empty if there are none."""
        contents = short_list(self._contents_of(entry), MOST_NAMED)
        if not contents:
            return ""
        return f"these exist: {contents}" if entry.ref[:2] == CRD_KIND else f"it still has: {contents}"

    def _contents_of(self, entry: InventoryEntry) -> list[Ref]:
        if entry.ref[:2] == CRD_KIND:
            return [ref_of(obj) for obj in self._resources(entry)]
        return self.contents(entry.ref.name) if entry.ref[:2] == NAMESPACE_KIND else []

    def rights(self, entry: InventoryEntry) -> set[Right]:
        """The rights that :meth:`retain` needs for an object.

        Raises:
            ClusterError: the server does not answer.
        """
        ref = entry.ref
        if ref[:2] == NAMESPACE_KIND and (self._forced(ref) or not self._is_created_by_us(entry)):
            return set()
        return self.looking_rights(ref)

    def looking_rights(self, ref: Ref) -> set[Right]:
        """The rights that :meth:`describe_contents` needs for an object.

        Raises:
            ClusterError: the server does not answer.
        """
        if ref[:2] == CRD_KIND:
            plural, _dot, group = ref.name.partition(".")
            return {Right("list", group, plural)}
        if ref[:2] != NAMESPACE_KIND:
            return set()
        try:
            kinds = self._namespaced_kinds()
        except Forbidden:
            # Only then can other kinds be known.
            kinds = _namespaced_kinds([])
        crds = list_right(f"{CRD_KIND[0]}/v1", CRD_KIND[1], self._cluster.resource)
        resources = chain.from_iterable(self._cluster.served(*kind)[:1] for kind in kinds)
        return crds | {right_for("list", resource, ref.name) for resource in resources}

    def _is_created_by_us(self, namespace: InventoryEntry) -> bool:
        try:
            live = self._cluster.get(*namespace.ref.in_version(namespace.api_version))
        except Forbidden:
            # It is reported as a missing right.
            return False
        return live is not None and not has_other_creator(namespace, live)

    def _resources(self, definition: InventoryEntry) -> list[Object]:
        """The metadata of all custom resources of a definition.

        Raises:
            ClusterError: the existing resources are unknown, e.g. if the definition serves no version.
        """
        crd = self._cluster.get(*definition.ref.in_version(definition.api_version))
        if crd is None:
            return []
        kind = crd["spec"]["group"], crd["spec"]["names"]["kind"]
        return read_living(self._cluster, [kind])

    def contents(self, namespace: str) -> list[Ref]:
        """The objects in a namespace, without those that controllers create and delete with others."""

        def read(kind: tuple[str, str]) -> list[Object]:
            for served in self._cluster.served(*kind)[:1]:
                return self._cluster.list(served.api_version, kind[1], namespace, metadata_only=True).items
            return []

        objects = (obj for items in map_in_threads(read, self._namespaced_kinds()) for obj in items)
        return sorted({ref_of(obj) for obj in objects if _counts(obj)})

    def _namespaced_kinds(self) -> Sequence[tuple[str, str]]:
        return _namespaced_kinds(self._cluster.list(f"{CRD_KIND[0]}/v1", CRD_KIND[1]).items)


def _namespaced_kinds(crds: Iterable[Object]) -> Sequence[tuple[str, str]]:
    """The namespaced kinds (group, kind), built in or of these definitions."""
    built_in = [one for (_version, kind), one in built_in_kinds().items() if kind not in _TRACES]
    known = [*built_in, *(one for crd in crds for one in kinds_of_crd(crd).values())]
    return list(dict.fromkeys((one.group, one.resource.kind) for one in known if one.resource.namespaced))


def _counts(obj: Object) -> bool:
    meta = obj["metadata"]
    return not (
        meta.get("ownerReferences")
        or meta.get("deletionTimestamp")
        or (obj["kind"], meta["name"]) in _IN_EVERY_NAMESPACE
        or _TOKEN_OF in (meta.get("annotations") or {})
        or (obj["kind"] in ("Role", "RoleBinding") and GRANT_LABEL in (meta.get("labels") or {}))
    )
