# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the component list of a release, in the format that Kyma has always had."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ...module_utils._cluster.kinds import is_built_in
from ...module_utils._cluster.own_objects import LIFECYCLE_NAMESPACE
from ...module_utils._release.model import ComponentEntry
from ...module_utils._release.release_error import Problem, ReleaseError
from ...module_utils._release.yaml_documents import LocatedMapping
from .yaml_files import Key, SettingsReader, read_settings

DEFAULT_NAMESPACE = "kyma-system"
_RESERVED = {
    "global": "for values and migrations of the whole deployment",
    "crds": "the folder of what is established first",
    "foundation": "the namespaces and CRDs that are deployed before any component",
}
_ROLE = re.compile(r"\w[\w-]*(\.\w+)*", re.ASCII)
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_GROUP = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+")
_DURATION = re.compile(
    r"(?:(\d+(?:\.\d+)?)d)?(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s?)?"
)
_ENTRY_KEYS = {
    "name": Key("The name of the component.", _NAME, required=True),
    "namespace": Key("The namespace of its objects. By default it is `defaultNamespace`.", _NAME),
    "needs": Key("Components that must be healthy before this one is deployed.", _NAME, is_list=True),
    "timeout": Key(
        "How long it may take to become healthy, such as 600, 90s or 1h30m. The default is"
        " the role's timeout (kyma_component_timeout).",
        _DURATION,
    ),
    "source": Key("The folder or file of the release with its objects, in place of the places by its name."),
    "version": Key("Its version, for people: plans and records show it."),
    "role": Key("The Ansible role that deploys it, in place of `kyma.lifecycle.kyma_component`.", _ROLE),
    "provides": Key(
        "API groups whose CRDs it installs when it runs, without version and kind.", _GROUP, is_list=True
    ),
}
LIST_KEYS = {
    "defaultNamespace": Key(
        f"The namespace of components without one, by default {DEFAULT_NAMESPACE}.", _NAME
    ),
    "prerequisites": Key("Components that are deployed first, one after the other.", entries=_ENTRY_KEYS),
    "components": Key("Components that are deployed in parallel.", entries=_ENTRY_KEYS),
}
"""The keys of a component list."""
_NAMED = re.compile(r"^[^#\n]*?\bname[\"']?\s*:\s*[\"']?([a-z0-9][-a-z0-9]*)", re.MULTILINE)


@dataclass(frozen=True)
class ComponentList:
    """A component list as it was read: prerequisites first."""

    default_namespace: str = DEFAULT_NAMESPACE
    entries: tuple[ComponentEntry, ...] = ()


def read_component_list(text: str, file: str) -> tuple[ComponentList, tuple[Problem, ...]]:
    """The readable part of a component list, and all its errors.

    In a text that is no YAML only names can be read, as they are written.
    """
    try:
        settings = read_settings(text, file)
    except ReleaseError as error:
        names = dict.fromkeys(_NAMED.findall(text))
        named = tuple(ComponentEntry(name, DEFAULT_NAMESPACE) for name in names)
        return ComponentList(entries=named), error.problems
    reader = _ListReader(file)
    reader.only(settings, LIST_KEYS)
    namespace = reader.namespace(settings, "defaultNamespace") or DEFAULT_NAMESPACE
    entries = [
        entry for key in ("prerequisites", "components") for entry in reader.entries(settings, key, namespace)
    ]
    if not entries and not reader.problems:
        reader.refuse("the list has no components", settings.line)
    return ComponentList(namespace, tuple(entries)), tuple(reader.problems)


def seconds_of(duration: str) -> float | None:
    """Seconds of ``600``, ``90s``, ``1h30m`` or ``2d``; None for other texts, and if not positive."""
    match = _DURATION.fullmatch(duration)
    if not match:
        return None
    days, hours, minutes, seconds = (float(part or 0) for part in match.groups())
    return days * 86400 + hours * 3600 + minutes * 60 + seconds or None


