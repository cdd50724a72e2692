# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans what a run does with each module: its decision, and the changes of its objects."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, NamedTuple

from .._carrier.module_materials import MissingManifest
from .._carrier.task import Task
from .._cluster.cluster import Object, Ref, ref_of
from .._cluster.errors import ClusterError
from .._cluster.kinds import NAMESPACE_KIND
from .._components.component_plan import ComponentPlan
from .._components.component_rehearsal import (
    ComponentRehearsal,
    RehearsalContext,
    refusal_blocker,
    with_recreation_advice,
)
from .._components.desired_component import DesiredComponent, complete_manifest, with_own_kinds
from .._components.migrations.migration_runner import MigrationRunner
from .._components.migrations.rehearsal import MigrationRehearsal
from .._components.selection import Origin
from .._dry_run.dry_run_cluster import DryRunCluster
from .._errors import LifecycleError
from .._objects.apply.change import ObjectChange
from .._objects.apply.rehearsed_changes import RehearsedChanges
from .._objects.inventory.inventory import MODULE, Inventory
from .._objects.inventory.inventory_entry import InventoryEntry, current_entry, intent_of
from .._objects.inventory.live_objects import read_autoscaled, read_metadata, scope_of
from .._objects.prune.managed_resources import living_resources
from .._release.lazy_objects import LazyObjects
from .._release.model import Content
from ..migration import Component
from .catalog.manifest_objects import read_manifest
from .catalog.module_version import ModuleVersion
from .decision import ADOPT, DELETE, INSTALL, LOOKED_AFTER, UPGRADE, Decision, decide
from .default_configuration import Creation
from .desired_module import (
    ManifestTerms,
    defined_plurals,
    desired_module,
    own_instances,
    unchanged_module,
)
from .maintenance_policy import parse_policy
from .manager_health import needs_scaling_back, scaling_patch
from .module_facts import ModuleOutlook, considered_names, gather_facts
from .module_request import ModuleRequest, ModulesRequest
from .observed_modules import ObservedModules


class MissingManifests(LifecycleError):
    """Manifests that the task needs and that were not sent to the host.

    Attributes:
        links: identify them.
    """

    def __init__(self, links: Sequence[str]) -> None:
        super().__init__(f"these manifests were not sent along: {', '.join(links)}")
        self.links = tuple(links)


class ManagerScaling(NamedTuple):
    """A manager that was scaled to zero, and the merge patch that scales it back."""

    manager: Object
    patch: Mapping[str, Any]


@dataclass(frozen=True)
class PlannedModule:
    """The plan for one module.

    Attributes:
        outlook: the facts about it.
        decision: what happens to it.
        request: the user's request for it; None if the user's list lacks it.
        version: of the manifest that its objects are compared with; None if it is not known.
        component: the desired objects for the comparison; None if they are left unchanged.
        before: the inventory for the comparison; None if nothing is known of them.
        plan: the changes of its objects; None if they are left unchanged.
        configuration: the default configuration that is still to be created, complete; mostly None.
        declined_configuration: the configuration that is never created, because the user has instances;
            mostly None.
        scaling: the patch that scales its manager back from zero; mostly None.
        problem: why nothing of it may be written, in a sentence; mostly empty.
    """

    outlook: ModuleOutlook
    decision: Decision
    request: ModuleRequest | None = None
    version: ModuleVersion | None = None
    component: DesiredComponent | None = None
    before: Inventory | None = None
    plan: ComponentPlan | None = None
    configuration: Object | None = None
    declined_configuration: Object | None = None
    scaling: ManagerScaling | None = None
    problem: str = ""

    @property
    def name(self) -> str:
        return self.outlook.facts.name

    @property
    def changes(self) -> tuple[ObjectChange, ...]:
        """The changes of its objects, and the creation of its default configuration."""
        changes = self.plan.changes if self.plan else ()
        created = self.configuration
        return (*changes, ObjectChange(ref_of(created), None, created)) if created else changes

    @property
    def changes_objects(self) -> bool:
        """Whether the run applies its objects."""
        if self.plan is None or self.problem:
            return False
        if self.scaling is not None:
            return True
        if self.decision.action == ADOPT:
            return bool(self.plan.changes)
        if self.decision.action == DELETE:
            # Instances in the manifest are deleted first, and not created again.
            return any(change.ref not in self._own_instances for change in self.plan.changes)
        return self.plan.takes_part

    @cached_property
    def _own_instances(self) -> frozenset[Ref]:
        if self.component is None:
            return frozenset()
        return own_instances(self.component.refs, defined_plurals(self.component.objects))

    @property
    def is_adopted_as_it_is(self) -> bool:
        """Whether it is adopted without a write to any object."""
        is_compared = self.plan is not None and not self.problem
        return self.decision.action == ADOPT and is_compared and not self.changes_objects


