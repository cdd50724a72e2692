# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of modules in a cluster: records, inventories, managers, and its own catalog."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from .._cluster.cluster import Cluster, Object, Ref, ref_of
from .._cluster.errors import ClusterError, is_conversion_failure
from .._cluster.kinds import CRD_KIND, is_built_in
from .._klm.klm_marks import has_klm_label
from .._klm.kyma_resource import may_have_klm, read_kyma
from .._module_catalog.catalog import Catalog, SourcedDocument, read_catalog
from .._module_catalog.documents import API_VERSION, RELEASE_META, TEMPLATE
from .._objects.inventory.inventory import Inventory, entries_by_ref, inventories_of
from .._objects.inventory.inventory_entry import InventoryEntry
from .._objects.inventory.live_objects import read_live, read_metadata
from .._objects.inventory.owner_kinds import MODULE
from .._runs.records.cluster_hold import Hold
from .._runs.records.hold_records import read_hold
from .._runs.records.installation import Installation, read_installation
from .._runs.records.inventories import read_all_inventories
from .._runs.records.modules import ModuleRecord, read_module_records
from .._threads import call_in_threads, map_in_threads
from ._klm_facts.klm_observation import ObservedKlm
from .running_version import LABELLED_KINDS, MODULE_LABEL, WORKLOADS, LiveManager

CLUSTER_ORIGIN = "the cluster"
DEFINITIONS = ("apiextensions.k8s.io/v1", CRD_KIND[1])


@dataclass(frozen=True)
class ObservedModules:
    """What was read of the modules of a cluster.

    Attributes:
        installation: identifies the cluster's release.
        hold: of the cluster.
        inventories: of modules, by name.
        others: inventories of owners of other kinds.
        records: of modules, by name.
        catalog: the modules that can be installed.
        klm: what Kyma's lifecycle manager has; nothing where there is none.
        live: the metadata of the objects in the inventories.
        managers: the existing managers of each requested module.
    """

    installation: Installation
    hold: Hold | None
    inventories: Mapping[str, Inventory]
    others: tuple[Inventory, ...]
    records: Mapping[str, ModuleRecord]
    catalog: Catalog
    klm: ObservedKlm
    live: Mapping[Ref, Object]
    managers: Mapping[str, tuple[LiveManager, ...]]


def observe_modules(
    cluster: Cluster,
    documents: Sequence[SourcedDocument],
    *,
    reads_cluster_catalog: bool,
    names: Collection[str] | None,
    ignores_klm: bool = False,
) -> ObservedModules:
    """Read the state of modules in a cluster: one request per kind, and a few more.

    Args:
        cluster: live or an overlay.
        documents: of the catalog, from the controller.
        reads_cluster_catalog: whether the cluster's own documents belong to it.
        names: the modules that the user names; None for all of the catalog. Those with a record are read too.
        ignores_klm: whether a Kyma resource counts for nothing.

    Raises:
        LifecycleError: something can't be read, so that no decision is possible.
    """
    reads_catalog = reads_cluster_catalog or may_have_klm(cluster)
    own_documents = partial(read_cluster_documents, cluster) if reads_catalog else list[SourcedDocument]
    installation, hold, inventories, records, own, labelled, kyma = call_in_threads(
        lambda: read_installation(cluster),
        lambda: read_hold(cluster),
        lambda: read_all_inventories(cluster),
        lambda: read_module_records(cluster),
        own_documents,
        lambda: _labelled_managers(cluster),
        lambda: None if ignores_klm else read_kyma(cluster),
    )
    klm = ObservedKlm(kyma, klm_catalog(own) if kyma else Catalog())
    community = (one for one in own if reads_cluster_catalog and not has_klm_label(one.document))
    catalog = read_catalog([*documents, *community])
    modules = inventories_of(inventories, MODULE)
    named = kyma.statuses.keys() | kyma.entries.keys() if kyma else ()
    if names is None:
        names = (*catalog.modules, *sorted(named))
    mandatory = [name for name, module in catalog.modules.items() if module.mandatory]
    candidates = {
        name: manager_candidates((catalog, klm.catalog), name, records.get(name), modules.get(name))
        for name in dict.fromkeys((*names, *records, *modules, *mandatory))
    }
    of_klm = {name: some for name, some in candidates.items() if name in named}
    own_candidates = {name: some for name, some in candidates.items() if name not in named}
    live = _read_convertible(cluster, [*modules.values(), _as_inventory(own_candidates)])
    whole = _read_whole(cluster, of_klm)
    settled = _settled(modules, records)
    managers = _live_managers(cluster, candidates, settled, {**live, **whole}, labelled, whole)
    others = tuple(one for one in inventories if one.owner_kind != MODULE)
    return ObservedModules(installation, hold, modules, others, records, catalog, klm, live, managers)


