# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the API server asks an admission webhook, or a policy, about a request: pure, from its objects.

``matchConditions`` are not evaluated, and count as met: only the server knows what they yield.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    """A request as admission sees it.

    Attributes:
        what: the request in words, for messages.
        operation: ``CREATE``, ``UPDATE`` or ``DELETE``.
        group, version, resource: of its object. The server serves no other version of it.
        namespace: of its object; empty if it is cluster-scoped.
        name: of its object, if it is always the same.
        labels: of its object; None for a value that differs from object to object.
        namespace_labels: of its namespace.
    """

    what: str
    operation: str
    group: str
    version: str
    resource: str
    namespace: str = ""
    name: str = ""
    labels: Mapping[str, str | None] = field(default_factory=dict)
    namespace_labels: Mapping[str, str | None] = field(default_factory=dict)


def is_fail_closed(webhook: Mapping[str, Any]) -> bool:
    """Whether requests fail while a webhook does not answer; the default of the API."""
    return webhook.get("failurePolicy") != "Ignore"


def is_called(webhook: Mapping[str, Any], request: AdmissionRequest) -> bool:
    """Whether the server calls a webhook for a request, as the documentation of its configuration says."""
    return bool(webhook.get("rules")) and _includes(webhook, request, webhook["rules"])


def is_judged(policy: Object, binding: Object, request: AdmissionRequest) -> bool:
    """Whether the server applies a policy, which may be a mutating one, to a request because of a binding."""
    spec, bound = policy["spec"], binding["spec"]
    both = (spec.get("matchConstraints") or {}, bound.get("matchResources") or {})
    return (
        request.group not in UNASKED_GROUPS
        and _may_deny(spec, bound, binding["kind"])
        and all(_includes(one, request, one.get("resourceRules")) for one in both)
    )


def _may_deny(policy: Mapping[str, Any], binding: Mapping[str, Any], kind: str) -> bool:
    # A mutation can make a record worthless. While a parameter is missing, or an annotation can't be
    # evaluated, the server denies requests whatever the actions are.
    may_fail = is_fail_closed(policy) and (policy.get("paramKind") or policy.get("auditAnnotations"))
    return kind == BINDING_KINDS[0] or "Deny" in (binding.get("validationActions") or ()) or bool(may_fail)


def _includes(
    where: Mapping[str, Any], request: AdmissionRequest, rules: Sequence[Mapping[str, Any]] | None
) -> bool:
    """Whether a webhook, or the resources of a policy or a binding, include a request.

    Args:
        where: has selectors, and rules that exclude requests.
        request: the request.
        rules: its other rules; without any, they include all requests.
    """
    # A namespace selector never excludes objects without a namespace.
    return (
        (not request.namespace or _selects(where.get("namespaceSelector"), request.namespace_labels))
        and _selects(where.get("objectSelector"), request.labels)
        and (not rules or any(_matches(rule, request) for rule in rules))
        and not any(
            _matches(rule, request) and (request.name or not rule.get("resourceNames"))
            for rule in where.get("excludeResourceRules") or ()
        )
    )


def fail_closed_webhooks(configuration: Object) -> dict[str, Mapping[str, Any]]:
    """The webhooks of a configuration that fail closed, by name."""
    return {str(one.get("name")): one for one in configuration.get("webhooks") or () if is_fail_closed(one)}


def _matches(rule: Mapping[str, Any], request: AdmissionRequest) -> bool:
    main, _slash, subresource = request.resource.partition("/")
    # ``a/*`` includes ``a`` itself, and ``*`` no subresource.
    resources = {request.resource, f"{main}/*", "*/*", f"*/{subresource}" if subresource else "*"}
    scope = "Namespaced" if request.namespace else "Cluster"
    return (
        is_listed(rule.get("operations"), request.operation)
        and is_listed(rule.get("apiGroups"), request.group)
        and is_listed(rule.get("apiVersions"), request.version)
        and not resources.isdisjoint(rule.get("resources") or ())
        and (rule.get("scope") or "*") in ("*", scope)
        # Only rules of policies have names.
        and (not request.name or not (names := rule.get("resourceNames")) or request.name in names)
    )


def _selects(selector: Mapping[str, Any] | None, labels: Mapping[str, str | None]) -> bool:
    return all(
        is_met(one, labels) or (labels.get(one[0], "") is None and one[1] in ("In", "NotIn"))
        for one in selector_requirements(selector or {})
    )