class ModulePlanner:
    """Plans a run.

    Args:
        task: of the run.
        request: the user's request.
        observed: what was read.
        runner: the migrations.

    Attributes:
        overlay: on which the changes were rehearsed.
        changes: of the overlay.
    """

    def __init__(
        self, task: Task, request: ModulesRequest, observed: ObservedModules, runner: MigrationRunner
    ) -> None:
        self._task = task
        self._request = request
        self._observed = observed
        self._runner = runner
        policy = request.maintenance_policy
        self._windows = None if policy is None else parse_policy(policy, "maintenance_policy")
        self.overlay = DryRunCluster(task.cluster)
        self.changes = RehearsedChanges(self.overlay)
        self._missing: list[str] = []

    def plan(self) -> list[PlannedModule]:
        """What the run does with each module.

        Raises:
            MissingManifests: the plan needs manifests that are missing.
            LifecycleError: the cluster does not answer.
        """
        now = datetime.now(UTC)
        planned = [
            self._plan(gather_facts(name, self._request, self._observed, self._windows, now))
            for name in considered_names(self._request, self._observed)
        ]
        if self._missing:
            raise MissingManifests(list(dict.fromkeys(self._missing)))
        return planned

    def _plan(self, outlook: ModuleOutlook) -> PlannedModule:
        name = outlook.facts.name
        asked = next((one for one in self._request.modules if one.name == name), None)
        planned = PlannedModule(
            outlook, decide(outlook.facts), asked, before=self._observed.inventories.get(name)
        )
        if planned.decision.action not in LOOKED_AFTER and planned.decision.action != DELETE:
            return planned
        try:
            return self._compared(planned)
        except MissingManifest as missing:
            self._missing.append(missing.link)
        except LifecycleError as error:
            if planned.decision.action == DELETE:
                # Existing objects can be deleted without the manifest.
                return planned
            return replace(planned, problem=str(error))
        return planned

    def _compared(self, planned: PlannedModule) -> PlannedModule:
        """The module with the changes of its objects."""
        version = self._version(planned)
        if version is None:
            return planned
        planned = replace(planned, version=version)
        action = planned.decision.action
        if action == ADOPT or (action == UPGRADE and planned.before is None):
            planned = self._with_adopted_inventory(planned, version)
        component = self._component(version, planned)
        rehearsal = self._rehearsal(planned)
        origin = Origin(
            is_older=False,
            is_same=planned.before is not None and component.digest == planned.before.digest,
            is_limited_to_changes=not self._request.policy.takes_from_others,
        )
        start = rehearsal.start(component, origin)
        applied = rehearsal.apply(start, start.objects)
        refs = {ref_of(obj): obj for obj in start.objects}
        replaced = [one.ref for one in applied.applied if one.replaced]
        found = rehearsal.end(start, applied, self.changes.take(refs, replaced))
        blockers = [
            *start.blockers,
            *(refusal_blocker(component.name, refusal) for refusal in applied.refused),
            *found.blockers,
        ]
        blockers = with_recreation_advice(blockers, self._request.policy)
        planned = replace(
            planned,
            component=component,
            plan=found.plan,
            scaling=self._scaling(planned.outlook, component),
            problem="; ".join(blocker.message for blocker in blockers),
        )
        return self._with_configuration(planned, component)

    def _scaling(self, outlook: ModuleOutlook, component: DesiredComponent) -> ManagerScaling | None:
        """How to scale the manager back, if it was scaled to zero."""
        for manager in outlook.managers:
            live = manager.object
            if not manager.is_as_left and (live.get("spec") or {}).get("replicas") == 0:
                wanted = next((obj for obj in component.objects if ref_of(obj) == ref_of(live)), None)
                if wanted is not None and needs_scaling_back(live, wanted, self.autoscaled):
                    return ManagerScaling(live, scaling_patch(live, wanted))
        return None

    def _with_configuration(self, planned: PlannedModule, component: DesiredComponent) -> PlannedModule:
        """The module with its default configuration, if that is to be created or declined now."""
        target, decision, record = planned.outlook.target, planned.decision, planned.outlook.facts.record
        if target is None or target.version != decision.version or decision.action == DELETE:
            return planned
        wanted = (planned.request.configuration if planned.request else None) or target.configuration
        is_forgotten = decision.takes_back and bool(record and record.deletes_configuration)
        creation = record.configuration_creation if record and not is_forgotten else ""
        is_new = decision.action in (INSTALL, ADOPT) or is_forgotten
        if not wanted or not (creation == Creation.REQUESTED or (is_new and not creation)):
            return planned
        scope = with_own_kinds(scope_of(self.overlay), [Content(component.objects)])
        complete = complete_manifest(wanted, component.namespace, scope)
        ref = ref_of(complete)
        is_adopted = decision.action == ADOPT and not creation
        if is_adopted and self._lives((ref.group, ref.kind)):
            return replace(planned, declined_configuration=complete)
        return replace(planned, configuration=complete)

    def _lives(self, kind: tuple[str, str]) -> bool:
        """Whether any namespace has an object of a kind.

        Raises:
            ClusterError: this can't be read.
        """
        found = living_resources(self._task.cluster, [kind])[kind]
        if isinstance(found, ClusterError):
            raise found
        return bool(found)

    def _version(self, planned: PlannedModule) -> ModuleVersion | None:
        """The version whose manifest its objects are compared with."""
        target, wanted = planned.outlook.target, planned.decision.version
        if target is not None and target.version == wanted:
            return target
        module = self._observed.catalog.modules.get(planned.name)
        return module.versions.get(wanted) if module else None

    def _component(self, version: ModuleVersion, planned: PlannedModule) -> DesiredComponent:
        link = self._link(version, planned.request)
        source = self._source(link)
        before = planned.before
        if before is not None and before.digest and before.details.get("source") == source:
            return unchanged_module(
                version, before, source, LazyObjects(lambda: self._read(version, link, planned).objects)
            )
        return self._read(version, link, planned)

    def _read(self, version: ModuleVersion, link: str, planned: PlannedModule) -> DesiredComponent:
        if not link:
            raise LifecycleError(
                f"module {version.module} {version.version}: its template has no rawManifest, so its manifest"
                " is in an OCI registry. Set manifest to a file or a URL that has it"
            )
        manifest = read_manifest(self._task.materials.modules.manifest(link), link)
        known = planned.before.refs if planned.before else frozenset[Ref]()
        own = {ref.name for ref in known if ref[:2] == NAMESPACE_KIND}
        terms = ManifestTerms(
            scope_of(self.overlay),
            self._request.image_prefixes,
            self._request.pull_secret,
            self._namespaces - own,
        )
        component = desired_module(version, manifest.objects, self._source(link), terms)
        listed = replace(component.listed, needs=planned.request.needs if planned.request else ())
        return replace(component, warnings=manifest.warnings, listed=listed)

    def _link(self, version: ModuleVersion, asked: ModuleRequest | None) -> str:
        return asked.manifest if asked is not None and asked.manifest else version.manifest

    def _source(self, link: str) -> str:
        """The identity of a manifest in its applied form."""
        request = self._request
        content = self._task.materials.modules.digest(link) or link
        rewriting = [dict(request.image_prefixes), request.pull_secret]
        told = content if not any(rewriting) else json.dumps([content, *rewriting], sort_keys=True)
        return hashlib.sha256(told.encode()).hexdigest()

    @cached_property
    def _namespaces(self) -> frozenset[str]:
        """The namespaces that exist."""
        found = self._task.cluster.list("v1", "Namespace", metadata_only=True).items
        return frozenset(obj["metadata"]["name"] for obj in found)

    def _with_adopted_inventory(self, planned: PlannedModule, version: ModuleVersion) -> PlannedModule:
        """The module with an inventory of its running objects, which this collection has not installed."""
        module = self._observed.catalog.modules[planned.name]
        running = module.versions.get(planned.outlook.facts.running)
        if planned.decision.action == ADOPT:
            running = version
        if running is None:
            # The objects of the running version are unknown; its manager is removed, see module_deployment.
            return planned
        link = self._link(running, None if running.version != version.version else planned.request)
        component = self._read(running, link, planned)
        live = read_metadata(self._task.cluster, [_as_inventory(component)])
        return replace(planned, before=adopted_inventory(component, live))

    def _rehearsal(self, planned: PlannedModule) -> ComponentRehearsal:
        inventories = dict(self._observed.inventories)
        inventories.pop(planned.name, None)
        if planned.before is not None:
            inventories[planned.name] = planned.before
        live = self._observed.live
        if planned.before is not None and planned.name not in self._observed.inventories:
            live = {**live, **read_metadata(self._task.cluster, [planned.before])}
        context = RehearsalContext(self.overlay, self._request.policy, inventories, live, self.autoscaled)
        runner = module_migrations(self._runner, planned)
        return ComponentRehearsal(
            context, MigrationRehearsal(self._task.cluster, self.overlay, runner, self.changes)
        )

    @cached_property
    def autoscaled(self) -> frozenset[tuple[str, str, str]]:
        """The targets of the cluster's autoscalers."""
        return read_autoscaled(self._task.cluster)


