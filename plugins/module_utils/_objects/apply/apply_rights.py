# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rights that are needed to apply and delete objects."""

from __future__ import annotations

from ..._cluster.cluster import Object, Ref, ref_of
from ..access.rights import CRDS, RBAC, Resources, Right, right_for
from ..health.status import is_always_current


def apply_rights(obj: Object, action: str, served: Resources) -> set[Right]:
    """The rights to apply one object and to wait for it.

    Args:
        obj: the wanted object.
        action: its change: ``create``, ``change``, ``replace``, or empty if there is none.
        served: returns the served resource of a kind.
    """
    resource = served(obj["apiVersion"], obj["kind"])
    if resource is None:
        return set()
    ref = ref_of(obj)
    verbs = {"get", "patch"}
    if action in ("create", "replace"):
        verbs.add("create")
    if action == "replace":
        verbs.add("delete")
    if not is_always_current(obj["apiVersion"], ref.kind):
        verbs |= {"list", "watch"}
    rights = {right_for(verb, resource, ref.namespace) for verb in verbs}
    # The next plan lists whole kinds, metadata only, to find changes.
    return rights | {right_for("list", resource, "")}


def delete_rights(api_version: str, ref: Ref, served: Resources) -> set[Right]:
    """The rights to delete one object."""
    resource = served(api_version, ref.kind)
    verbs = ["get", "delete"]
    if not is_always_current(api_version, ref.kind):
        # If it is not deleted at once, a watch waits for it.
        verbs += ["list", "watch"]
    return {right_for(verb, resource, ref.namespace) for verb in verbs} if resource else set()


def narrowing_rights(crd: Object) -> set[Right]:
    """The rights to rewrite all objects of a kind, and to read in which version they are stored."""
    spec = crd["spec"]
    rewriting = {Right(verb, spec["group"], spec["names"]["plural"]) for verb in ("get", "list", "patch")}
    return {Right("patch", CRDS, "customresourcedefinitions/status"), *rewriting}


def granting_rights(obj: Object) -> set[Right]:
    """The rights to write a role or a binding, for a user who lacks some of the rights that it grants.

    Source: Kubernetes, "Using RBAC authorization", privilege escalation prevention.
    """
    ref = ref_of(obj)
    if ref.group != RBAC:
        return set()
    if ref.kind.endswith("Binding"):
        # The server refuses a roleRef that is not a reference.
        role = reference if isinstance(reference := obj.get("roleRef"), dict) else {}
        resource = "clusterroles" if role.get("kind") == "ClusterRole" else "roles"
        return {Right("bind", RBAC, resource, ref.namespace, str(role.get("name") or ""))}
    return {Right("escalate", RBAC, f"{ref.kind.lower()}s", ref.namespace, ref.name)}
