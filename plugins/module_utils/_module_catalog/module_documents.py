# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The documents of one module, combined, with all of their errors. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from .catalog_module import CatalogModule
from .documents import RELEASE_META, ReadDocument, ReleaseMeta, Template
from .module_version import ModuleVersion
from .restriction import Restriction
from .semantic_version import SemanticVersion, parse_version

LATEST = "latest"
"""The channel of a module whose documents name no channel: its highest release.

Kyma's community modules are such.
"""
_FIELDS = {
    "manager": "manager",
    "associated": "associatedResources",
    "configuration": "data",
    "manifest": "resources",
    "requires_downtime": "requiresDowntime",
    "restriction": "labels",
}
"""Fields of a version, and their names in a template."""


class ModuleDocuments:
    """The documents of one module.

    Attributes:
        problems: the errors in them.
    """

    def __init__(self, name: str, documents: Sequence[ReadDocument]) -> None:
        self.problems = [fault for document in documents for fault in document.faults]
        self._name = name
        contents = [document.content for document in documents]
        self._templates = [one for one in contents if isinstance(one, Template)]
        self._metas = [one for one in contents if isinstance(one, ReleaseMeta)]
        self._has_faulty_meta = any(one.kind == RELEASE_META and one.content is None for one in documents)

    def module(self) -> CatalogModule:
        """The module; contradictions between documents are recorded as problems."""
        versions = self._versions()
        meta = self._meta()
        channels = dict(meta.channels) if meta else self._channels_of_templates() or self._latest()
        mandatory = (meta.mandatory if meta else "") or max(
            (one.version.version for one in self._templates if one.is_mandatory), key=_order, default=""
        )
        described = {one.version.version for one in self._templates}
        where = f" (ModuleReleaseMeta at {' and '.join(meta.origins)})" if meta else ""
        references = {f"channel {channel}": version for channel, version in channels.items()}
        for what, version in {**references, "the mandatory version": mandatory}.items():
            if version and version not in described:
                self.problems.append(f"{what} is {version}, which no ModuleTemplate describes{where}")
        return CatalogModule(
            self._name, versions, channels, mandatory, meta.restriction if meta else Restriction()
        )

    def _versions(self) -> Mapping[str, ModuleVersion]:
        by_version: dict[str, list[Template]] = {}
        for template in self._templates:
            by_version.setdefault(template.version.version, []).append(template)
        versions = {}
        for version in sorted(by_version, key=_order):
            first, *others = by_version[version]
            origins = _origins(one.version.origins for one in by_version[version])
            differences = {name for other in others for name in _differences(first, other)}
            if differences:
                self.problems.append(
                    f"version {version} has ModuleTemplates that differ in {', '.join(sorted(differences))}:"
                    f" {' and '.join(origins)}. Leave one in the catalog, or make them equal"
                )
            else:
                versions[version] = replace(first.version, origins=origins)
        return versions

    def _meta(self) -> ReleaseMeta | None:
        """The ModuleReleaseMeta, or None if there is none.

        If it can't be used, no cluster may have the module.
        """
        origins = _origins(meta.origins for meta in self._metas)
        if any(meta != self._metas[0] for meta in self._metas):
            self.problems.append(
                f"it has ModuleReleaseMetas that differ: {' and '.join(origins)}."
                " Leave one in the catalog, or make them equal"
            )
        elif not self._has_faulty_meta:
            return replace(self._metas[0], origins=origins) if self._metas else None
        return ReleaseMeta(restriction=Restriction(is_unreadable=True), origins=origins)

    def _channels_of_templates(self) -> dict[str, str]:
        by_channel: dict[str, dict[str, Template]] = {}
        for template in self._templates:
            if template.channel:
                by_channel.setdefault(template.channel, {})[template.version.version] = template
        for channel, templates in by_channel.items():
            if len(templates) > 1:
                listed = (
                    f"{version} ({' and '.join(one.version.origins)})" for version, one in templates.items()
                )
                self.problems.append(f"channel {channel} has several versions: {', '.join(listed)}")
        return {channel: min(one) for channel, one in sorted(by_channel.items()) if len(one) == 1}

    def _latest(self) -> dict[str, str]:
        """The channel of the highest release that a template describes, even one that can't be used."""
        releases = [
            one.version.version for one in self._templates if not _order(one.version.version)[0].pre_release
        ]
        return {LATEST: max(releases, key=_order)} if releases else {}


def _differences(one: Template, other: Template) -> Iterator[str]:
    for name, shown in _FIELDS.items():
        if getattr(one.version, name) != getattr(other.version, name):
            yield shown
    if one.is_mandatory != other.is_mandatory:
        yield "mandatory"


def _origins(origins: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(origin for some in origins for origin in some))


def _order(version: str) -> tuple[SemanticVersion, str]:
    """The place of a version among others; build metadata alone is ordered as text."""
    return parse_version(version) or SemanticVersion((0, 0, 0)), version