def module_migrations(runner: MigrationRunner, planned: PlannedModule) -> MigrationRunner:
    """The migrations, for a desired module."""
    action = {INSTALL: "new", UPGRADE: "upgraded"}.get(planned.decision.action, "unchanged")
    namespace = planned.before.namespace if planned.before else ""
    objects: Sequence[Object] = planned.component.objects if planned.component else ()
    component = Component(planned.name, namespace, objects, None, action)
    return runner.with_components({planned.name: component}, planned.decision.version, "")


def _as_inventory(component: DesiredComponent) -> Inventory:
    entries = tuple(InventoryEntry(obj["apiVersion"], ref_of(obj)) for obj in component.objects)
    return Inventory(component.name, component.namespace, entries=entries, owner_kind=MODULE)


def adopted_inventory(component: DesiredComponent, live: Mapping[Ref, Object]) -> Inventory:
    """The inventory of a module that was installed by other means: the existing objects of its manifest.

    It has no digest, because the objects may differ from the manifest.
    """
    entries = tuple(
        current_entry(InventoryEntry(obj["apiVersion"], ref, intent=intent_of(obj)), live[ref], ((), ()))
        for obj in component.objects
        if (ref := ref_of(obj)) in live
    )
    return Inventory(component.name, component.namespace, entries=entries, owner_kind=MODULE)
