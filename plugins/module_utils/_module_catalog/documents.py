# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""ModuleTemplate and ModuleReleaseMeta documents to models, with all errors of each. Pure.

The fields are those of ``operator.kyma-project.io/v1beta2``. Older templates have the module's name in a
label, its version in an annotation or in the component descriptor, and their channel in the spec.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .._cluster.cluster import Object, group_of
from .._redaction import without_login, without_logins
from .._text import LONGEST_LINE, is_plain_line, one_line, shown_value
from .module_version import ModuleManager, ModuleVersion
from .restriction import BETA_LABEL, INTERNAL_LABEL, UNRESTRICTED, Restriction, is_enabled, selector_faults
from .semantic_version import parse_version

GROUP = "operator.kyma-project.io"
API_VERSION = f"{GROUP}/v1beta2"
TEMPLATE = "ModuleTemplate"
RELEASE_META = "ModuleReleaseMeta"
MODULE_NAME_LABEL = f"{GROUP}/module-name"
MODULE_VERSION_LABEL = f"{GROUP}/module-version"
"""An annotation in most templates that have it, in some a label."""
RAW_MANIFEST = "rawManifest"


class SourcedDocument(NamedTuple):
    """A document, and its origin in a form that people understand."""

    origin: str
    document: Object


@dataclass(frozen=True)
class Template:
    """The content of a ModuleTemplate.

    Attributes:
        version: the version of the module.
        channel: that the template assigns itself to, or empty.
        is_mandatory: whether every cluster has to have the module.
    """

    version: ModuleVersion
    channel: str
    is_mandatory: bool


@dataclass(frozen=True)
class ReleaseMeta:
    """The content of a ModuleReleaseMeta.

    Attributes:
        channels: the version of each.
        mandatory: the version that every cluster has to have, or empty.
        restriction: which clusters may have the module.
        origins: the places where it was found.
    """

    channels: tuple[tuple[str, str], ...] = ()
    mandatory: str = ""
    restriction: Restriction = UNRESTRICTED
    origins: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class ReadDocument:
    """A document that was read.

    Attributes:
        kind: ModuleTemplate or ModuleReleaseMeta.
        module: the module that it belongs to, or empty.
        content: None if it has errors.
        faults: sentences that name its origin.
    """

    kind: str
    module: str
    content: Template | ReleaseMeta | None
    faults: tuple[str, ...] = ()


def read_document(sourced: SourcedDocument) -> ReadDocument | None:
    """The content of a document about a module; None for other documents."""
    document = sourced.document
    kind, api_version = document.get("kind"), document.get("apiVersion")
    if kind not in (TEMPLATE, RELEASE_META) or group_of(str(api_version)) != GROUP:
        return None
    reader = _DocumentReader(sourced)
    if api_version != API_VERSION:
        reader.refuse(f"it is of {one_line(api_version)}, and only {API_VERSION} is read")
    module = reader.module_name()
    content: Template | ReleaseMeta = reader.template(module) if kind == TEMPLATE else reader.meta()
    return ReadDocument(kind, module, None if reader.faults else content, tuple(reader.faults))


