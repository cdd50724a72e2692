# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans what a run does with each module: its decision, and the changes of its objects."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial

from .._carrier.module_materials import MissingManifest
from .._carrier.task import Task
from .._cluster.cluster import Cluster, Object, Ref, ref_of
from .._cluster.kinds import CRD_KIND, NAMESPACE_KIND, is_crd
from .._cluster.own_objects import own_object_problem
from .._components.adoption_losses import loss_blockers, lossy_adoptions
from .._components.component_action import Origin
from .._components.component_plan import Blocker, ComponentPlan, with_later_changes
from .._components.desired_component import DesiredComponent, complete_manifest, with_own_kinds
from .._components.migrations.migration_runner import MigrationRunner
from .._components.migrations.rehearsal import MigrationRehearsal
from .._components.provided_kinds import kind_of
from .._components.rehearsed_changes import RehearsedChanges
from .._components.rehearsed_work import RehearsedWork, refusal_blocker, with_advice
from .._components.work_context import WorkContext
from .._dry_run.dry_run_cluster import DryRunCluster
from .._errors import LifecycleError
from .._module_catalog.manifest_objects import ModuleManifest, read_manifest
from .._module_catalog.module_version import ModuleVersion
from .._objects.health.watcher import Watcher
from .._objects.inventory.inventory import Inventory
from .._objects.inventory.inventory_entry import InventoryEntry, current_entry, intent_of
from .._objects.inventory.live_objects import read_autoscaled, read_metadata, scope_of
from .._objects.inventory.owner_kinds import MODULE
from .._objects.ownership.other_tools import by_manager, coexistence_problem, is_active
from .._objects.prune.managed_kinds import kinds_defined_by
from .._objects.prune.managed_resources import read_living
from .._redaction import without_login, without_user
from .._release.lazy_objects import LazyObjects
from .._release.limits import limits_of
from .._release.manifests import object_problem
from .._release.model import Content
from .._runs.records.modules import ERROR, Creation
from ..migration import Phase
from ._klm_facts.klm_decision import decide_on_klm
from .decision import ADOPT, DELETE, INSTALL, LOOKED_AFTER, REFUSE, UPGRADE, ModuleDecision, decide
from .desired_module import ManifestTerms, desired_module, namespace_of, unchanged_module
from .maintenance_file import parse_policy
from .manager_health import needs_scaling_back, scaling_patch
from .module_context import ModuleContext
from .module_deployment import ModuleDeployment, module_migrations
from .module_facts import ModuleOutlook
from .module_outlooks import ModuleOutlooks
from .module_removals import UnknownObjects, hold_removals, objects_of_others, refuse_unknown_manager
from .module_request import ModuleRequest, ModulesRequest
from .observed_modules import ObservedModules
from .planned_module import ManagerScaling, PlannedModule


