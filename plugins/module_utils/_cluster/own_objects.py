# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The collection's own objects: neither releases, modules nor migrations may have them. Pure."""

from __future__ import annotations

from .cluster import FIELD_MANAGER, GROUP, Object, Ref, ref_of
from .kinds import API_SERVICE_KIND, CRD_KIND, NAMESPACE_KIND, SECRET_KIND

LIFECYCLE_NAMESPACE = "kyma-lifecycle"
"""The namespace of leases, and of the Secrets and ServiceAccounts of fences."""
ERRAND = "Errand"
"""The only kind of ours that users apply themselves."""
STORED_JOBS = ("OneOffJob", "ScheduledJob", "ContinuousJob")
"""The kinds of the definitions of stored jobs."""
APPROVALS = "approvals"
"""The resource that only approvers write."""
DENIAL_PREFIX = f"{FIELD_MANAGER}-deleting-"
"""The start of the name of what denies the creation of a module's resources while it is deleted."""
DEPLOYER = f"{FIELD_MANAGER}-deployer"
APPROVER = f"{FIELD_MANAGER}-approver"
RECORDS_VIEWER = f"{FIELD_MANAGER}-view"
ERRANDS_VIEWER = f"{FIELD_MANAGER}-errands-view"
ERRANDS_AUTHOR = f"{FIELD_MANAGER}-errands-author"
ERRANDS_ENGINE = f"{FIELD_MANAGER}-errands-engine"
JOB_STORE_VIEWER = f"{FIELD_MANAGER}-job-store-view"
JOB_STORE_MANAGER = f"{FIELD_MANAGER}-job-store"

_CLUSTER_ROLES = (
    *(DEPLOYER, APPROVER, RECORDS_VIEWER, ERRANDS_VIEWER, ERRANDS_AUTHOR, ERRANDS_ENGINE),
    *(JOB_STORE_VIEWER, JOB_STORE_MANAGER),
)
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
    may grant what only approvers have.
    """
    ref, type_ = ref_of(manifest), str(manifest.get("type"))
    if ref[:2] == SECRET_KIND and type_.startswith(f"{GROUP}/"):
        return f"{ref} belongs to the collection kyma.lifecycle itself: it is a record of the type {type_}"
    if ref.group == _RBAC and (_binds_approver(manifest) or _grants_approving(manifest)):
        return f"{ref} grants the right to approve a ring, which only an administrator may grant"
    return own_object_problem(ref)


def _binds_approver(manifest: Object) -> bool:
    """Whether a binding gives its subjects the role of approvers."""
    role = manifest.get("roleRef")
    return isinstance(role, dict) and role.get("name") == APPROVER


def _grants_approving(manifest: Object) -> bool:
    """Whether a role grants writes of approvals by name, unlike one that grants all kinds of all groups."""
    rules = manifest.get("rules")
    return isinstance(rules, list) and any(
        GROUP in _words(rule, "apiGroups")
        and _words(rule, "resources") & {APPROVALS, "*"}
        and _words(rule, "verbs") - {"get", "list", "watch"}
        for rule in rules
    )


def _words(rule: object, key: str) -> set[str]:
    """A list in a rule; empty if the rule has another shape, which the API server refuses."""
    words = rule.get(key) if isinstance(rule, dict) else None
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
