# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the API server asks an admission webhook, or a policy, about a request: pure, from its objects.

``matchConditions`` are not evaluated, and count as met: only the server knows what they yield.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..cluster import Object
from ..object_selectors import is_listed, is_met, selector_requirements

CONFIGURATION_KINDS = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
POLICY_KINDS = ("MutatingAdmissionPolicy", "ValidatingAdmissionPolicy")
BINDING_KINDS = tuple(f"{kind}Binding" for kind in POLICY_KINDS)
UNASKED_GROUPS = ("authentication.k8s.io", "authorization.k8s.io")
"""Groups whose requests no policy can intercept."""


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
    return _is_selected(webhook, request, namespace_labels) and any(
        _matches(rule, request, _versions(webhook, request)) for rule in webhook.get("rules") or ()
    )


def is_judged(
    policy: Object, binding: Object, request: AdmissionRequest, namespace_labels: Mapping[str, str]
) -> bool:
    """Whether the server applies a policy to a request because of a binding.

    Args:
        policy: a ValidatingAdmissionPolicy or a MutatingAdmissionPolicy.
        binding: one of its bindings.
        request: the request.
        namespace_labels: of the namespace of the request.
    """
    spec, bound = policy["spec"], binding["spec"]
    resources = (spec.get("matchConstraints") or {}, bound.get("matchResources") or {})
    return (
        request.group not in UNASKED_GROUPS
        and _may_deny(spec, bound, binding["kind"])
        and all(_includes(one, request, namespace_labels) for one in resources)
    )


def _may_deny(policy: Mapping[str, Any], binding: Mapping[str, Any], kind: str) -> bool:
    # A mutation can make a record worthless. While a parameter is missing, or an annotation can't be
    # evaluated, the server denies requests whatever the actions are.
    may_fail = is_fail_closed(policy) and (policy.get("paramKind") or policy.get("auditAnnotations"))
    return kind == BINDING_KINDS[0] or "Deny" in (binding.get("validationActions") or ()) or bool(may_fail)


def _includes(
    resources: Mapping[str, Any], request: AdmissionRequest, namespace_labels: Mapping[str, str]
) -> bool:
    """Whether the resources of a policy, or of a binding, include a request; without rules they are all."""
    versions, rules = _versions(resources, request), resources.get("resourceRules")
    return (
        _is_selected(resources, request, namespace_labels)
        and (not rules or any(_matches(rule, request, versions) for rule in rules))
        and not any(
            _matches(rule, request, versions) and (request.name or not rule.get("resourceNames"))
            for rule in resources.get("excludeResourceRules") or ()
        )
    )


def _versions(matching: Mapping[str, Any], request: AdmissionRequest) -> Collection[str]:
    return request.versions[:1] if matching.get("matchPolicy") == "Exact" else request.versions


def _is_selected(
    selecting: Mapping[str, Any], request: AdmissionRequest, namespace_labels: Mapping[str, str]
) -> bool:
    # A namespace selector never excludes objects without a namespace.
    is_there = not request.namespace or _selects(selecting.get("namespaceSelector"), namespace_labels)
    return is_there and _selects(selecting.get("objectSelector"), request.labels)


def fail_closed_webhooks(configuration: Object | None) -> dict[str, Mapping[str, Any]]:
    """The webhooks of a configuration that fail closed, by name, without what does not affect requests."""
    webhooks = ((configuration or {}).get("webhooks")) or ()
    return {
        str(one.get("name")): {**one, "clientConfig": without_bundle(one.get("clientConfig") or {})}
        for one in webhooks
        if is_fail_closed(one)
    }


def without_bundle(config: Mapping[str, Any]) -> dict[str, Any]:
    """How the API server calls another server, without the CA certificates, which controllers write."""
    return {key: value for key, value in config.items() if key != "caBundle"}


def _matches(rule: Mapping[str, Any], request: AdmissionRequest, versions: Collection[str]) -> bool:
    scope = "Namespaced" if request.namespace else "Cluster"
    return (
        is_listed(rule.get("operations"), request.operation)
        and is_listed(rule.get("apiGroups"), request.group)
        and is_listed(rule.get("apiVersions"), *versions)
        and _includes_resource(rule.get("resources") or (), request.resource)
        and (rule.get("scope") or "*") in ("*", scope)
        # Only rules of policies have names.
        and (not request.name or not (names := rule.get("resourceNames")) or request.name in names)
    )


def _includes_resource(listed: Collection[str], resource: str) -> bool:
    """Whether the resources of a rule include one, which may be a subresource."""
    main, _slash, subresource = resource.partition("/")
    # ``a/*`` includes ``a`` itself, and ``*`` no subresource.
    names = {resource, f"{main}/*", "*/*", f"*/{subresource}" if subresource else "*"}
    return not names.isdisjoint(listed)


def _selects(selector: Mapping[str, Any] | None, labels: Mapping[str, str | None]) -> bool:
    return all(
        is_met(one, labels) or (labels.get(one[0], "") is None and one[1] in ("In", "NotIn"))
        for one in selector_requirements(selector or {})
    )
