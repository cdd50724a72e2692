# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Denies creating objects of a module's kinds while the module is being deleted.

A ValidatingAdmissionPolicy without parameters denies them (KEP-3488, Kubernetes 1.30). Updates and deletions
pass. The policy also denies one ConfigMap, which is only ever created in a dry run: if the server refuses it,
the policy is in force. An object of the module's own kinds could not show that, because the server always
refuses an object that lacks a required field.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from .._cluster.cluster import FIELD_MANAGER, MANAGED_BY, Cluster, Object, Ref
from .._cluster.errors import ClusterError, Forbidden, KindNotServed
from .._cluster.fields.written_by import is_written_by
from .._cluster.own_objects import DENIAL_PREFIX
from .._objects.access.rights import Right, refused_right

GROUP = "admissionregistration.k8s.io"
API_VERSION = f"{GROUP}/v1"
POLICY = "ValidatingAdmissionPolicy"
BINDING = "ValidatingAdmissionPolicyBinding"
PREFIX = DENIAL_PREFIX
PROBE_NAMESPACE = "default"
"""The namespace of the ConfigMap: it can't be deleted. RBAC can't grant a creation by name, and the right to
create any ConfigMap in kube-system would be too large."""
REFUSALS = 4
REFUSAL_PAUSE_SECONDS = 0.4
"""How often in a row the ConfigMap has to be refused, and the pause in between.

One refusal shows that one API server has the policy. Each server reads its policies again once a second
(policyRefreshInterval in k8s.io/apiserver, pkg/admission/plugin/policy/generic). A second after the first
refusal, the others have read it too, and some of the requests may have reached them.
"""


@dataclass(frozen=True)
class Denial:
    """The kinds of objects that may not be created while a module is being deleted.

    Attributes:
        module: its name.
        since: when its deletion began, RFC 3339.
        kinds: group and plural of each of its kinds, in any version.
        exempt: objects that may still be created: those of the manifest itself.
    """

    module: str
    since: str
    kinds: frozenset[tuple[str, str]]
    exempt: frozenset[Ref] = frozenset()

    @property
    def name(self) -> str:
        """The name of the policy and of its binding."""
        return PREFIX + self.module


def denial_objects(denial: Denial) -> list[Object]:
    """The policy and its binding."""
    rules = [
        {
            "apiGroups": [group],
            "apiVersions": ["*"],
            "operations": ["CREATE"],
            "resources": sorted(plural for one, plural in denial.kinds if one == group),
        }
        for group in sorted({group for group, _plural in denial.kinds})
    ]
    probed = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["configmaps"],
        "resourceNames": [_probe_name(denial)],
    }
    message = (
        f"module {denial.module} is being deleted by kyma.lifecycle since {denial.since}, so nothing new of"
        " its kinds can be created. To use the module again, run kyma.lifecycle.module for it with"
        " state: managed"
    )
    spec: Object = {
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": [*rules, probed]},
        # Without a reason the server answers 422, as it does for an invalid object.
        "validations": [{"expression": "false", "message": message, "reason": "Forbidden"}],
    }
    if denial.exempt:
        exempt = json.dumps(sorted(map(list, denial.exempt)))
        # An object whose name the server generates has no name yet; a cluster-scoped object has no namespace.
        created = (
            "[request.kind.group, request.kind.kind,"
            ' string(object.metadata.?namespace.orValue("")), string(object.metadata.?name.orValue(""))]'
        )
        spec["matchConditions"] = [{"name": "not-exempt", "expression": f"!({created} in {exempt})"}]
    return [
        _object(POLICY, denial.name, spec),
        _object(BINDING, denial.name, {"policyName": denial.name, "validationActions": ["Deny"]}),
    ]


def _object(kind: str, name: str, spec: Object) -> Object:
    metadata = {"name": name, "labels": {MANAGED_BY: FIELD_MANAGER}}
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": metadata, "spec": spec}


def _probe_name(denial: Denial) -> str:
    """The ConfigMap's name. It changes with the kinds: an older policy of the module must not deny it."""
    content = json.dumps([sorted(denial.kinds), sorted(denial.exempt)])
    return f"{denial.name}-{hashlib.sha256(content.encode()).hexdigest()[:8]}"


