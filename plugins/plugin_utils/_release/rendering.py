# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Turns the content of a component into objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...module_utils._release.manifests import ManifestCollection
from ...module_utils._release.model import ComponentEntry
from ...module_utils._release.release_error import ReleaseError
from .helm import may_vary, render_chart
from .kustomize import render_kustomization
from .layout import Chart, ComponentSource, Kustomization, Manifests
from .programs import Outputs, run_always
from .schema_references import foreign_schema_references
from .source import Source
from .user_values import UserValues


@dataclass(frozen=True)
class Renderer:
    """Renders the components of one release.

    Attributes:
        source: the place of the release.
        values: the user's values.
        api_versions: the kinds that the release's own CRDs will serve, for charts that ask.
        helm_binary: the helm binary.
        outputs: returns outputs of programs that are known.
    """

    source: Source
    values: UserValues
    api_versions: Sequence[str]
    helm_binary: str
    outputs: Outputs = run_always

    def render(
        self, entry: ComponentEntry, content: ComponentSource, source_hash: str = ""
    ) -> Callable[[], ManifestCollection]:
        """Run the program that renders a component; the returned function reads its objects.

        The two steps are separate, because programs run in parallel and reading in Python does not.

        Args:
            entry: of the component list.
            content: its place.
            source_hash: of its content; empty if unknown.
        """
        if isinstance(content, Manifests):
            return lambda: read_files(content.files, self.source, entry.namespace)
        try:
            if isinstance(content, Kustomization):
                text = render_kustomization(content.folder, self.source)
                return lambda: _read(text, self.source.show(content.folder), self._collection(entry))
            return self._chart(entry, content, source_hash)
        except ReleaseError as error:
            failed = ManifestCollection(problems=list(error.problems))
            return lambda: failed

    def _collection(self, entry: ComponentEntry) -> ManifestCollection:
        return ManifestCollection(namespace=entry.namespace, most=self.source.limits.objects)

    def _chart(
        self, entry: ComponentEntry, chart: Chart, source_hash: str
    ) -> Callable[[], ManifestCollection]:
        shown = self.source.show(chart.folder)
        private = self.source.private_copy(chart.folder)
        root = self.source.root if private == chart.folder else private
        if problems := foreign_schema_references(private, root, shown, self.source.limits):
            raise ReleaseError(problems)
        varies = may_vary(chart.folder)
        chart = Chart(private, tuple(private / file.relative_to(chart.folder) for file in chart.values))

        def rendering() -> Callable[[], ManifestCollection]:
            output = render_chart(
                chart,
                shown,
                component=entry.name,
                namespace=entry.namespace,
                values=self.values.for_component(entry.name),
                api_versions=self.api_versions,
                binary=self.helm_binary,
                limits=self.source.limits,
                source_hash="" if varies else source_hash,
                outputs=self.outputs,
            )
            return lambda: _read(output.text, shown, self._collection(entry), output.place)

        first = rendering()
        if not varies:
            return first
        second = rendering()

        def read() -> ManifestCollection:
            collected = first()
            collected.warnings += _varying(collected, second(), entry.name)
            return collected

        return read


def read_files(files: Iterable[Path], source: Source, namespace: str = "") -> ManifestCollection:
    """The objects of some files, in their order; the namespace is that of objects that name none."""
    collected = ManifestCollection(namespace=namespace, most=source.limits.objects)
    for file in files:
        shown = source.show(file)
        try:
            collected.add_text(source.text(file), shown)
        except ReleaseError as error:
            collected.problems += error.problems
    return collected


def _read(
    text: str,
    file: str,
    collected: ManifestCollection,
    place: Callable[[int], tuple[str, int]] | None = None,
) -> ManifestCollection:
    collected.add_text(text, file, place)
    return collected


def _varying(first: ManifestCollection, second: ManifestCollection, component: str) -> list[str]:
    """A warning for objects that differ at each rendering, such as random passwords."""
    names = [
        f"{one['kind']} {one['metadata']['name']}"
        for one, other in zip(first.objects, second.objects, strict=False)
        if one != other
    ]
    if not names:
        return []
    return [
        f"the chart of {component} gives new random values at each rendering to {', '.join(names)}: whenever "
        "the release or its values change, so do they; set them by values to keep them"
    ]
