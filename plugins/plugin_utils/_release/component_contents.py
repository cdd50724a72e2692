# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The contents of the components of a release, read and rendered as far as needed."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ...module_utils._cluster.cluster import Object
from ...module_utils._cluster.kinds import is_crd
from ...module_utils._release.limits import beyond_objects
from ...module_utils._release.manifests import ManifestCollection
from ...module_utils._release.model import ComponentEntry, Content, Release
from ...module_utils._release.release_error import release_error
from ...module_utils._threads import map_in_threads
from .helm import helm_version
from .layout import Chart, ComponentSource, Layout
from .problems import ProblemCollector
from .programs import Outputs, run_always
from .rendering import Renderer, read_files
from .source import Source
from .unread_content import unread_component, unread_files
from .user_values import UserValues

OnRead = Callable[[int, int], None]
"""Takes how many components are read, and how many there are to read."""


def ignore_count(_done: int, _total: int) -> None:
    """Report nothing."""


@dataclass(frozen=True)
class Contents:
    """Reads and renders the contents of components.

    Attributes:
        source: the place of the release.
        layout: of the release.
        helm_binary: the helm binary.
        findings: gets all problems and warnings.
        skip: sources of components that need not be read if they have not changed.
        earlier: the same release with the parts that were read before.
        on_read: called before and after the reading of each component, by several threads.
        outputs: returns outputs of programs that are known.
    """

    source: Source
    layout: Layout
    helm_binary: str
    findings: ProblemCollector
    skip: Mapping[str, str]
    earlier: Release | None
    on_read: OnRead = ignore_count
    outputs: Outputs = run_always

    def crds(self) -> Content:
        """The CRDs, read only if necessary."""
        if self.earlier is not None and self.earlier.crds.is_read:
            return self.earlier.crds
        unread = unread_files(self.layout.crd_files(), self.source.root, self.source.limits)
        return unread if self.skip else self.read_crds(unread)

    def read_crds(self, crds: Content) -> Content:
        """The CRDs, read."""
        if crds.is_read:
            return crds
        return self._read_content(read_files(self.layout.crd_files(), self.source), crds)

    def read_all(
        self,
        entries: Sequence[ComponentEntry],
        sources: Mapping[str, ComponentSource],
        values: UserValues,
        crds: Content,
    ) -> tuple[dict[str, Content], Content]:
        """Content by component, and the CRDs, which were read if a chart needs to know the served kinds."""
        contents = self._already_read(entries)
        rest = [entry for entry in entries if entry.name not in contents]
        unread = {
            entry.name: content
            for entry in rest
            if (content := self.findings.attempt(partial(self._unread, entry, sources, values, crds), None))
        }
        contents |= {
            name: one for name, one in unread.items() if self.skip.get(name) == one.source_hash != ""
        }
        rest = [entry for entry in rest if entry.name in unread and entry.name not in contents]
        served: Sequence[str] = ()
        if any(isinstance(sources[entry.name], Chart) for entry in rest):
            crds = self.read_crds(crds)
            served = served_by(crds.objects)
        renderer = self._renderer(values, served)
        if rest:
            self.on_read(0, len(rest))
        numbers = itertools.count(1)

        def render(entry: ComponentEntry) -> Callable[[], ManifestCollection]:
            reading = renderer.render(entry, sources[entry.name], unread[entry.name].source_hash)
            self.on_read(next(numbers), len(rest))
            return reading

        readings = map_in_threads(render, rest, threads=2 * (os.cpu_count() or 1))
        if rest:
            self.on_read(len(rest), len(rest))
        for entry, read in zip(rest, readings, strict=True):
            contents[entry.name] = self._read_content(read(), unread[entry.name])
        return contents, crds

    def read_one(self, entry: ComponentEntry, source: ComponentSource, values: UserValues) -> Content:
        """The content of one component, no matter what is known of it."""
        unread = Content((), is_read=False)
        served = served_by(self.read_crds(unread).objects) if isinstance(source, Chart) else ()
        return self._read_content(self._renderer(values, served).render(entry, source)(), unread)

    def _renderer(self, values: UserValues, served: Sequence[str]) -> Renderer:
        return Renderer(self.source, values, served, self.helm_binary, self.outputs)

    def _already_read(self, entries: Sequence[ComponentEntry]) -> dict[str, Content]:
        known = self.earlier.content if self.earlier is not None else {}
        return {e.name: known[e.name] for e in entries if e.name in known and known[e.name].is_read}

    def _unread(
        self, entry: ComponentEntry, sources: Mapping[str, ComponentSource], values: UserValues, crds: Content
    ) -> Content:
        return unread_component(
            entry,
            sources[entry.name],
            values=values.for_component(entry.name),
            crds=crds.source_hash,
            helm_version=lambda: helm_version(self.helm_binary, self.outputs),
            root=self.source.root,
            limits=self.source.limits,
        )

    def _read_content(self, collected: ManifestCollection, unread: Content) -> Content:
        self.findings.problems += collected.problems
        self.findings.warnings += collected.warnings
        self.findings.dumps |= collected.dumps
        self.findings.objects += len(collected.objects)
        if self.findings.objects > (most := self.source.limits.objects):
            raise release_error(f"the release has {beyond_objects(most)}", self.source.label)
        return replace(unread, objects=tuple(collected.objects), hooks=tuple(collected.hooks), is_read=True)


def served_by(objects: Iterable[Object]) -> list[str]:
    """The kinds that the CRDs among some objects will serve, in the form of Helm's ``--api-versions``."""
    return sorted(set(_served_by(objects)))


def _served_by(objects: Iterable[Object]) -> Iterator[str]:
    for crd in filter(is_crd, objects):
        spec = crd.get("spec") or {}
        for version in spec.get("versions") or ():
            if version.get("served"):
                yield f"{spec['group']}/{version['name']}"
                yield f"{spec['group']}/{version['name']}/{spec['names']['kind']}"
