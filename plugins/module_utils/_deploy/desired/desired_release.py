# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a release's manifests to the objects for the server. Pure, given which kinds are namespaced."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass

from ..._cluster.cluster import Object, Ref, group_of, ref_of
from ..._cluster.fields.written_by import with_writer
from ..._cluster.kinds import NAMESPACE_KIND, is_of_kind
from ..._cluster.own_objects import own_manifest_problem, own_object_problem
from ..._components.component_inventory import deployed_as, listed_as
from ..._components.desired_component import (
    DesiredComponent,
    Scope,
    autoscaled_targets,
    complete_manifests,
    with_own_kinds,
)
from ..._objects.inventory.inventory import Inventory
from ..._objects.ownership.autoscaling import Target, is_autoscaler
from ..._release.lazy_objects import LazyObjects
from ..._release.manifests import objects_digest
from ..._release.model import FOUNDATION, ComponentEntry, Release


@dataclass(frozen=True)
class DesiredRelease:
    """A whole desired release, and its problems.

    Attributes:
        components: by name; the foundation first, then in the order of the release.
        entries: each component's entry in the component list.
        problems: objects that two components claim, or that two manifests describe.
        autoscaled: the targets of the release's autoscalers.
    """

    components: dict[str, DesiredComponent]
    entries: dict[str, ComponentEntry]
    problems: tuple[str, ...] = ()
    autoscaled: frozenset[Target] = frozenset()

    @property
    def providers(self) -> dict[str, str]:
        """The component that provides the kinds of an API group, by group; the first component counts."""
        return _providers(self.entries.values())


def desired_release(
    release: Release, served: Scope, skip: Mapping[str, Inventory] | None = None
) -> DesiredRelease:
    """Complete a rendered release.

    Args:
        release: what was read and rendered.
        served: the scope of a kind according to the cluster's discovery; the release's own CRDs are read too.
        skip: the records of unchanged components, from :func:`~.unchanged_components.read_release`; these are
            not completed again.
    """
    completion = _Completion(release, served, skip or {})
    foundation = completion.foundation()
    components = {FOUNDATION: foundation}
    components |= {entry.name: completion.component(entry) for entry in release.components}
    entries = {entry.name: entry for entry in (_foundation_entry(release), *release.components)}
    problems = [*completion.problems, *_own_objects(components.values())]
    return DesiredRelease(components, entries, tuple(problems), completion.scaled)


def _own_objects(components: Iterable[DesiredComponent]) -> Iterator[str]:
    """Objects of the collection itself. Of a release in files, its reader has named the files."""
    for component in components:
        # The references of an unchanged component are recorded, and others may write records.
        if not component.is_unchanged or any(map(own_object_problem, component.refs)):
            problems = filter(None, map(own_manifest_problem, component.objects))
            yield from (f"{problem}. Remove it from {component.name}" for problem in problems)


def _foundation_entry(release: Release) -> ComponentEntry:
    return ComponentEntry(FOUNDATION, release.default_namespace, prerequisite=True)