def klm_catalog(documents: Iterable[SourcedDocument]) -> Catalog:
    """The catalog of Kyma's lifecycle manager (KLM), of the documents in the cluster that have its label."""
    return read_catalog(one for one in documents if has_klm_label(one.document))


def _read_whole(cluster: Cluster, candidates: Mapping[str, Sequence[InventoryEntry]]) -> dict[Ref, Object]:
    """The managers that may exist as whole objects: one list for each kind and namespace."""
    return read_live(cluster, [_as_inventory(candidates)], lambda *_kind: True).objects


def read_managers(cluster: Cluster, observed: ObservedModules, name: str) -> tuple[LiveManager, ...]:
    """The managers of one module that exist now, some time after the observation.

    Raises:
        ClusterError: they can't be read.
    """
    record, inventory = observed.records.get(name), observed.inventories.get(name)
    catalogs = (observed.catalog, observed.klm.catalog)
    candidates = {name: manager_candidates(catalogs, name, record, inventory)}
    live = read_metadata(cluster, [_as_inventory(candidates)])
    settled = _settled(observed.inventories, observed.records)
    return _live_managers(cluster, candidates, settled, live, _labelled_managers(cluster), {})[name]


def read_whole_managers(
    cluster: Cluster, observed: ObservedModules, names: Iterable[str]
) -> dict[str, tuple[LiveManager, ...]]:
    """The managers that templates name of some modules, as they are now: one list for each kind.

    Raises:
        ClusterError: they can't be read.
    """
    catalogs = (observed.catalog, observed.klm.catalog)
    candidates = {name: manager_candidates(catalogs, name, None, None) for name in names}
    whole = _read_whole(cluster, candidates)
    return _live_managers(cluster, candidates, {}, whole, (), whole)


def _settled(
    inventories: Mapping[str, Inventory], records: Mapping[str, ModuleRecord]
) -> dict[str, Inventory]:
    """The inventories of modules whose record says their version: no deployment of theirs was cut off."""
    known = (name for name, one in records.items() if one.installed_version and not one.deploying.version)
    return {name: inventories[name] for name in known if name in inventories}


def _read_convertible(cluster: Cluster, inventories: Sequence[Inventory]) -> dict[Ref, Object]:
    """The metadata of the objects of modules; without custom resources if some can't be converted.

    Then the work on the module that has them fails, and not the work on all.
    """
    try:
        return read_metadata(cluster, inventories)
    except ClusterError as error:
        if not is_conversion_failure(error):
            raise
    entries = (entry for one in inventories for entry in one.entries if is_built_in(entry.ref.group))
    return read_metadata(cluster, [Inventory("", entries=tuple(entries))])


def _as_inventory(candidates: Mapping[str, Sequence[InventoryEntry]]) -> Inventory:
    """An inventory of the managers that may exist, to read them with."""
    return Inventory("", entries=tuple(entry for some in candidates.values() for entry in some))


def read_cluster_documents(cluster: Cluster) -> list[SourcedDocument]:
    """The ModuleTemplates and ModuleReleaseMetas of the cluster."""
    pages = map_in_threads(lambda kind: cluster.list(API_VERSION, kind).items, (TEMPLATE, RELEASE_META))
    return [SourcedDocument(f"{CLUSTER_ORIGIN}: {ref_of(obj)}", obj) for items in pages for obj in items]


