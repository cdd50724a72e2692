# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a user allows, and the marks that we leave on objects: the terms on which objects are written."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from ..._cluster.cluster import Ref
from ..._cluster.kinds import built_in_kinds

LAST_APPLIED = "lifecycle.kyma-project.io/last-applied"
"""Stores content written without server-side apply, so that fields dropped later can be removed."""

EVERYTHING = "all"
"""The entry of ``adopt_losses`` that allows it for each object."""

INTERACTIVE_MANAGERS = ("kubectl*", "k9s", "oc")
"""Patterns of the names of field managers that people use: fields of these are taken back."""


@dataclass(frozen=True)
class Policy:
    """What a user allows.

    Attributes:
        replace_immutable: what may be deleted and recreated when an immutable field changes; kinds, or single
            objects as ``Kind namespace/name``.
        force_conflicts: overwrite fields that other field managers own.
        interactive_managers: patterns of the names of field managers that fields are taken back from.
        strict_drift: remove what others have added to our objects.
        refuse_unknown_fields: refuse manifests with fields that the server does not know.
        takeover: write objects that other tools manage, and take over the fields of these tools.
        adopt_losses: what may lose values of its creator when it is adopted; objects as ``Kind
            namespace/name``, components, or ``all``.
        prune: delete components that the release lacks.
        prune_allow: what is pruned despite its kind; kinds, or single objects as ``Kind namespace/name``.
        allow_webhooks: the names of admission webhooks, policies and other objects that a release may bring
            although they can let the API server refuse what every run writes.
    """

    replace_immutable: tuple[str, ...] = ("Job",)
    force_conflicts: bool = False
    interactive_managers: tuple[str, ...] = INTERACTIVE_MANAGERS
    strict_drift: bool = False
    refuse_unknown_fields: bool = False
    takeover: bool = False
    adopt_losses: tuple[str, ...] = ()
    prune: bool = False
    prune_allow: tuple[str, ...] = ()
    allow_webhooks: tuple[str, ...] = ()

    @property
    def takes_from_others(self) -> bool:
        """Whether more is taken from others than the fields of people and of an object's makers."""
        return self.force_conflicts or self.strict_drift or self.takeover

    def may_take(self, ceded: Collection[str], added: Collection[str], holders: Iterable[str]) -> bool:
        """Whether fields of an object may be taken from their owners, see ``may_be_taken``."""
        return (
            bool(self.force_conflicts and ceded)
            or bool(self.strict_drift and added)
            or any(is_interactive(holder, self.interactive_managers) for holder in holders)
        )

    def may_recreate(self, ref: Ref) -> bool:
        """Whether an object may be deleted and recreated when an immutable field changes."""
        return is_allowed(ref, self.replace_immutable)

    def may_lose(self, ref: Ref, component: str) -> bool:
        """Whether an object of a component may lose values of its creator when it is adopted."""
        return not {EVERYTHING, component, str(ref)}.isdisjoint(self.adopt_losses)

    def problems(self) -> list[str]:
        """The entries of lists that can't allow anything, each in a sentence."""
        problems = [
            (option, problem)
            for option in ("replace_immutable", "prune_allow")
            for entry in getattr(self, option)
            if entry != "Job" and (problem := allowed_problem(entry))
        ]
        problems += [("adopt_losses", loss_problem(entry)) for entry in self.adopt_losses]
        return [f"{option} (kyma_{option}): {problem}" for option, problem in problems if problem]


def is_allowed(ref: Ref, allowed: Collection[str]) -> bool:
    """Whether a user allows an operation on an object: by its kind, or for this single object.

    Args:
        ref: of the object.
        allowed: kinds (``Namespace``), or single objects (``PersistentVolumeClaim ns/a``).
    """
    return ref.kind in allowed or str(ref) in allowed


_NAME = r"[^\s,/](?:[^,/]*[^\s,/])?"
_ALLOWED = re.compile(rf"(?P<kind>[A-Z]\w*)(?: (?P<name>{_NAME}(?P<is_namespaced>/{_NAME})?))?")


_COMPONENT = re.compile(r"[^\s,/]+")


def allowed_problem(entry: str) -> str:
    """Why an entry allows nothing, and its right form; empty if it is a kind or ``Kind namespace/name``."""
    match = _ALLOWED.fullmatch(entry)
    words = [word for word in re.split(r"[\s/]+", entry.partition(",")[0]) if word] or [""]
    plain = words[0].partition(".")[0].lower()
    for kind in built_in_kinds().values():
        resource = kind.resource
        if plain not in (resource.kind.lower(), resource.plural):
            continue
        fits = match and (not match["name"] or bool(match["is_namespaced"]) == resource.namespaced)
        if match and match["kind"] == resource.kind and fits:
            return ""
        names = ["namespace", *words[1:]][-2:] if resource.namespaced else words[-1:]
        form = f"{resource.kind} {'/'.join(names)}" if len(words) > 1 else resource.kind
        return f"{entry!r} is neither a kind nor an object of a kind: write {form!r}"
    if match:
        return ""
    return (
        f"{entry!r} is neither a kind nor an object of a kind: write a kind, such as 'StatefulSet', or an"
        " object, such as 'StatefulSet kyma-system/eventing-nats'"
    )


def loss_problem(entry: str) -> str:
    """Why an entry of ``adopt_losses`` allows nothing; empty if it may be an object, a component or all."""
    if not entry[:1].isupper() and _COMPONENT.fullmatch(entry):
        return ""
    if " " in entry:
        return allowed_problem(entry)
    return f"{entry!r} is no object, component or 'all': write an object like 'Secret kyma-system/tls'"


def is_interactive(manager: str, interactive: Iterable[str] = INTERACTIVE_MANAGERS) -> bool:
    """Whether a person uses a field manager, by patterns of such managers' names."""
    return any(fnmatchcase(manager, pattern) for pattern in interactive)
