# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rights that a run needs, and the roles that would grant them: pure.

The server's word for them is an access review (SelfSubjectAccessReview): a verb on a resource, in a namespace
or, where that is empty, in the whole cluster.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    GROUP,
    Object,
    Ref,
    Resource,
    group_of,
    ref_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.journal import JournalEntry
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.kinds import SECRET, is_a
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.definitions import DEFINITIONS, VIEWERS
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.health import always_current
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.lease import NAME, NAMESPACE

RBAC = "rbac.authorization.k8s.io"
_CRDS = "apiextensions.k8s.io"
_LEASES = "coordination.k8s.io"
_READ = ("get", "list", "watch")
GRANT_LABEL = f"{GROUP}/grants"
"""Marks roles that were printed here: they don't keep a namespace, and go with it."""
_REFUSAL = re.compile(
    r'User "(?:[^"\\]|\\.)*" cannot (?P<verb>\w+) resource "(?P<resource>[^"]+)" in API group'
    r' "(?P<group>[^"]*)"(?: in the namespace "(?P<namespace>[^"]+)")?'
)

Resources = Callable[[str, str], "Resource | None"]
"""What is served of a kind (apiVersion, kind), the release's own CRDs included."""


class Right(NamedTuple):
    """A verb on a resource: of one name or all, in one namespace or, where it is empty, in the cluster."""

    verb: str
    group: str
    resource: str
    namespace: str = ""
    name: str = ""

    def everywhere(self) -> Right:
        """The same in all namespaces."""
        return self._replace(namespace="")


class Subject(NamedTuple):
    """Who is to be granted something, as the server names the user."""

    user: str

    def as_subject(self) -> Object:
        """As a binding names it."""
        words = self.user.split(":")
        if words[:2] == ["system", "serviceaccount"] and len(words) == 4:
            return {"kind": "ServiceAccount", "namespace": words[2], "name": words[3]}
        return {"apiGroup": RBAC, "kind": "User", "name": self.user}


def records_rights() -> set[Right]:
    """What keeping our own records takes, on a cluster that never had them included."""
    found = {Right(verb, GROUP, resource) for resource in _OWN for verb in _READ}
    found |= {Right(verb, GROUP, resource) for resource in _OWN for verb in ("create", "patch")}
    found |= {Right("delete", GROUP, resource) for resource in ("inventories", "journalentries", "runs")}
    found |= {Right(verb, *one) for one in _BROUGHT for verb in ("get", "create", "patch")}
    return found


def records_deletion_rights() -> set[Right]:
    """What deleting our own records takes, once nothing is left that they would tell of."""
    found = {Right(verb, *one) for one in _BROUGHT for verb in ("get", "delete")}
    # Servers grant no list by name.
    return found | {Right(verb, *one[:2]) for one in _BROUGHT for verb in ("list", "watch")}


def diagnosis_rights() -> set[Right]:
    """What telling why something is not healthy takes. A plan does not ask for it: all goes on without."""
    return {Right("list", "", kind) for kind in ("pods", "persistentvolumeclaims", "events")}


def lease_rights() -> set[Right]:
    """What having the lease of a cluster takes, on one that never had it included."""
    found = {Right(verb, _LEASES, "leases", NAMESPACE, NAME) for verb in ("get", "patch")}
    # Servers grant no creation by name; that of what is applied they do.
    found |= {Right(verb, "", "namespaces", "", NAMESPACE) for verb in ("create", "patch")}
    return found | {Right("create", _LEASES, "leases", NAMESPACE)}


def lease_deletion_rights() -> set[Right]:
    """What leaving nothing of the lease takes: our namespace goes with it, where we have made it."""
    found = {Right("delete", _LEASES, "leases", NAMESPACE, NAME)}
    return found | {Right(verb, "", "namespaces", "", NAMESPACE) for verb in ("get", "delete")}


def writing(rights: Iterable[Right]) -> set[Right]:
    """Those of some rights that are about writing."""
    return {right for right in rights if right.verb not in _READ}


_OWN = ("installations", "inventories", "journalentries", "runs")
_BROUGHT = (
    *((_CRDS, "customresourcedefinitions", "", crd["metadata"]["name"]) for crd in DEFINITIONS),
    (RBAC, "clusterroles", "", VIEWERS["metadata"]["name"]),
)
"""What is brought to a cluster for our records: group, resource, namespace, name."""


