# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks during a plan that no admission webhook prevents runs from writing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from ..._cluster.admission.matching import AdmissionRequest
from ..._cluster.cluster import Cluster, Object
from ..._cluster.errors import ClusterError, silent_webhook
from ..._components.component_plan import Blocker
from ..._objects.access.rights import Right, access_review
from ..._objects.apply.change import ObjectChange
from ..._runs.lease.lease import LIFECYCLE_NAMESPACE
from ..._runs.records.definitions import RecordKinds
from ..._threads import map_in_threads
from .critical_webhooks import (
    ACCESS_REVIEWS,
    NAME_LABEL,
    NEW_NAMESPACE_LABELS,
    critical_webhooks,
    existing_webhook_warning,
    new_critical_webhooks,
    new_webhook_problem,
    requests_of_runs,
    silent_webhook_problem,
)
from .own_webhooks import OwnWebhooks

_OPTION = "kyma_allow_webhooks"
_TRIAL = "webhook-check"
"""The name of an object that is created in a dry run."""


@dataclass(frozen=True)
class WebhookCheck:
    """A check of the webhooks of a cluster, and of those that a deployment adds or changes.

    Args:
        cluster: the live one. It gets dry runs only if it has critical webhooks.
        webhooks: reads their configurations.
        kinds: of the records that a run writes.
        allowed: the names of the webhooks that the user allows.
    """

    cluster: Cluster
    webhooks: OwnWebhooks
    kinds: RecordKinds
    allowed: Sequence[str]

    def new_blockers(self, changes: Sequence[tuple[str, ObjectChange]]) -> list[Blocker]:
        """Blockers for the webhooks that changes, each with its component, add or change."""
        critical = [
            (component, webhook)
            for component, change in changes
            for webhook in new_critical_webhooks([change], self._requests, self._labels, self.allowed)
        ]
        names = list(dict.fromkeys([*self.allowed, *(webhook.name for _component, webhook in critical)]))
        return [
            Blocker(component, new_webhook_problem(webhook, names, _OPTION))
            for component, webhook in critical
        ]

    def check_existing(self) -> tuple[list[Blocker], list[str]]:
        """Blockers for the existing webhooks that do not answer, and warnings about all others."""
        existing = [
            webhook
            for configuration in self.webhooks.configurations()
            for webhook in critical_webhooks(configuration, self._requests, self._labels)
        ]
        called = dict.fromkeys(request for webhook in existing for request in webhook.requests)
        trials = [ask for request in called for ask in self._trials(request)]
        silent = set(map_in_threads(_silent, trials))
        return (
            [Blocker("", silent_webhook_problem(one)) for one in existing if one.name in silent],
            [
                existing_webhook_warning(one)
                for one in existing
                if one.name not in silent and one.name not in self.allowed
            ],
        )

    @cached_property
    def _requests(self) -> tuple[AdmissionRequest, ...]:
        return requests_of_runs(self.kinds)

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
        place = {"namespace": request.namespace} if request.namespace else {}
        for example in self._examples(request):
            meta = {**place, "labels": example["metadata"].get("labels") or {}}
            trial = {**example, **kind, "metadata": {**meta, "name": _TRIAL}}
            name, uid = example["metadata"]["name"], example["metadata"].get("uid")
            named = (request.api_version, request.kind, name, request.namespace or None)
            if request.operation == "CREATE":
                yield partial(self.cluster.create, trial, dry_run=True)
            elif uid and request.operation == "UPDATE":
                yield partial(self.cluster.patch, *named, patch={}, dry_run=True)
            elif uid:
                yield partial(self.cluster.delete, *named, uid=uid, dry_run=True)

    def _examples(self, request: AdmissionRequest) -> list[Object]:
        try:
            if not request.namespace:
                labels = {key: value or _TRIAL for key, value in request.labels.items()}
                # No field of a record is required.
                empty: Object = {"metadata": {"name": _TRIAL, "labels": labels}}
                return self.cluster.list(request.api_version, request.kind).items[:1] or [empty]
            live = self.cluster.get(request.api_version, request.kind, request.name, request.namespace)
        except ClusterError:
            return []
        return [live or {"metadata": {"name": request.name}}]


def _silent(ask: Callable[[], Any]) -> str:
    """The name of the webhook that does not answer a request; empty if all do, or the request fails."""
    try:
        ask()
    except ClusterError as error:
        return silent_webhook(error)
    return ""
