# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The custom resource of errands: its definition, the roles for it, and the rights that a run needs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from .._cluster.cluster import GROUP
from .._cluster.own_objects import ERRANDS_AUTHOR, ERRANDS_ENGINE, ERRANDS_VIEWER
from .._custom_resources.cluster_role import USER_FACING_ROLES, cluster_role, role_rights, role_rule
from .._custom_resources.installed_kinds import InstalledKinds
from .._custom_resources.resource_kind import ResourceKind
from .._jobs.pod_references import pod_references
from .._objects.access.rights import Right
from .._objects.access.roles import in_words
from .errand_model import KIND, Errand

PLURAL = "errands"
CRD_NAME = f"{PLURAL}.{GROUP}"

ERRAND_RESOURCE = ResourceKind(
    Errand,
    KIND,
    PLURAL,
    "kyerr",
    "A Job that runs on an event, whose files can become Secrets.",
    [
        ("Trigger", "string", ".spec.trigger.strategy"),
        ("Phase", "string", ".status.phase"),
        ("Run", "integer", ".status.run.number"),
        ("Reason", "string", ".status.run.outcome.reason"),
        ("Finished", "date", ".status.run.outcome.finished"),
        ("Age", "date", ".metadata.creationTimestamp"),
        # The last one, as it may be long.
        ("Message", "string", ".status.message"),
    ],
    is_namespaced=True,
    has_status=True,
    required=["spec"],
)

VIEWER_ROLE = cluster_role(
    ERRANDS_VIEWER,
    [role_rule(GROUP, [PLURAL], ["get", "list", "watch"])],
    USER_FACING_ROLES,
)
"""What all who may view a namespace get."""
AUTHOR_ROLE = cluster_role(
    ERRANDS_AUTHOR,
    [role_rule(GROUP, [PLURAL], ["get", "list", "watch", "create", "update", "patch", "delete"])],
)
"""For authors. Who has it creates pods in the namespace, with any ServiceAccount of it: so nobody gets it
without a binding."""
ENGINE_ROLE = cluster_role(
    ERRANDS_ENGINE,
    [
        role_rule(GROUP, [PLURAL], ["get", "list", "watch", "patch"]),
        role_rule(GROUP, [f"{PLURAL}/status"], ["patch"]),
        # What belongs to an errand blocks its foreground deletion. The admission plugin
        # OwnerReferencesPermissionEnforcement asks for this right.
        role_rule(GROUP, [f"{PLURAL}/finalizers"], ["update"]),
        # Patch: a Job beyond its deadline is stopped.
        role_rule("batch", ["jobs"], ["get", "list", "watch", "create", "patch", "delete"]),
        # Patch: a retained pod is given to the errand.
        role_rule("", ["pods"], ["get", "list", "watch", "patch", "delete"]),
        # Get: a WebSocket begins as a GET. It reads the output.
        role_rule("", ["pods/exec"], ["create", "get"]),
        role_rule("", ["configmaps"], ["get", "list", "watch"]),
        # Delete: versions beyond those to retain.
        role_rule("", ["secrets"], ["get", "list", "watch", "create", "patch", "delete"]),
        role_rule("", ["events"], ["create", "list"]),
        # A quota that grows starts what it has held up.
        role_rule("", ["resourcequotas"], ["get", "list", "watch"]),
        # Reads which versions of a Secret are in use. Volumes and their classes are in no namespace.
        role_rule(
            "",
            ["persistentvolumes", "podtemplates", "replicationcontrollers", "serviceaccounts"],
            ["list"],
        ),
        role_rule(
            "apps",
            ["controllerrevisions", "daemonsets", "deployments", "replicasets", "statefulsets"],
            ["list"],
        ),
        role_rule("batch", ["cronjobs"], ["list"]),
        role_rule("networking.k8s.io", ["ingresses"], ["list"]),
        role_rule("storage.k8s.io", ["storageclasses"], ["list"]),
    ],
)
"""For the engine and whoever reconciles errands."""

ROLES = (VIEWER_ROLE, AUTHOR_ROLE, ENGINE_ROLE)

ERRAND_KINDS = InstalledKinds(
    (ERRAND_RESOURCE,),
    ROLES,
    f"the definition {CRD_NAME}",
    "ansible-playbook kyma.lifecycle.reconcile_errands",
)
"""What is installed for errands."""

EXEC = "pods/exec"
_OF_EACH_RUN = (PLURAL, f"{PLURAL}/status", f"{PLURAL}/finalizers", "jobs", "pods")


def run_rights(errand: Errand) -> set[Right]:
    """The rights that a run of an errand needs in its namespace."""
    references = {one.kind for one in pod_references(errand.spec.pod_template)}
    needed: defaultdict[str, set[str]] = defaultdict(set)
    if "ConfigMap" in references:
        needed["configmaps"] = {"get", "list"}
    if "Secret" in references:
        needed["secrets"] = {"get", "list"}
    if "Secret" in references and errand.spec.reruns_on_change:
        # The key of the digests by which it notices a change.
        needed["secrets"] |= {"create"}
    if errand.spec.output.files:
        needed["secrets"] |= {"create", "get", "list", "patch"}
    if errand.spec.output.is_held:
        # A WebSocket begins as a GET. Servers from 1.35 on ask for the right to create, too (KEP-4006).
        needed[EXEC] = {"create", "get"}
    return {
        one
        for one in role_rights(ENGINE_ROLE, errand.key.namespace)
        if one.verb in needed.get(one.resource, ()) or (one.resource in _OF_EACH_RUN and one.verb != "watch")
    }


def watch_rights(namespaces: Collection[str]) -> set[Right]:
    """The rights without which an engine runs no errand in some namespaces; in all if there are none."""
    return {
        one
        for namespace in namespaces or [""]
        for one in role_rights(ENGINE_ROLE, namespace)
        if one.resource in _OF_EACH_RUN
        or (one.resource in ("configmaps", "secrets") and one.verb in ("list", "watch"))
    }


def run_rights_problem(errand: Errand, missing: Collection[Right]) -> str:
    """The rights that a run of an errand lacks, and what to do, for a message."""
    role = ENGINE_ROLE["metadata"]["name"]
    return (
        f"you may not run it in namespace {errand.key.namespace}; these rights are missing:"
        f" {'; '.join(in_words(missing))}. Have the ClusterRole {role} granted to you"
    )