def apply_rights(obj: Object, action: str, served: Resources) -> set[Right]:
    """What applying one object and waiting for it takes.

    Args:
        obj: the object as it is to be.
        action: what becomes of it: ``create``, ``change``, ``replace``, or empty where it stays as it is.
        served: what is served of its kind.
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
    if not always_current(obj["apiVersion"], ref.kind):
        verbs |= {"list", "watch"}
    found = {_right(verb, resource, ref.namespace) for verb in verbs}
    # The next plan lists whole kinds, metadata alone, to see what has become of them.
    return found | {_right("list", resource, "")}


def list_right(api_version: str, kind: str, served: Resources) -> set[Right]:
    """What looking at all objects of a kind takes."""
    resource = served(api_version, kind)
    return {_right("list", resource, "")} if resource else set()


def delete_rights(api_version: str, ref: Ref, served: Resources) -> set[Right]:
    """What deleting one object takes."""
    resource = served(api_version, ref.kind)
    verbs = ["get", "delete"]
    if not always_current(api_version, ref.kind):
        # What does not go at once is watched until it has gone.
        verbs += ["list", "watch"]
    return {_right(verb, resource, ref.namespace) for verb in verbs} if resource else set()


def undo_rights(entries: Iterable[JournalEntry], served: Resources) -> set[Right]:
    """What bringing back how objects were before these writes takes."""
    found: set[Right] = set()
    for entry in entries:
        resource = served(entry.api_version, entry.ref.kind)
        if resource:
            verbs = ("get", "create", "patch", "delete")
            found |= {_right(verb, resource, entry.ref.namespace) for verb in verbs}
    return found


def journal_rights(ref: Ref) -> set[Right]:
    """What keeping what an object was, before a migration writes it, takes beside our own records."""
    if not is_a(ref, SECRET):
        return set()
    # What a Secret was is kept in another one beside it.
    return {Right(verb, "", "secrets", ref.namespace) for verb in ("get", "create", "patch")}


def narrowing_rights(crd: Object) -> set[Right]:
    """What writing all objects of a kind anew takes, and telling in which version they are stored."""
    spec = crd["spec"]
    rewriting = {Right(verb, spec["group"], spec["names"]["plural"]) for verb in ("get", "list", "patch")}
    return {Right("patch", _CRDS, "customresourcedefinitions/status"), *rewriting}


def _right(verb: str, resource: Resource, namespace: str) -> Right:
    place = namespace if resource.namespaced else ""
    return Right(verb, group_of(resource.api_version), resource.plural, place)


def granting_rights(obj: Object) -> set[Right]:
    """What writing a role or a binding takes of whoever doesn't hold all the rights that it grants himself.

    Source: Kubernetes, "Using RBAC authorization", privilege escalation prevention.
    """
    ref = ref_of(obj)
    if ref.group != RBAC:
        return set()
    if ref.kind.endswith("Binding"):
        # What is no reference to a role is the server's to refuse.
        role = given if isinstance(given := obj.get("roleRef"), dict) else {}
        resource = "clusterroles" if role.get("kind") == "ClusterRole" else "roles"
        return {Right("bind", RBAC, resource, ref.namespace, str(role.get("name") or ""))}
    return {Right("escalate", RBAC, f"{ref.kind.lower()}s", ref.namespace, ref.name)}


def refused_right(message: str) -> Right | None:
    """The right that the server's authorizer said is missing, by its message; None for other messages."""
    found = _REFUSAL.search(message)
    if found is None:
        return None
    # To the authorizer a Namespace lies in itself.
    inside = found["namespace"] if (found["group"], found["resource"]) != ("", "namespaces") else ""
    return Right(found["verb"], found["group"], found["resource"], inside or "")


def is_escalation(message: str) -> bool:
    """Whether the server refuses a role as it grants more than its writer has."""
    return "attempting to grant RBAC permissions not currently held" in message


def rights_problem(user: str, missing: Collection[Right], grants: str, what: str = "deployment") -> str:
    """Which rights some work lacks, and the roles that grant them, for a message."""
    lines = [f"  {line}" for line in in_words(missing)]
    who = f"the user {user}" if user else "the user"
    return (
        f"{who} lacks rights that this {what} needs:\n"
        + "\n".join(lines)
        + "\n  Have somebody who may grant them apply this with `kubectl apply -f`, then run the playbook"
        f" again:\n\n{grants}"
    )


def in_words(rights: Iterable[Right]) -> list[str]:
    verbs: dict[tuple[str, str, str, str], set[str]] = {}
    for right in rights:
        verbs.setdefault((right.group, right.resource, right.namespace, right.name), set()).add(right.verb)
    names: dict[tuple[str, str], list[str]] = {}
    for (group, resource, namespace, name), needed in sorted(verbs.items()):
        what = f"{', '.join(sorted(needed))} {resource}{'.' if group else ''}{group}"
        names.setdefault((what, namespace), []).append(name)
    places: dict[tuple[str, str], list[str]] = {}
    for (what, namespace), named in names.items():
        which = f" ({', '.join(named)})" if all(named) else ""
        places.setdefault((what + which, "" if not namespace else "in"), []).append(namespace)
    return [
        f"{what} in {', '.join(namespaces)}" if scoped else f"{what} in the whole cluster"
        for (what, scoped), namespaces in places.items()
    ]