class _Completion:
    """The completion of a release, component after component in its order; the foundation is first.

    Attributes:
        problems: objects that two components claim or two manifests describe, so far.
        scaled: the targets of the autoscalers of the components that are read.
    """

    def __init__(self, release: Release, served: Scope, unchanged: Mapping[str, Inventory]) -> None:
        self.problems: list[str] = []
        self._release = release
        self._unchanged = unchanged
        looked_at = [entry for entry in release.components if entry.name not in unchanged]
        self.scaled = _autoscaled(release, looked_at)
        contents = [release.content[entry.name] for entry in looked_at]
        crds = [] if FOUNDATION in unchanged else [release.crds]
        self._namespaced = _with_provided(
            with_own_kinds(served, [*contents, *crds]), _providers(release.components)
        )
        self._owners = {ref: name for name, one in unchanged.items() for ref in one.refs}

    def foundation(self) -> DesiredComponent:
        """The namespaces and CRDs of the release."""
        entry = _foundation_entry(self._release)
        if FOUNDATION in self._unchanged:
            return self._unchanged_component(entry)
        objects = _foundation(self._release, self._namespaced)
        self.problems += self._in_two_forms()
        refs = frozenset(map(ref_of, objects))
        self._owners = {**dict.fromkeys(refs, FOUNDATION), **self._owners}
        hooks, source = self._release.crds.hooks, foundation_source(self._release)
        return DesiredComponent(
            entry.name,
            entry.namespace,
            objects,
            objects_digest(objects),
            refs,
            hooks,
            source=source,
            listed=listed_as(entry),
        )

    def component(self, entry: ComponentEntry) -> DesiredComponent:
        """The objects of a component, without those of earlier components."""
        if entry.name in self._unchanged:
            return self._unchanged_component(entry)
        objects: list[Object] = []
        warnings: list[str] = []
        content = self._release.content[entry.name]
        for obj in _complete(content.objects, entry.namespace, self._namespaced, self.scaled):
            ref = ref_of(obj)
            owner = self._owners.get(ref)
            if owner is None:
                self._owners[ref] = entry.name
                objects.append(obj)
            elif owner != FOUNDATION:
                self.problems.append(self._claimed_twice(ref, owner, entry.name))
            elif not is_of_kind(ref, NAMESPACE_KIND):
                warnings.append(
                    f"{ref} is among the release's CRDs already; the component's copy is left out"
                )
        return DesiredComponent(
            entry.name,
            entry.namespace,
            objects,
            objects_digest(objects),
            frozenset(map(ref_of, objects)),
            content.hooks,
            tuple(warnings),
            content.source_hash,
            listed_as(entry),
            entry.timeout,
        )

    def _in_two_forms(self) -> Iterator[str]:
        """Objects of the foundation with two manifests that differ."""
        crds: dict[Ref, Object] = {}
        for obj in self._release.crds.objects:
            if crds.setdefault(ref_of(obj), obj) != obj:
                yield f"{ref_of(obj)} stands twice among the release's CRDs, not alike: leave one of them out"
        bringers: dict[str, tuple[str, Object]] = {}
        for name, obj in _brought_namespaces(self._release):
            first, known = bringers.setdefault(obj["metadata"]["name"], (name, obj))
            if known != obj:
                yield self._claimed_twice(ref_of(obj), first, name)

    def _claimed_twice(self, ref: Ref, owner: str, name: str) -> str:
        if owner == name:
            return f"{ref} stands twice in {name}: leave one of them out"
        both = [one.name for one in self._release.components if one.name in (owner, name)]
        return f"{ref} is part of both {' and '.join(both)}: leave it out of one of them"

    def _unchanged_component(self, entry: ComponentEntry) -> DesiredComponent:
        """An unparsed component; its readers get the recorded objects, in the release's order."""
        inventory = self._unchanged[entry.name]
        return DesiredComponent(
            entry.name,
            entry.namespace,
            LazyObjects(lambda: self._objects_of_unchanged(entry)),
            inventory.digest,
            inventory.refs,
            listed=listed_as(entry),
            timeout=entry.timeout,
            source=deployed_as(inventory).source,
            is_unchanged=True,
        )

    def _objects_of_unchanged(self, entry: ComponentEntry) -> list[Object]:
        if entry.name == FOUNDATION:
            return _foundation(self._release, self._namespaced)
        scaled = _autoscaled(self._release, filter(self._may_scale, self._release.components))
        manifests = self._release.content[entry.name].objects
        objects = _complete(manifests, entry.namespace, self._namespaced, scaled)
        refs = self._unchanged[entry.name].refs
        return [obj for obj in objects if ref_of(obj) in refs]

    def _may_scale(self, entry: ComponentEntry) -> bool:
        recorded = self._unchanged.get(entry.name)
        return recorded is None or any(is_autoscaler(ref.kind) for ref in recorded.refs)


def _providers(entries: Iterable[ComponentEntry]) -> dict[str, str]:
    providers: dict[str, str] = {}
    for entry in entries:
        for group in entry.provides:
            providers.setdefault(group, entry.name)
    return providers


def _with_provided(namespaced: Scope, groups: Container[str]) -> Scope:
    """Treat kinds that a component installs as namespaced as long as their scope is unknown.

    Most are. A run completes the objects again when the server serves their kinds.
    """

    def scope(api_version: str, kind: str) -> bool | None:
        known = namespaced(api_version, kind)
        return True if known is None and group_of(api_version) in groups else known

    return scope


def _autoscaled(release: Release, entries: Iterable[ComponentEntry]) -> frozenset[Target]:
    """The targets of the release's autoscalers in some components."""
    return frozenset(
        target
        for entry in entries
        for target in autoscaled_targets(release.content[entry.name].objects, entry.namespace)
    )


def foundation_source(release: Release) -> str:
    """sha256 over all sources of the foundation, or empty if it cannot be computed."""
    makers = [content for content in release.content.values() if content.has_namespaces]
    sources = [release.crds.source_hash, *(content.source_hash for content in makers)]
    if not all(sources):
        return ""
    # A component may take another one's place in the order, and its namespace.
    places = [[entry.name, entry.namespace] for entry in release.components]
    made_of = [sources, places, release.default_namespace]
    return hashlib.sha256(json.dumps(made_of).encode()).hexdigest()


def _foundation(release: Release, namespaced: Scope) -> list[Object]:
    brought = {obj["metadata"]["name"]: obj for _name, obj in _brought_namespaces(release)}
    # A component's own manifest of its namespace counts, but is applied before everything in that namespace.
    namespaces = [
        brought.get(name) or {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        for name in _own_namespaces(release)
    ]
    # Several folders may contain the same definition.
    crds = {ref_of(obj): obj for obj in release.crds.objects}
    return _complete((*namespaces, *crds.values()), release.default_namespace, namespaced)


def _complete(
    manifests: Iterable[Object], namespace: str, namespaced: Scope, scaled: Container[Target] = ()
) -> list[Object]:
    return list(map(with_writer, complete_manifests(manifests, namespace, namespaced, scaled)))


def _own_namespaces(release: Release) -> list[str]:
    """The namespaces of components, except for the one that every cluster has."""
    names = dict.fromkeys(entry.namespace for entry in release.components)
    return [name for name in names if name != "default"]


def _brought_namespaces(release: Release) -> Iterator[tuple[str, Object]]:
    """The manifests of those namespaces, each with the component that contains it."""
    own = frozenset(_own_namespaces(release))
    for entry in release.components:
        content = release.content[entry.name]
        for obj in content.objects if content.has_namespaces else ():
            if is_of_kind(ref_of(obj), NAMESPACE_KIND) and obj["metadata"]["name"] in own:
                yield entry.name, obj