def is_outside(path: str) -> bool:
    """Whether a path leads out of the folder that it starts from."""
    depth = 0
    for part in path.split("/"):
        depth += -1 if part == ".." else part not in ("", ".")
        if depth < 0:
            return True
    return path.startswith("/") or "://" in path


class _ListReader(SettingsReader):
    """Takes the entries out of a component list."""

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self._lines: dict[str, int] = {}

    def entries(self, settings: LocatedMapping, key: str, default_namespace: str) -> Iterator[ComponentEntry]:
        items = settings.get(key) or []
        if not isinstance(items, list):
            self.refuse(f"{key} must be a list", settings.line)
            return
        for position, item in enumerate(items, 1):
            if not isinstance(item, LocatedMapping):
                self.refuse(f"entry {position} of {key} must be a mapping with a name", settings.line)
                continue
            entry = self._entry(item, self._name(item), default_namespace, key == "prerequisites")
            if entry.name:
                yield entry

    def namespace(self, mapping: LocatedMapping, key: str) -> str:
        namespace = self.string(mapping, key)
        if namespace and not _NAME.fullmatch(namespace):
            self.refuse(f"{namespace!r} can't be a namespace's name", mapping.line)
        if namespace == LIFECYCLE_NAMESPACE:
            # A component creates its namespace.
            reason = "that belongs to the collection kyma.lifecycle itself"
            self.refuse(f"{key} is {namespace}, and {reason}. Use another one", mapping.line)
        return namespace

    def _entry(
        self, item: LocatedMapping, name: str, default_namespace: str, prerequisite: bool
    ) -> ComponentEntry:
        self.only(item, _ENTRY_KEYS)
        return ComponentEntry(
            name=name,
            namespace=self.namespace(item, "namespace") or default_namespace,
            prerequisite=prerequisite,
            needs=self.strings(item, "needs"),
            timeout=self._timeout(item),
            source=self._source(item),
            version=self.string(item, "version") or None,
            role=self._role(item),
            provides=self._provides(item),
        )

    def _name(self, item: LocatedMapping) -> str:
        """The name of an entry; empty for an invalid one, which is refused."""
        name = self.string(item, "name")
        problem = self._name_problem(name)
        if problem:
            self.refuse(problem, item.line)
            return ""
        self._lines[name] = item.line
        return name

    def _name_problem(self, name: str) -> str:
        if not name:
            return "a component needs a name"
        if not _NAME.fullmatch(name):
            return f"{name!r} can't be a component's name: it may have lower-case letters, digits and '-'"
        if name in _RESERVED:
            return f"no component can be called {name}: that is {_RESERVED[name]}"
        if name in self._lines:
            return f"the component {name} is there twice, first on line {self._lines[name]}"
        return ""

    def _timeout(self, item: LocatedMapping) -> float | None:
        text = self.string(item, "timeout")
        seconds = seconds_of(text)
        if text and seconds is None:
            self.refuse(f"the timeout {text!r} is neither seconds nor like 10m or 1h30m", item.line)
        return seconds

    def _role(self, item: LocatedMapping) -> str | None:
        role = self.string(item, "role")
        if role and not _ROLE.fullmatch(role):
            # Ansible takes a path for a role as well, and would run what is there.
            self.refuse(f"{role!r} can't be a role's name, such as acme.platform.telemetry", item.line)
        return role or None

    def _provides(self, item: LocatedMapping) -> tuple[str, ...]:
        groups = self.strings(item, "provides")
        for group in groups:
            if not _GROUP.fullmatch(group):
                self.refuse(
                    f"provides has {group!r}, which is no API group such as networking.istio.io: give it"
                    " without version and kind",
                    item.line,
                )
            elif is_built_in(group):
                self.refuse(f"provides has {group}, which every cluster serves: leave it out", item.line)
        return groups

    def _source(self, item: LocatedMapping) -> str | None:
        source = self.string(item, "source")
        if is_outside(source):
            self.refuse(f"the source {source!r} must be a path inside of the release", item.line)
        return source or None