def granting_roles(missing: Collection[Right], subject: Subject, existing: Collection[str]) -> list[Object]:
    """The roles and bindings that grant rights: per namespace where it exists, else for the whole cluster.

    Their names tell their content, so that one never takes away what an earlier one granted.

    Args:
        missing: what to grant.
        subject: to whom.
        existing: the namespaces that are there, so that a role can be put into them.
    """
    by_place: dict[str, set[Right]] = {}
    for right in missing:
        by_place.setdefault(right.namespace if right.namespace in existing else "", set()).add(right)
    wide = {(right.verb, right.group, right.resource) for right in by_place.get("", ()) if not right.name}
    found: list[Object] = []
    for namespace, rights in sorted(by_place.items()):
        # What is granted of all, everywhere, is not granted again in a namespace, or by name.
        needed = [r for r in rights if not (namespace or r.name) or (r.verb, r.group, r.resource) not in wide]
        if needed:
            found += _role_and_binding(_rules(needed), namespace, subject)
    return found


def _role_and_binding(rules: Sequence[Object], namespace: str, subject: Subject) -> list[Object]:
    digest = hashlib.sha256(json.dumps([namespace, subject.user, rules]).encode()).hexdigest()[:8]
    kind = "Role" if namespace else "ClusterRole"
    place = {"namespace": namespace} if namespace else {}
    name = f"kyma-deployer-{digest}"

    def meta() -> Object:
        # Not shared: YAML would make an alias of the second one.
        return {"name": name, **place, "labels": {GRANT_LABEL: "deployer"}}

    return [
        {"apiVersion": f"{RBAC}/v1", "kind": kind, "metadata": meta(), "rules": list(rules)},
        {
            "apiVersion": f"{RBAC}/v1",
            "kind": f"{kind}Binding",
            "metadata": meta(),
            "roleRef": {"apiGroup": RBAC, "kind": kind, "name": name},
            "subjects": [subject.as_subject()],
        },
    ]


def _rules(rights: Iterable[Right]) -> list[Object]:
    """Rules that grant rights, as few as can be."""
    verbs: dict[tuple[str, str, str], set[str]] = {}
    for right in rights:
        verbs.setdefault((right.group, right.resource, right.name), set()).add(right.verb)
    whole: dict[tuple[str, tuple[str, ...]], set[str]] = {}
    single: dict[tuple[str, str, tuple[str, ...]], set[str]] = {}
    for (group, resource, name), needed in verbs.items():
        if name:
            single.setdefault((group, resource, tuple(sorted(needed))), set()).add(name)
        else:
            whole.setdefault((group, tuple(sorted(needed))), set()).add(resource)
    found: list[Object] = [
        {"apiGroups": [group], "resources": sorted(resources), "verbs": list(needed)}
        for (group, needed), resources in sorted(whole.items())
    ]
    return found + [
        {
            "apiGroups": [group],
            "resources": [resource],
            "verbs": list(needed),
            "resourceNames": sorted(names),
        }
        for (group, resource, needed), names in sorted(single.items())
    ]


def access_review(right: Right) -> Object:
    """The question to the server whether we have a right."""
    attributes: Mapping[str, Any] = right._asdict()
    return {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "metadata": {},
        "spec": {"resourceAttributes": {key: value for key, value in attributes.items() if value}},
    }


_REASONS = {
    "escalate": "The release has these roles, and they may grant more than whoever deploys it has.",
    "bind": "The release binds these roles, and they may grant more than whoever deploys it has.",
}
"""Why whoever deploys gets verbs that would let them take more rights than they were given."""


def roles_as_yaml(roles: Iterable[Object]) -> str:
    """Roles and bindings ready for ``kubectl apply -f``, with a reason beside each risky verb."""
    import yaml

    def dumped(value: Any) -> str:
        text: str = yaml.safe_dump(value, sort_keys=False, default_flow_style=None)
        return text

    lines: list[str] = []
    for role in roles:
        lines.append("---\n" + dumped({key: value for key, value in role.items() if key != "rules"}))
        lines += ["rules:\n"] if "rules" in role else []
        for rule in role.get("rules") or ():
            lines += [f"# {why}\n" for verb, why in _REASONS.items() if verb in rule["verbs"]]
            lines.append(dumped([rule]))
    return "".join(lines)
