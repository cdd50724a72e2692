# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the API server asks an admission webhook about a request: pure, from its configuration."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..cluster import Object
from ..object_selectors import is_listed, is_met, selector_requirements
from .match_conditions import is_excluded

CONFIGURATION_KINDS = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")


@dataclass(frozen=True)
class AdmissionRequest:
    """A request as admission webhooks see it.

    Attributes:
        what: the request in words, for messages.
        operation: ``CREATE``, ``UPDATE`` or ``DELETE``.
        group, resource, kind: of its object.
        versions: of its object, in which the server serves it; the request uses the first one.
        namespace: of its object; empty if it is cluster-scoped.
        name: of its object, if it is always the same.
        labels: of its object; None for a value that differs from object to object.
    """

    what: str
    operation: str
    group: str
    resource: str
    kind: str
    versions: tuple[str, ...]
    namespace: str = ""
    name: str = ""
    labels: Mapping[str, str | None] = field(default_factory=dict, hash=False)

    @property
    def api_version(self) -> str:
        """The apiVersion of its object."""
        return f"{self.group}/{self.versions[0]}"


def is_fail_closed(webhook: Mapping[str, Any]) -> bool:
    """Whether requests fail while a webhook does not answer; the default of the API."""
    return webhook.get("failurePolicy") != "Ignore"


def is_called(
    webhook: Mapping[str, Any], request: AdmissionRequest, namespace_labels: Mapping[str, str]
) -> bool:
    """Whether the server calls a webhook for a request, as the documentation of its configuration says.

    Args:
        webhook: one of a configuration.
        request: the request.
        namespace_labels: of the namespace of the request.
    """
    exact = webhook.get("matchPolicy") == "Exact"
    versions = request.versions[:1] if exact else request.versions
    return (
        any(_matches(rule, request, versions) for rule in webhook.get("rules") or ())
        # A namespace selector never excludes objects without a namespace.
        and (not request.namespace or _selects(webhook.get("namespaceSelector"), namespace_labels))
        and _selects(webhook.get("objectSelector"), request.labels)
        and not is_excluded(webhook.get("matchConditions") or (), _variables(request))
    )


def fail_closed_webhooks(configuration: Object | None) -> dict[str, Mapping[str, Any]]:
    """The webhooks of a configuration that fail closed, by name, without what does not affect requests."""
    webhooks = ((configuration or {}).get("webhooks")) or ()
    return {str(one.get("name")): _without_bundle(one) for one in webhooks if is_fail_closed(one)}


def _without_bundle(webhook: Mapping[str, Any]) -> Mapping[str, Any]:
    # Controllers write the bundle of CA certificates.
    client = {key: value for key, value in (webhook.get("clientConfig") or {}).items() if key != "caBundle"}
    return {**webhook, "clientConfig": client}


def _matches(rule: Mapping[str, Any], request: AdmissionRequest, versions: Collection[str]) -> bool:
    scope = "Namespaced" if request.namespace else "Cluster"
    return (
        is_listed(rule.get("operations"), request.operation)
        and is_listed(rule.get("apiGroups"), request.group)
        and is_listed(rule.get("apiVersions"), *versions)
        # ``a/*`` includes ``a`` itself.
        and is_listed(rule.get("resources"), "*/*", request.resource, f"{request.resource}/*")
        and (rule.get("scope") or "*") in ("*", scope)
    )


def _selects(selector: Mapping[str, Any] | None, labels: Mapping[str, str | None]) -> bool:
    return all(
        is_met(one, labels) or (labels.get(one[0], "") is None and one[1] in ("In", "NotIn"))
        for one in selector_requirements(selector or {})
    )


def _variables(request: AdmissionRequest) -> dict[str, Any]:
    """The variables of match conditions that are known; not the user, nor the content of the object."""
    named = {"namespace": request.namespace or None} | ({"name": request.name} if request.name else {})
    meta = {**named, "annotations": None, **({} if request.labels else {"labels": None})}
    obj = {"apiVersion": request.api_version, "kind": request.kind, "metadata": meta}
    served = {"group": request.group, "version": request.versions[0]}
    resource, kind = {**served, "resource": request.resource}, {**served, "kind": request.kind}
    known = {
        "operation": request.operation,
        **named,
        **dict.fromkeys(("subResource", "requestSubResource")),
        **dict.fromkeys(("resource", "requestResource"), resource),
        **dict.fromkeys(("kind", "requestKind"), kind),
    }
    # The server passes a null for the missing one.
    return {
        "request": known,
        "object": None if request.operation == "DELETE" else obj,
        "oldObject": None if request.operation == "CREATE" else obj,
    }
