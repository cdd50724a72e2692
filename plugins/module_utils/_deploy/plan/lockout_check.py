# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks during a plan that the API server will let later runs write."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from ..._cluster.admission.matching import BINDING_KINDS, AdmissionRequest
from ..._cluster.cluster import Cluster, Object, ref_of
from ..._cluster.errors import ClusterError, Invalid, silent_webhook
from ..._cluster.kinds import API_SERVICE_KIND
from ..._components.component_plan import Blocker
from ..._custom_resources.resource_kind import EXAMPLE_NAME, ResourceKind
from ..._errors import LifecycleError
from ..._objects.access.review import user_info
from ..._objects.access.rights import Right, access_review
from ..._objects.apply.change import ObjectChange
from ..._runs.lease.lease import LIFECYCLE_NAMESPACE
from ..._runs.records.definitions import RecordKinds
from ..._text import extra_variable, one_line
from ..._threads import map_in_threads
from .lockouts import (
    ADMISSION,
    AUTOMANAGED,
    FLOW_SCHEMA,
    LOCKING_KINDS,
    PARTNERS,
    PRIORITY_LEVEL,
    RunNeeds,
    assumed_partner,
    existing_lockout_warning,
    lockouts,
    new_lockout_problem,
    new_lockouts,
    silent_webhook_problem,
)
from .own_webhooks import OwnWebhooks
from .run_requests import ACCESS_REVIEWS, NAME_LABEL, NEW_NAMESPACE_LABELS, requests_of_runs

_OPTION = "kyma_allow_webhooks"


