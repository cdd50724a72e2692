# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The collection's own objects: neither releases, modules nor migrations may have them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._loose_json import mapping_of, mappings_in
from .cluster import FIELD_MANAGER, GROUP, Object, Ref, ref_of
from .kinds import API_SERVICE_KIND, CRD_KIND, NAMESPACE_KIND, SECRET_KIND

LIFECYCLE_NAMESPACE = "kyma-lifecycle"
"""The namespace of leases, and of the Secrets and ServiceAccounts of fences."""
ERRAND = "Errand"
"""The only kind of ours that users apply themselves."""
STORED_JOBS = ("OneOffJob", "ScheduledJob", "ContinuousJob")
"""The kinds of the definitions of stored jobs."""
APPROVALS = "kymaapprovals"
"""The resource that only approvers write."""
ENDED_BY = "no run can write until you have run"
"""What precedes the command that ends the refusal of our writes. The last lines of a playbook look for it."""
HOLDS = "kymaholds"
"""The resource that only those who hold clusters write."""
RECORDS = ("kymainstallations", "kymainventories", "kymajournalentries", "kymamodules", "kymaruns")
"""The resources that only the deployer writes."""
DENIAL_PREFIX = f"{FIELD_MANAGER}-deleting-"
"""The start of the name of what denies the creation of a module's resources while it is deleted."""
DEPLOYER = f"{FIELD_MANAGER}-deployer"
APPROVER = f"{FIELD_MANAGER}-approver"
HOLDER = f"{FIELD_MANAGER}-holder"
RECORDS_VIEWER = f"{FIELD_MANAGER}-view"
MODULES_VIEWER = f"{FIELD_MANAGER}-modules-view"
ERRANDS_VIEWER = f"{FIELD_MANAGER}-errands-view"
ERRANDS_AUTHOR = f"{FIELD_MANAGER}-errands-author"
ERRANDS_ENGINE = f"{FIELD_MANAGER}-errands-engine"
JOB_STORE_VIEWER = f"{FIELD_MANAGER}-job-store-view"
JOB_STORE_MANAGER = f"{FIELD_MANAGER}-job-store"

_CLUSTER_ROLES = (
    *(DEPLOYER, APPROVER, HOLDER, RECORDS_VIEWER, MODULES_VIEWER, ERRANDS_VIEWER, ERRANDS_AUTHOR),
    *(ERRANDS_ENGINE, JOB_STORE_VIEWER, JOB_STORE_MANAGER, f"{FIELD_MANAGER}-klm-client"),
)
_GRANTED = {APPROVER: (APPROVALS,), HOLDER: (HOLDS,), DEPLOYER: RECORDS}
"""The records that those whom a shipped role is bound to may write."""
_RBAC = "rbac.authorization.k8s.io"
_DENIALS = "admissionregistration.k8s.io"
_IN_OUR_NAMESPACE = (SECRET_KIND, ("", "ServiceAccount"), ("coordination.k8s.io", "Lease"))
"""Every account, because a deployment can choose the one of its fence."""


def own_object_problem(ref: Ref) -> str:
    """Why only this collection may write or delete an object, in a sentence; empty if others may, too.

    Args:
        ref: of the object, with its namespace. The version does not matter.
    """
    reason = _reason(ref)
    return f"{ref} belongs to the collection kyma.lifecycle itself: {reason}" if reason else ""


def own_manifest_problem(manifest: Object) -> str:
    """The same for a manifest, whose content counts too.

    The Secrets of journals are in any namespace; only their type shows them. A role or a binding of any name
    may grant what only approvers or the deployer have.
    """
    ref, type_ = ref_of(manifest), str(manifest.get("type"))
    if ref[:2] == SECRET_KIND and type_.startswith(f"{GROUP}/"):
        return f"{ref} belongs to the collection kyma.lifecycle itself: it is a record of the type {type_}"
    if ref.group == _RBAC and (granted := _written_by(manifest)):
        rights = {APPROVALS: "approve a ring", HOLDS: "hold the cluster"}
        right = next((rights[one] for one in rights if one in granted), "write the collection's records")
        return f"{ref} grants the right to {right}, which only an administrator may grant"
    return own_object_problem(ref)


def _written_by(manifest: Object) -> set[str]:
    """Our records that a role or a binding grants writes of, unless it is for all kinds of all groups."""
    role = str(mapping_of(manifest.get("roleRef")).get("name"))
    if role in _GRANTED:
        return set(_GRANTED[role])
    # Roles without labels are aggregated, too, such as that of approvers.
    selectors = mapping_of(manifest.get("aggregationRule")).get("clusterRoleSelectors")
    if any(map(_selects_unlabelled, mappings_in(selectors))):
        return {APPROVALS}
    return {name for rule in mappings_in(manifest.get("rules")) for name in _written_by_rule(rule)}


def _written_by_rule(rule: Mapping[str, Any]) -> set[str]:
    groups, verbs = _words(rule, "apiGroups"), _words(rule, "verbs")
    if not groups & {GROUP, "*"} or not verbs - {"get", "list", "watch"}:
        return set()
    resources = {resource.partition("/")[0] for resource in _words(rule, "resources")}
    ours = {APPROVALS, HOLDS, *RECORDS}
    return ours if "*" in resources and "*" not in groups else resources & ours


def _selects_unlabelled(selector: Mapping[str, Any]) -> bool:
    """Whether a label selector selects objects without labels."""
    expressions = mappings_in(selector.get("matchExpressions"))
    return not selector.get("matchLabels") and all(
        expression.get("operator") in ("NotIn", "DoesNotExist") for expression in expressions
    )


def _words(rule: Mapping[str, Any], key: str) -> set[str]:
    """A list in a rule; empty if the rule has another shape, which the API server refuses."""
    words = rule.get(key)
    return set(map(str, words)) if isinstance(words, list) else set()


def _reason(ref: Ref) -> str:
    group, kind, namespace, name = ref
    if group == GROUP:
        return _custom_resource_reason(kind, namespace)
    if ref[:2] in (CRD_KIND, API_SERVICE_KIND) and name.partition(".")[2] == GROUP:
        return f"it defines the API group {GROUP}, which only the collection's own tasks do"
    # The collection has no bindings: users bind its roles as they like. Without this one a run may not write.
    if group == _RBAC and (
        (kind == "ClusterRole" and name in _CLUSTER_ROLES)
        or (kind == "ClusterRoleBinding" and name == DEPLOYER)
    ):
        return "it grants rights on the collection's records"
    if group == _DENIALS and name.startswith(DENIAL_PREFIX):
        return "it protects the resources of a module that is being deleted"
    if ref[:2] == NAMESPACE_KIND and name == LIFECYCLE_NAMESPACE:
        return "it has the lease of the cluster, and the accounts of runs"
    if namespace == LIFECYCLE_NAMESPACE and ref[:2] in _IN_OUR_NAMESPACE:
        return f"the namespace {namespace} has the lease of the cluster, and the accounts and tokens of runs"
    return ""


def _custom_resource_reason(kind: str, namespace: str) -> str:
    if kind in STORED_JOBS:
        return "only the task kyma.lifecycle.stored_job writes stored jobs"
    if kind != ERRAND:
        return "it is a record, which only the collection's own tasks write"
    if namespace == LIFECYCLE_NAMESPACE:
        return f"no errand runs in the namespace {namespace}, which has the accounts and tokens of runs"
    return ""