def impose(
    cluster: Cluster, denial: Denial, *, deadline: float, cancelled: Callable[[], bool] = lambda: False
) -> None:
    """Deny it, and return once the API server does. An older denial of the same module is updated.

    Args:
        cluster: the live one.
        denial: what to deny.
        deadline: when to give up, on the clock of ``time.monotonic()``.
        cancelled: whether to give up.

    Raises:
        ClusterError: it is not in force: the server lacks the kind or refuses an object, the time is up, or
            the run was cancelled. What was applied stays.
    """
    try:
        for obj in denial_objects(denial):
            cluster.apply(obj, force=True)
    except KindNotServed as error:
        raise ClusterError(
            f"{POLICY} {denial.name} could not be created, so module {denial.module} was not deleted:"
            f" {error}. Upgrade the cluster to Kubernetes 1.30 or newer, and run the playbook again"
        ) from error
    refusals = 0
    while (refusals := refusals + 1 if _is_denied(cluster, denial) else 0) < REFUSALS:
        if cancelled():
            raise ClusterError(f"the run was cancelled before {POLICY} {denial.name} was in force")
        if time.monotonic() >= deadline:
            raise ClusterError(_not_in_force(cluster, denial))
        time.sleep(REFUSAL_PAUSE_SECONDS)


def _is_denied(cluster: Cluster, denial: Denial) -> bool:
    """Whether the server refuses the ConfigMap by this policy."""
    probe = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": _probe_name(denial), "namespace": PROBE_NAMESPACE},
    }
    try:
        cluster.create(probe, dry_run=True)
    except Forbidden as refusal:
        if f"{POLICY} '{denial.name}'" in refusal.api_message:
            return True
        if refused_right(refusal.api_message):
            raise
        raise ClusterError(
            f"it is not known whether {POLICY} {denial.name} is in force, as something else refuses the dry"
            f" run that shows it: {refusal}. Allow ConfigMaps named {PREFIX}* in namespace"
            f" {PROBE_NAMESPACE}, and run the playbook again"
        ) from refusal
    return False


def _not_in_force(cluster: Cluster, denial: Denial) -> str:
    """Why the time was up, for a person."""
    policy = cluster.get(API_VERSION, POLICY, denial.name)
    checked = ((policy or {}).get("status") or {}).get("typeChecking") or {}
    warnings = [str(one.get("warning")) for one in checked.get("expressionWarnings") or ()]
    if policy is None:
        reason = "it was deleted meanwhile"
    elif warnings:
        reason = f"the server warns of its expressions: {'; '.join(warnings)}"
    else:
        reason = "the API server still accepts what it denies"
    kinds = "validatingadmissionpolicies,validatingadmissionpolicybindings"
    return (
        f"{POLICY} {denial.name} did not take effect in time: {reason}. Nothing of module {denial.module}"
        " was deleted, as new objects of its kinds could still appear. Find out why, and run the playbook"
        f" again: `kubectl get {kinds} {denial.name} -o yaml`"
    )


def lift(cluster: Cluster, module: str) -> list[str]:
    """End the denial; the kinds of the deleted objects. The API server follows within about a second.

    A policy or a binding of that name that others have written stays.
    """
    deleted = []
    with suppress(KindNotServed):
        for kind in (BINDING, POLICY):
            live = cluster.get(API_VERSION, kind, name := PREFIX + module)
            is_ours = live is not None and is_written_by(live["metadata"])
            if live and is_ours and cluster.delete(API_VERSION, kind, name, uid=live["metadata"]["uid"]):
                deleted.append(kind)
    return deleted


def rights_to_deny() -> set[Right]:
    """The rights to impose, lift and list denials. Only the ConfigMap's namespace can be given."""
    of_policies = ("get", "list", "create", "patch", "delete")
    of_bindings = ("get", "create", "patch", "delete")
    rights = {Right(verb, GROUP, "validatingadmissionpolicies") for verb in of_policies}
    rights |= {Right(verb, GROUP, "validatingadmissionpolicybindings") for verb in of_bindings}
    return rights | {Right("create", "", "configmaps", PROBE_NAMESPACE)}