class MissingManifests(LifecycleError):
    """Manifests that the task needs and that were not sent to the host.

    Attributes:
        links: identify them.
    """

    def __init__(self, links: Sequence[str]) -> None:
        super().__init__(f"these manifests were not sent along: {', '.join(map(without_login, links))}")
        self.links = tuple(links)


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
        outlooks: the facts about the modules.
    """

    def __init__(
        self, task: Task, request: ModulesRequest, observed: ObservedModules, runner: MigrationRunner
    ) -> None:
        self._task = task
        self._request = request
        self._observed = observed
        self._runner = runner
        policy = request.maintenance_policy
        windows = None if policy is None else parse_policy(policy, "maintenance_policy")
        self.outlooks = ModuleOutlooks(task.cluster, request, observed, windows, self._contained)
        self.overlay = DryRunCluster(task.cluster)
        if request.policy.refuse_unknown_fields:
            self.overlay.find_unknown_fields()
        self.changes = RehearsedChanges(self.overlay)
        # Deletions are rehearsed on the other overlay. There the operators are as they are now.
        upkeep = DryRunCluster(task.cluster)
        self._upkeep = (upkeep, RehearsedChanges(upkeep))
        self._missing: list[str] = []
        self._manifests: dict[str, ModuleManifest] = {}

    def plan(self) -> list[PlannedModule]:
        """What the run does with each module.

        Raises:
            MissingManifests: the plan needs manifests that are missing.
            LifecycleError: the cluster does not answer.
        """
        outlooks = self.outlooks.read()
        planned = [] if self._missing else hold_removals([self._plan(outlook) for outlook in outlooks])
        if self._missing:
            raise MissingManifests(list(dict.fromkeys(self._missing)))
        return planned

    def _contained(self, version: ModuleVersion, request: ModuleRequest | None) -> Sequence[InventoryEntry]:
        """The objects in the manifest of a version; none if it can't be read: the comparison says so."""
        try:
            component = self._read(version, self._link(version, request), request, None)
        except MissingManifest as missing:
            self._missing.append(missing.link)
        except LifecycleError:
            return ()
        else:
            return _as_inventory(component).entries
        return ()

    def _plan(self, outlook: ModuleOutlook) -> PlannedModule:
        name = outlook.facts.name
        request = self._request.find(name)
        before = self._observed.inventories.get(name)
        if outlook.klm is not None:
            return PlannedModule(outlook, decide_on_klm(outlook.facts, outlook.klm), request, before=before)
        planned = PlannedModule(outlook, decide(outlook.facts), request, before=before)
        if planned.decision.action not in LOOKED_AFTER and planned.decision.action != DELETE:
            return planned
        try:
            if planned.decision.action == DELETE:
                planned = replace(planned, approved=self._approved(planned, ()))
            return self._compared(planned)
        except UnknownObjects as error:
            return replace(planned, decision=ModuleDecision(REFUSE, ERROR, str(error)))
        except MissingManifest as missing:
            self._missing.append(missing.link)
        except LifecycleError as error:
            if planned.decision.action == DELETE:
                # Existing objects can be deleted without the manifest.
                return planned
            return replace(planned, problem=str(error))
        return planned

    def _approved(self, planned: PlannedModule, staying: Collection[Ref]) -> frozenset[str]:
        """The objects of an adopted module that a run may delete: see :attr:`PlannedModule.approved`.

        Args:
            planned: the module.
            staying: the objects that it has from then on.

        Raises:
            UnknownObjects: the manifest of the recorded version cannot be read.
        """
        before, record = self._observed.inventories.get(planned.name), planned.outlook.facts.record
        foreign = objects_of_others(before, self._observed.live, staying)
        if not foreign:
            return frozenset()
        installed = record.installed_version if record else ""
        module = self._observed.catalog.modules.get(planned.name)
        version = module.versions.get(installed) if module else None
        try:
            if version is None:
                raise LifecycleError(f"the catalog has no version {installed or '(none is recorded)'} of it")
            request = planned.request if version == self._version(planned) else None
            # Without the inventory, which would name a namespace that the manifest only refers to.
            refs = self._read(version, self._link(version, request), request, None).refs
        except MissingManifest:
            raise
        except LifecycleError as error:
            raise UnknownObjects(planned.name, foreign, str(error)) from error
        return frozenset(uid for ref, uid in foreign.items() if ref in refs)

    def _compared(self, planned: PlannedModule) -> PlannedModule:
        """The module with the changes of its objects."""
        version, action = self._version(planned), planned.decision.action
        if version is None:
            return planned
        planned = replace(planned, version=version)
        if action == ADOPT or (action == UPGRADE and planned.before is None):
            planned = self._with_adopted_inventory(planned, version)
        component = self._component(version, planned)
        if not planned.approved:
            planned = replace(planned, approved=self._approved(planned, component.refs))
        refuse_unknown_manager(planned, component.refs)
        planned = self._rehearsed(planned, component)
        return self._with_configuration(planned, component)

    def _rehearsed(self, planned: PlannedModule, component: DesiredComponent) -> PlannedModule:
        """The module with the changes of its objects and with the deletions of those that it drops."""
        overlay, changes = self._upkeep if planned.decision.action == DELETE else (self.overlay, self.changes)
        planned = replace(planned, component=component, scaling=self._scaling(planned.outlook, component))
        runner = module_migrations(self._runner, planned)
        rehearsal = MigrationRehearsal(self._task.cluster, overlay, runner, changes)
        deployment = ModuleDeployment(
            self.rehearsing_context(overlay), planned, component, rehearsal.rehearse
        )
        work = self._work(deployment)
        work.take_steps("apply")
        refs = {ref_of(obj): obj for obj in work.objects}
        done = changes.take(refs, [one.ref for one in work.applied.applied if one.replaced])
        removals = tuple(one for one in done if one.after is None)
        applied = tuple(one for one in done if one.after is not None)
        work.take_steps("post")
        blockers = work.migration_blockers(Phase.PRE)
        blockers += [refusal_blocker(component.name, refusal) for refusal in work.applied.refused]
        blockers += [*work.migration_blockers(Phase.POST), *work.narrow()]
        own_plan = work.plan(applied)
        blockers += self._loss_blockers(own_plan, work.known)
        blockers = with_advice(blockers, self._request.policy)
        [compared] = with_later_changes([own_plan], changes.take(), component.name)
        plan = self._without_own_deletions(planned, compared)
        problem = "; ".join(blocker.message for blocker in blockers)
        planned = replace(planned, plan=plan, wide=tuple(work.wide), problem=problem)
        if planned.changes_objects or not (problem or planned.outlook.is_as_left):
            planned = replace(planned, problem=deployment.version_problem())
        if planned.changes_objects:
            planned = replace(planned, removals=removals, problem="; ".join(deployment.problems))
        pruned = deployment.remove_dropped(self._dropped(planned, component.refs))
        notes = tuple(filter(None, (*pruned.warnings, pruned.error)))
        if notes and self._task.check_mode:
            # A run says itself what stays.
            planned = replace(planned, plan=replace(plan, warnings=(*plan.warnings, *notes)))
        return replace(planned, removals=(*planned.removals, *changes.take()))

    def _loss_blockers(self, plan: ComponentPlan, recorded: Mapping[Ref, InventoryEntry]) -> list[Blocker]:
        """Blockers for the values of their creators that adopted objects would lose."""
        policy = self._request.policy
        adoptions = lossy_adoptions(plan, recorded, policy)
        managed = by_manager(one.object for one in adoptions)
        alive = {one: refs for one, refs in managed.items() if is_active(self._task.cluster, one)}
        blockers = [Blocker(plan.name, coexistence_problem(one, refs)) for one, refs in alive.items()]
        return [*blockers, *loss_blockers(plan.name, adoptions, policy, alive)]

    def _work(self, deployment: ModuleDeployment) -> RehearsedWork:
        """The work on a module, rehearsed on an overlay."""
        planned, component = deployment.planned, deployment.component

        def origin_of(before: Inventory | None) -> Origin:
            return Origin(
                is_older=False,
                is_same=before is not None and component.digest == before.digest,
                is_limited_to_changes=not self._request.policy.takes_from_others,
            )

        work = RehearsedWork(self._work_context(deployment), component, origin_of)
        if planned.decision.action == DELETE:
            # Instances in the manifest are deleted first, and not created again.
            own = kinds_defined_by(filter(is_crd, component.objects))
            work.postponed = {kind_of(obj) for obj in component.objects if ref_of(obj)[:2] in own}
        return work

    def _without_own_deletions(self, planned: PlannedModule, plan: ComponentPlan) -> ComponentPlan:
        """The plan, without reports of missing objects if a deletion is cancelled that has deleted them."""
        is_back = planned.decision.takes_back
        findings = tuple(one for one in plan.findings if not is_back or one.manager or one.field)
        return replace(plan, findings=findings)

    def _dropped(self, planned: PlannedModule, refs: Collection[Ref]) -> list[InventoryEntry]:
        """What the module has and no longer wants (``refs`` are wanted)."""
        recorded = planned.before.entries if planned.before and not planned.problem else ()
        dropped = [entry for entry in recorded if entry.ref not in refs]
        if planned.changes_objects:
            return dropped
        # What stays for its contents was checked by the run that dropped it.
        return [entry for entry in dropped if entry.ref[:2] not in (CRD_KIND, NAMESPACE_KIND)]

    def _scaling(self, outlook: ModuleOutlook, component: DesiredComponent) -> ManagerScaling | None:
        """How to scale the manager back, if it was scaled to zero."""
        for manager in outlook.managers:
            live = manager.object
            if not manager.is_as_left and (live.get("spec") or {}).get("replicas") == 0:
                desired = next((obj for obj in component.objects if ref_of(obj) == ref_of(live)), None)
                if desired is not None and needs_scaling_back(live, desired, self.autoscaled):
                    return ManagerScaling(live, scaling_patch(live, desired))
        return None

    def _with_configuration(self, planned: PlannedModule, component: DesiredComponent) -> PlannedModule:
        """The module with its default configuration, if that is to be created or declined now."""
        target, decision, record = planned.outlook.target, planned.decision, planned.outlook.facts.record
        if target is None or target.version != decision.version or decision.action == DELETE:
            return planned
        desired = (planned.request.configuration if planned.request else None) or target.configuration
        is_forgotten = decision.takes_back and bool(record and record.deletes_configuration)
        creation = record.configuration_creation if record and not is_forgotten else ""
        is_new = decision.action in (INSTALL, ADOPT) or is_forgotten
        if not desired or not (creation == Creation.REQUESTED or (is_new and not creation)):
            return planned
        scope = with_own_kinds(scope_of(self.overlay), [Content(component.objects)])
        complete = complete_manifest(desired, component.namespace, scope)
        ref = ref_of(complete)
        if problem := object_problem(complete) or own_object_problem(ref):
            problem = f"its configuration is refused: {problem}. Correct the template, or set configuration"
            return replace(planned, problem="; ".join(filter(None, (planned.problem, problem))))
        is_adopted = decision.action == ADOPT and not creation
        if is_adopted and self._lives((ref.group, ref.kind)):
            return replace(planned, declined_configuration=complete)
        return replace(planned, configuration=complete)

    def _lives(self, kind: tuple[str, str]) -> bool:
        """Whether any namespace has an object of a kind.

        Raises:
            ClusterError: this can't be read.
        """
        return bool(read_living(self._task.cluster, [kind]))

    def _version(self, planned: PlannedModule) -> ModuleVersion | None:
        """The version whose manifest its objects are compared with."""
        target, number = planned.outlook.target, planned.decision.version
        if target is not None and target.version == number:
            return target
        module = self._observed.catalog.modules.get(planned.name)
        return module.versions.get(number) if module else None

    def _component(self, version: ModuleVersion, planned: PlannedModule) -> DesiredComponent:
        link = self._link(version, planned.request)
        source = self._source(link)
        before = planned.before
        is_adopted = planned.decision.action == ADOPT
        read = partial(self._read, version, link, planned.request, before, is_adopted=is_adopted)
        if before is not None and before.digest and before.details.get("source") == source:
            return unchanged_module(version, before, source, LazyObjects(lambda: read().objects))
        return read()

    def _read(
        self,
        version: ModuleVersion,
        link: str,
        request: ModuleRequest | None,
        before: Inventory | None,
        *,
        is_adopted: bool = False,
    ) -> DesiredComponent:
        if not link:
            raise LifecycleError(
                f"module {version.module} {version.version}: its template has no rawManifest, so its manifest"
                " is in an OCI registry. Set manifest to a file or a URL that has it"
            )
        if link not in self._manifests:
            text = self._task.materials.modules.manifest(link)
            most = limits_of(self._task.params).objects
            self._manifests[link] = read_manifest(text, without_login(link), namespace_of(version), most)
        manifest = self._manifests[link]
        recorded = before.refs if before else frozenset[Ref]()
        own = {ref.name for ref in recorded if ref[:2] == NAMESPACE_KIND}
        terms = ManifestTerms(
            scope_of(self.overlay),
            self._request.image_prefixes,
            self._request.pull_secret,
            self._namespaces - own,
            is_adopted=is_adopted,
            publish_namespace=self._request.publish_namespace,
        )
        component = desired_module(version, manifest.objects, self._source(link), terms)
        listed = replace(component.listed, needs=request.needs if request else ())
        return replace(component, warnings=manifest.warnings, listed=listed)

    def _link(self, version: ModuleVersion, request: ModuleRequest | None) -> str:
        return request.manifest if request is not None and request.manifest else version.manifest

    def _source(self, link: str) -> str:
        """The identity of a manifest in its applied form."""
        content = self._task.materials.modules.digest(link) or without_user(link)
        rewriting = (
            dict(self._request.image_prefixes),
            self._request.pull_secret,
            self._request.publish_namespace,
        )
        identity = content if not any(rewriting) else json.dumps([content, *rewriting], sort_keys=True)
        return hashlib.sha256(identity.encode()).hexdigest()

    @cached_property
    def _namespaces(self) -> frozenset[str]:
        """The namespaces that exist."""
        namespaces = self._task.cluster.list("v1", "Namespace", metadata_only=True).items
        return frozenset(obj["metadata"]["name"] for obj in namespaces)

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
        is_adopted = planned.decision.action == ADOPT
        component = self._read(running, link, planned.request, None, is_adopted=is_adopted)
        live = read_metadata(self._task.cluster, [_as_inventory(component)])
        before = adopted_inventory(component, live)
        return replace(planned, before=before, approved=frozenset(entry.uid for entry in before.entries))

    def context(self, cluster: Cluster, runner: MigrationRunner) -> ModuleContext:
        """What the work on modules shares on a cluster, with the migrations of the work."""
        return ModuleContext(
            cluster=cluster,
            policy=self._request.policy,
            migrate=runner.run,
            inventories=self._observed.inventories,
            watcher=Watcher(cluster),
            owner_kind=MODULE,
            timeout=self._request.timeout,
            request=self._request,
            migrations=runner,
            others=[entry for one in self._observed.others for entry in one.entries],
        )

    def rehearsing_context(self, overlay: Cluster) -> ModuleContext:
        """The same for a rehearsal on an overlay."""
        return replace(
            self.context(overlay, self._runner),
            is_recorded=False,
            is_rehearsal=True,
            cancelled=self._task.cancelled,
            out_of_grace=self._task.cancelled,
        )

    def _work_context(self, deployment: ModuleDeployment) -> WorkContext:
        planned, observed = deployment.planned, self._observed
        inventories = {name: one for name, one in observed.inventories.items() if name != planned.name}
        live: Mapping[Ref, Object] = observed.live
        if planned.before is not None:
            inventories[planned.name] = planned.before
            if planned.name not in observed.inventories:
                live = {**live, **read_metadata(self._task.cluster, [planned.before])}
        return replace(
            deployment.context,
            migrate=deployment.migrate,
            inventories=inventories,
            autoscaled=self.autoscaled,
            live=live,
        )

    @cached_property
    def autoscaled(self) -> frozenset[tuple[str, str, str]]:
        """The targets of the cluster's autoscalers."""
        return read_autoscaled(self._task.cluster)


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
