# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The available modules, with their versions and channels, and the choice of one. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from .._errors import LifecycleError
from .._text import suggestion
from .catalog_module import CatalogModule
from .documents import ReadDocument, SourcedDocument, read_document
from .module_documents import ModuleDocuments
from .module_version import ModuleVersion

__all__ = ("Catalog", "CatalogError", "CatalogModule", "SourcedDocument", "read_catalog")


class CatalogError(LifecycleError):
    """A module, channel or version that the catalog doesn't have, or has with errors."""


@dataclass(frozen=True)
class Catalog:
    """The modules that can be installed.

    Attributes:
        modules: by name.
        problems: the errors of a module's documents, by its name; errors without a module have the empty
            name. They concern no other module.
    """

    modules: Mapping[str, CatalogModule] = field(default_factory=dict)
    problems: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def choose(self, module: str, *, channel: str = "", version: str = "") -> ModuleVersion:
        """The version of a module to install.

        Args:
            module: its name.
            channel: the channel that the version is from.
            version: has precedence over a channel. Without either it is the mandatory version.

        Raises:
            CatalogError: the catalog lacks it; the message lists what the catalog has, and the errors of the
                module.
        """
        entry = self.modules.get(module)
        if entry is None:
            raise self._refusal(
                module, f"module {module}: it is not in the catalog. {self._other_modules(module)}"
            )
        target = version.removeprefix("v") or (
            self._version_of_channel(entry, channel) if channel else entry.mandatory
        )
        if not target:
            raise self._refusal(
                module, f"module {module}: neither a channel nor a version is wanted. {_offer(entry)}"
            )
        if target not in entry.versions:
            by_channel = f", which is channel {channel}'s" if channel and not version else ""
            raise self._refusal(
                module, f"module {module}: the catalog has no version {target}{by_channel}. {_offer(entry)}"
            )
        return entry.versions[target]

    def _version_of_channel(self, module: CatalogModule, channel: str) -> str:
        if channel not in module.channels:
            hint = _suggestion(channel, module.channels)
            raise self._refusal(
                module.name, f"module {module.name}: it has no channel {channel}. {hint}{_offer(module)}"
            )
        return module.channels[channel]

    def _other_modules(self, module: str) -> str:
        if not self.modules:
            return "The catalog has no module at all."
        return _suggestion(module, self.modules) + f"There are {', '.join(sorted(self.modules))}."

    def _refusal(self, module: str, message: str) -> CatalogError:
        """An error that lists the errors of the module's documents, or else those without a module."""
        problems = self.problems.get(module, () if module in self.modules else self.problems.get("", ()))
        faults = "".join(f"\n- {problem}" for problem in problems)
        return CatalogError(f"{message}\nFaults of the catalog:{faults}" if faults else message)


def read_catalog(documents: Iterable[SourcedDocument]) -> Catalog:
    """The modules that some documents describe; documents of other kinds are skipped.

    Equal templates in several places count as one. Two different templates of a version are an error of their
    module, and the catalog has neither.
    """
    by_module: dict[str, list[ReadDocument]] = {}
    for read in filter(None, map(read_document, documents)):
        by_module.setdefault(read.module, []).append(read)
    modules: dict[str, CatalogModule] = {}
    problems: dict[str, tuple[str, ...]] = {}
    for name, read_documents in sorted(by_module.items()):
        gathered = ModuleDocuments(name, read_documents)
        if name:
            modules[name] = gathered.module()
        if gathered.problems:
            problems[name] = tuple(dict.fromkeys(gathered.problems))
    return Catalog(modules, problems)


def _suggestion(name: str, names: Iterable[str]) -> str:
    return f"D{hint[1:]} " if (hint := suggestion(name, names)) else ""


def _offer(module: CatalogModule) -> str:
    versions = f"Versions: {', '.join(module.versions) or 'none'}."
    channels = ", ".join(f"{name} ({version})" for name, version in module.channels.items())
    return f"{versions} Channels: {channels or 'none'}."