class _DocumentReader:
    """Takes typed values out of one document, and collects its errors."""

    def __init__(self, sourced: SourcedDocument) -> None:
        self.faults: list[str] = []
        self._origin = sourced.origin
        self._document = sourced.document
        self._title = f"{sourced.document['kind']} at {sourced.origin}"
        self._metadata = self._mapping(sourced.document, "metadata")
        self._title = f"{sourced.document['kind']} {self._text(self._metadata, 'name')} at {sourced.origin}"
        self._spec = self._mapping(sourced.document, "spec")
        self._labels = self._mapping(self._metadata, "labels")

    def refuse(self, reason: str) -> None:
        self.faults.append(f"{self._title}: {reason}")

    def module_name(self) -> str:
        name = self._text(self._spec, "moduleName")
        if name:
            return name
        if self._document["kind"] == RELEASE_META:
            name = self._text(self._metadata, "name")
            other = "metadata.name"
        else:
            name = self._text(self._labels, MODULE_NAME_LABEL)
            other = f"the label {MODULE_NAME_LABEL}"
        if not name:
            self.refuse(f"it has neither spec.moduleName nor {other}, so it is of no module")
        return name

    def template(self, module: str) -> Template:
        spec = self._spec
        version = ModuleVersion(
            module=module,
            version=self._version(self._template_version(), "version"),
            manager=self._manager(),
            associated=self._associated(),
            configuration=self._configuration(),
            manifest=self._manifest(),
            requires_downtime=self._is_set(spec, "requiresDowntime"),
            restriction=Restriction(
                is_enabled(self._labels.get(BETA_LABEL)), is_enabled(self._labels.get(INTERNAL_LABEL))
            ),
            origins=(self._origin,),
            template=self._document,
        )
        return Template(version, self._text(spec, "channel"), self._is_set(spec, "mandatory"))

    def meta(self) -> ReleaseMeta:
        channels: dict[str, str] = {}
        for entry in self._entries(self._spec, "channels"):
            channel = self._text(entry, "channel")
            version = self._version(self._text(entry, "version"), f"version of channel {channel!r}")
            if not channel:
                self.refuse("a channel in spec.channels has no name")
            elif channels.setdefault(channel, version) != version:
                self.refuse(f"it has channel {channel} twice: in {channels[channel]} and in {version}")
        mandatory = self._mapping(self._spec, "mandatory")
        selector = self._spec.get("kymaSelector")
        if selector is not None:
            for fault in selector_faults(selector):
                self.refuse(f"spec.kymaSelector can't be decided: {one_line(fault)}")
        return ReleaseMeta(
            channels=tuple(sorted(channels.items())),
            mandatory=self._version(self._text(mandatory, "version"), "mandatory version")
            if mandatory
            else "",
            restriction=Restriction(
                self._is_set(self._spec, "beta"), self._is_set(self._spec, "internal"), selector
            ),
            origins=(self._origin,),
        )

    def _template_version(self) -> str:
        annotations = self._mapping(self._metadata, "annotations")
        component = self._mapping(self._mapping(self._spec, "descriptor"), "component")
        return (
            self._text(self._spec, "version")
            or self._text(self._labels, MODULE_VERSION_LABEL)
            or self._text(annotations, MODULE_VERSION_LABEL)
            or self._text(component, "version")
        )

    def _version(self, text: str, name: str) -> str:
        if not text:
            self.refuse(f"it has no {name}")
        elif parse_version(text) is None:
            self.refuse(f"its {name} is {_shown(text)}, which is no semantic version")
        return text.removeprefix("v")

    def _manager(self) -> ModuleManager | None:
        manager = self._mapping(self._spec, "manager")
        if not manager:
            return None
        group, version, kind, name = (
            self._text(manager, key) for key in ("group", "version", "kind", "name")
        )
        missing = [key for key, value in (("version", version), ("kind", kind), ("name", name)) if not value]
        if missing:
            self.refuse(f"its spec.manager has no {' and no '.join(missing)}")
        api_version = f"{group}/{version}" if group else version
        return ModuleManager(api_version, kind, self._text(manager, "namespace"), name)

    def _associated(self) -> tuple[tuple[str, str], ...]:
        kinds = set()
        for entry in self._entries(self._spec, "associatedResources"):
            if not self._text(entry, "kind"):
                self.refuse("an entry of spec.associatedResources has no kind")
            kinds.add((self._text(entry, "group"), self._text(entry, "kind")))
        return tuple(sorted(kinds))

    def _configuration(self) -> Object | None:
        data = self._mapping(self._spec, "data")
        if not data:
            return None
        name = self._text(self._mapping(data, "metadata"), "name")
        type_meta = {"apiVersion": self._text(data, "apiVersion"), "kind": self._text(data, "kind")}
        missing = [key for key, value in {**type_meta, "metadata.name": name}.items() if not value]
        if missing:
            self.refuse(f"its default configuration, spec.data, has no {' and no '.join(missing)}")
        return dict(data)

    def _manifest(self) -> str:
        links = {
            self._text(entry, "link")
            for entry in self._entries(self._spec, "resources")
            if self._text(entry, "name") == RAW_MANIFEST
        }
        if len(links) > 1:
            shown = " and ".join(sorted(map(without_login, links)))
            self.refuse(f"its spec.resources has {RAW_MANIFEST} twice: {shown}")
        return min(links, default="")

    def _mapping(self, parent: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        value = parent.get(key)
        if value is not None and not isinstance(value, Mapping):
            self.refuse(f"its {key} is no mapping")
        return value if isinstance(value, Mapping) else {}

    def _entries(self, parent: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
        values = parent.get(key) or []
        if not isinstance(values, list) or not all(isinstance(one, Mapping) for one in values):
            self.refuse(f"its {key} is no list of mappings")
            return []
        return values

    def _text(self, parent: Mapping[str, Any], key: str) -> str:
        value = parent.get(key)
        if value is not None and not isinstance(value, str):
            self.refuse(f"its {key} is {_shown(value)} to YAML, no text: put it in quotes")
        if not isinstance(value, str):
            return ""
        # Messages and records have these texts.
        if is_plain_line(value):
            return value
        self.refuse(f"its {key} is {_shown(value)}, and is no line of at most {LONGEST_LINE} characters")
        return ""

    def _is_set(self, parent: Mapping[str, Any], key: str) -> bool:
        value = parent.get(key)
        if value is not None and not isinstance(value, bool):
            self.refuse(f"its {key} is {_shown(value)}, and only true and false are allowed")
        return value is True


def _shown(value: Any) -> str:
    return shown_value(without_logins(value))