def _labelled_managers(cluster: Cluster) -> list[Object]:
    """The metadata of workloads with a label for the module that they belong to."""

    def read(kind: tuple[str, str]) -> list[Object]:
        return cluster.list(*kind, label_selector=MODULE_LABEL, metadata_only=True).items

    return [obj for items in map_in_threads(read, LABELLED_KINDS) for obj in items]


def manager_candidates(
    catalogs: Iterable[Catalog], name: str, record: ModuleRecord | None, inventory: Inventory | None
) -> tuple[InventoryEntry, ...]:
    """The possible managers of a module: those of our record, else of our inventory, and of all templates."""
    modules = [one.modules[name] for one in catalogs if name in one.modules]
    named = [one.manager for module in modules for one in module.versions.values() if one.manager]
    ours = [entry for ref, entry in entries_by_ref(inventory).items() if ref[:2] in WORKLOADS]
    known = [record.manager] if record and record.manager else ours
    return tuple({one.ref: InventoryEntry(one.api_version, one.ref) for one in (*known, *named)}.values())


def read_module_objects(
    cluster: Cluster, inventories: Mapping[str, Inventory]
) -> dict[str, tuple[Object, ...]]:
    """The existing objects of modules, for inventories of the objects to look for.

    Workloads are read in full, and of other objects the metadata. Definitions with the label of a module
    belong to it.

    Raises:
        ClusterError: they can't be read.
    """
    if not inventories:
        return {}
    live = read_metadata(cluster, inventories.values())
    labelled = cluster.list(*DEFINITIONS, label_selector=MODULE_LABEL, metadata_only=True).items

    def whole(obj: Object) -> Object | None:
        ref = ref_of(obj)
        if ref[:2] not in WORKLOADS:
            return obj
        return cluster.get(obj["apiVersion"], ref.kind, ref.name, ref.namespace or None)

    def read(name: str) -> tuple[Object, ...]:
        named = [live[ref] for ref in sorted(inventories[name].refs) if ref in live]
        own = [obj for obj in labelled if obj["metadata"]["labels"][MODULE_LABEL] == name]
        return tuple(filter(None, map(whole, {ref_of(obj): obj for obj in (*named, *own)}.values())))

    return dict(zip(inventories, map_in_threads(read, list(inventories)), strict=True))


def _live_managers(
    cluster: Cluster,
    candidates: Mapping[str, Sequence[InventoryEntry]],
    inventories: Mapping[str, Inventory],
    live: Mapping[Ref, Object],
    labelled: Iterable[Object],
    whole: Mapping[Ref, Object],
) -> dict[str, tuple[LiveManager, ...]]:
    """The existing managers, by module; those that have changed since they were recorded are whole."""
    by_module: dict[str, dict[Ref, Object]] = {
        name: {one.ref: live[one.ref] for one in some if one.ref in live} for name, some in candidates.items()
    }
    for obj in labelled:
        module = obj["metadata"]["labels"][MODULE_LABEL]
        if module in by_module:
            by_module[module].setdefault(ref_of(obj), obj)

    def read(candidate: tuple[str, Ref, Object]) -> tuple[str, LiveManager | None]:
        module, ref, metadata = candidate
        is_named = any(ref == one.ref for one in candidates[module])
        entry = entries_by_ref(inventories.get(module)).get(ref)
        if entry is not None and _is_as_left(entry, metadata):
            return module, LiveManager(metadata, is_as_left=True, is_named=is_named)
        address = ref.in_version(metadata["apiVersion"])
        live_object = whole[ref] if ref in whole else cluster.get(*address)
        return module, LiveManager(live_object, is_named=is_named) if live_object else None

    to_read = [(module, ref, obj) for module, some in by_module.items() for ref, obj in some.items()]
    managers: dict[str, tuple[LiveManager, ...]] = dict.fromkeys(by_module, ())
    for module, manager in map_in_threads(read, to_read):
        if manager is not None:
            managers[module] += (manager,)
    return managers


def _is_as_left(entry: InventoryEntry, metadata: Mapping[str, Any]) -> bool:
    meta = metadata["metadata"]
    is_same = (meta.get("uid"), meta.get("resourceVersion")) == (entry.uid, entry.resource_version)
    return is_same and not meta.get("deletionTimestamp")
