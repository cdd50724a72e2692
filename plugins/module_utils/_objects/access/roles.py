# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""ClusterRoles that grant the rights of a plan, as YAML to apply."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from ..._cluster.cluster import GROUP, Object
from .rights import RBAC, Right

GRANT_LABEL = f"{GROUP}/grants"
"""Marks roles that were printed here: they don't retain a namespace, and are deleted with it."""


class Subject(NamedTuple):
    """The user to grant something to, by the server's name."""

    user: str

    def as_subject(self) -> Object:
        """The subject as a binding names it."""
        words = self.user.split(":")
        if words[:2] == ["system", "serviceaccount"] and len(words) == 4:
            return {"kind": "ServiceAccount", "namespace": words[2], "name": words[3]}
        return {"apiGroup": RBAC, "kind": "User", "name": self.user}


def rights_problem(user: str, missing: Collection[Right], grants: str, what: str = "deployment") -> str:
    """The rights that some work lacks, and the roles that grant them, for a message."""
    lines = [f"  {line}" for line in in_words(missing)]
    subject = f"the user {user}" if user else "the user"
    return (
        f"{subject} lacks rights that this {what} needs:\n"
        + "\n".join(lines)
        + "\n  Ask an administrator to apply this with `kubectl apply -f -`, then run the playbook"
        f" again:\n\n{grants}"
    )


def in_words(rights: Iterable[Right]) -> list[str]:
    """Rights as lines for a message; those that differ only in their verb or name share a line."""
    verbs: dict[tuple[str, str, str, str], set[str]] = {}
    for right in rights:
        verbs.setdefault((right.group, right.resource, right.namespace, right.name), set()).add(right.verb)
    names: dict[tuple[str, str], list[str]] = {}
    for (group, resource, namespace, name), needed in sorted(verbs.items()):
        what = f"{', '.join(sorted(needed))} {resource}{'.' if group else ''}{group}"
        names.setdefault((what, namespace), []).append(name)
    places: dict[tuple[str, str], list[str]] = {}
    for (what, namespace), named in names.items():
        names_text = f" ({', '.join(named)})" if all(named) else ""
        places.setdefault((what + names_text, "" if not namespace else "in"), []).append(namespace)
    return [
        f"{what} in {', '.join(namespaces)}" if scoped else f"{what} in the whole cluster"
        for (what, scoped), namespaces in places.items()
    ]


def granting_roles(missing: Collection[Right], subject: Subject, existing: Collection[str]) -> list[Object]:
    """The roles and bindings that grant rights: per namespace if it exists, else for the whole cluster.

    Their names depend on their content, so that a later one never removes the rights of an earlier one.

    Args:
        missing: the rights to grant.
        subject: the user to grant them to.
        existing: the existing namespaces, in which a role can be created.
    """
    by_place: dict[str, set[Right]] = {}
    for right in missing:
        by_place.setdefault(right.namespace if right.namespace in existing else "", set()).add(right)
    wide = {(right.verb, right.group, right.resource) for right in by_place.get("", ()) if not right.name}
    roles: list[Object] = []
    for namespace, rights in sorted(by_place.items()):
        # A right on all names in all namespaces is not granted again in a namespace, or by name.
        needed = [r for r in rights if not (namespace or r.name) or (r.verb, r.group, r.resource) not in wide]
        if needed:
            roles += _role_and_binding(_rules(needed), namespace, subject)
    return roles


def _role_and_binding(rules: Sequence[Object], namespace: str, subject: Subject) -> list[Object]:
    digest = hashlib.sha256(json.dumps([namespace, subject.user, rules]).encode()).hexdigest()[:8]
    kind = "Role" if namespace else "ClusterRole"
    namespace_field = {"namespace": namespace} if namespace else {}
    name = f"kyma-deployer-{digest}"

    def meta() -> Object:
        # Not shared: YAML would write the second one as an alias.
        return {"name": name, **namespace_field, "labels": {GRANT_LABEL: "deployer"}}

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
    """The fewest rules that grant the rights."""
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
    rules: list[Object] = [
        {"apiGroups": [group], "resources": sorted(resources), "verbs": list(needed)}
        for (group, needed), resources in sorted(whole.items())
    ]
    return rules + [
        {
            "apiGroups": [group],
            "resources": [resource],
            "verbs": list(needed),
            "resourceNames": sorted(names),
        }
        for (group, resource, needed), names in sorted(single.items())
    ]


_REASONS = {
    "escalate": "The release has these roles, and they may grant more than the deployer has.",
    "bind": "The release binds these roles, and they may grant more than the deployer has.",
}
"""Why the deploying user gets verbs that would allow them to extend their own rights."""


def roles_as_yaml(roles: Iterable[Object]) -> str:
    """Roles and bindings for ``kubectl apply -f``, with a reason next to each risky verb."""
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