@dataclass(frozen=True)
class LockoutCheck:
    """A check of what locks out runs in a cluster, and of what a deployment adds or changes.

    Args:
        cluster: the live one. It gets dry runs only if it has something that could lock out.
        overlay: the cluster as the deployment would leave it.
        webhooks: reads their configurations.
        kinds: of the records that a run writes.
        allowed: the names of the webhooks, policies and other objects that the user allows.
    """

    cluster: Cluster
    overlay: Cluster
    webhooks: OwnWebhooks
    kinds: RecordKinds
    allowed: Sequence[str]

    def new_blockers(self, changes: Sequence[tuple[str, ObjectChange]]) -> list[Blocker]:
        """Blockers for what changes, each with its component, add or change."""
        components: dict[Any, str] = {}
        locking = [(name, one) for name, one in changes if one.ref[:2] in LOCKING_KINDS]
        for component, change in locking:
            components.setdefault(change.ref, component)
        if not locking:
            return []
        objects = [change.after for _name, change in locking if change.after is not None]
        live = {ref_of(one): one for one in self._partners(self.overlay, objects)}
        needs = self._needs_for(objects)
        additions = new_lockouts([change for _name, change in locking], live, needs, self.allowed)
        names = list(dict.fromkeys([*self.allowed, *(one.name for one in additions)]))
        return [
            Blocker(
                next(components[ref] for ref in one.parts if ref in components),
                new_lockout_problem(one, names, _OPTION),
            )
            for one in additions
        ]

    def check_existing(self) -> tuple[list[Blocker], list[str]]:
        """Blockers for the existing webhooks that do not answer, and warnings about all else that may."""
        bindings = [
            one for kind in BINDING_KINDS for one in self._list(self.cluster, (ADMISSION, kind)) or ()
        ]
        objects = [*self.webhooks.configurations(), *bindings, *self._partners(self.cluster, bindings)]
        existing = lockouts({ref_of(one): one for one in objects}, self._needs)
        called = dict.fromkeys(request for one in existing for request in one.requests)
        trials = [ask for request in called for ask in self._trials(request)]
        silent = set(map_in_threads(_silent, trials))
        return (
            [Blocker("", silent_webhook_problem(one)) for one in existing if one.name in silent],
            [
                existing_lockout_warning(one)
                for one in existing
                if one.name not in silent and one.name not in self.allowed
            ],
        )

    def _partners(self, cluster: Cluster, objects: Sequence[Object]) -> list[Object]:
        """The objects that give others their effect; the worst possible ones if they can't be read."""
        kinds = dict.fromkeys(ref_of(one)[:2] for one in objects)
        all_partners: list[Object] = []
        for kind in kinds:
            if kind not in PARTNERS:
                continue
            partners = self._list(cluster, PARTNERS[kind])
            if partners is None and PARTNERS[kind] not in kinds:
                partners = [assumed_partner(one) for one in objects if ref_of(one)[:2] == kind]
            all_partners += partners or ()
        return all_partners

    def _list(self, cluster: Cluster, kind: tuple[str, str]) -> list[Object] | None:
        """All objects of a kind; None if they can't be read."""
        try:
            served = cluster.served(*kind)
            return cluster.list(served[0].api_version, kind[1]).items if served else []
        except ClusterError:
            return None

    def _needs_for(self, objects: Sequence[Object]) -> RunNeeds:
        """What runs need, as far as these objects can prevent it."""
        kinds, needs = {ref_of(one)[:2] for one in objects}, self._needs
        if kinds & {FLOW_SCHEMA, PRIORITY_LEVEL}:
            info = user_info(self.cluster)
            needs = replace(needs, user=str(info.get("username") or ""), groups=info.get("groups") or ())
        if API_SERVICE_KIND in kinds:
            services = self._list(self.overlay, API_SERVICE_KIND) or ()
            own = [one["spec"] for one in services if AUTOMANAGED in (one["metadata"].get("labels") or {})]
            needs = replace(needs, server_groups=[one.get("group") or "" for one in own])
        return needs

    @cached_property
    def _needs(self) -> RunNeeds:
        return RunNeeds(requests_of_runs(self.kinds), self._labels)

    @cached_property
    def _records(self) -> dict[str, ResourceKind[Any]]:
        """The kinds of records that a run writes, by name."""
        return {one.kind: one for one in self.kinds.written}

    @cached_property
    def _labels(self) -> dict[str, str]:
        try:
            namespace = self.cluster.get("v1", "Namespace", LIFECYCLE_NAMESPACE)
        except ClusterError:
            namespace = None
        if namespace is None:
            return NEW_NAMESPACE_LABELS
        return {NAME_LABEL: LIFECYCLE_NAMESPACE, **(namespace["metadata"].get("labels") or {})}

    def _trials(self, request: AdmissionRequest) -> Iterator[Callable[[], Any]]:
        """Dry runs of a request; none if there is no object to try it with."""
        kind = {"apiVersion": request.api_version, "kind": request.kind}
        if request.what == ACCESS_REVIEWS:
            access_spec = access_review(Right("get", "", "namespaces"))["spec"]
            spec = {"namespace": "default"} if request.kind == "SelfSubjectRulesReview" else access_spec
            yield partial(self.cluster.create, {**kind, "metadata": {}, "spec": spec}, dry_run=True)
            return
        record = self._records.get(request.kind)
        if record is not None and request.operation == "CREATE":
            labels = {key: value or EXAMPLE_NAME for key, value in request.labels.items()}
            yield partial(self.cluster.create, record.example_object(labels), dry_run=True)
            return
        namespace_field = {"namespace": request.namespace} if request.namespace else {}
        for example in self._examples(request):
            meta = {**namespace_field, "labels": example["metadata"].get("labels") or {}}
            trial = {**example, **kind, "metadata": {**meta, "name": EXAMPLE_NAME}}
            name, uid = example["metadata"]["name"], example["metadata"].get("uid")
            named = (request.api_version, request.kind, name, request.namespace or None)
            if request.operation == "CREATE":
                yield partial(self.cluster.create, trial, dry_run=True)
            elif uid and request.operation == "UPDATE":
                subresource = request.resource.partition("/")[2]
                yield partial(self.cluster.patch, *named, patch={}, subresource=subresource, dry_run=True)
            elif uid:
                yield partial(self.cluster.delete, *named, uid=uid, dry_run=True)

    def _examples(self, request: AdmissionRequest) -> list[Object]:
        try:
            if not request.namespace:
                return self.cluster.list(request.api_version, request.kind).items[:1]
            live = self.cluster.get(request.api_version, request.kind, request.name, request.namespace)
        except ClusterError:
            return []
        return [live or {"metadata": {"name": request.name}}]


def _silent(ask: Callable[[], Any]) -> str:
    """The name of the webhook that does not answer a request; empty if all do, or the request fails.

    Raises:
        LifecycleError: the API server refuses the form of what was tried, so no webhook was called.
    """
    try:
        ask()
    except ClusterError as error:
        if isinstance(error, Invalid) and " is invalid: " in error.api_message:
            raise LifecycleError(
                f"cannot check the webhooks of the cluster: {one_line(error)}. This is a defect of"
                " kyma.lifecycle. Report it, or allow the webhooks by name:"
                f"\n    {extra_variable(_OPTION, ['NAME'])}"
            ) from error
        return silent_webhook(error)
    return ""
