# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds what kustomize would load from outside the release."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...module_utils._release.release_error import Problem
from ...module_utils._release.yaml_documents import LocatedMapping, plain_text, read_documents
from .layout import KUSTOMIZATIONS
from .source import Source
from .yaml_files import read_settings

# Keys are compared in lower case, as kustomize ignores the case.
_PLUGINS = frozenset({"generators", "transformers", "validators"})
_BASES = frozenset({"resources", "bases", "components", *_PLUGINS})
"""What may name another kustomization: a folder, or a Git repository."""
_VALUES = frozenset({"annotations", "commonannotations", "literals", "sourcevalue", "value"})
"""What holds values of objects, which may well be URLs. Any other field may name a file, new ones too."""

_BY_HTTP = re.compile(r"https?:", re.IGNORECASE)
"""What kustomize gets by HTTP wherever it wants a file, whether or not there is a file of that name."""
_BY_GIT = re.compile(r"git::|ssh:|file:|[a-z][a-z0-9-]*@|github\.com[/:]", re.IGNORECASE)
"""What kustomize clones wherever it wants a folder, whether or not there is a folder of that name."""


def foreign_references(folder: Path, source: Source) -> list[Problem]:
    """References that lead out of the release: their targets may change while the release does not.

    Raises:
        ReleaseError: a file can't be read.
    """
    search = _Search(source)
    search.through(folder)
    return search.problems


@dataclass(frozen=True)
class _String:
    """A string in a file.

    Attributes:
        field: its path, e.g. ``patches.path``.
        text: its value.
        line: where the mapping with it begins.
    """

    field: str
    text: str
    line: int

    @property
    def key(self) -> str:
        """The last key of its path."""
        return self.field.rpartition(".")[2].lower()

    @property
    def is_gotten_by_http(self) -> bool:
        """Whether kustomize would load it by HTTP if it expects a file there."""
        # A generator may give its file another name: `name=file`.
        return bool(_BY_HTTP.match(self.text.rpartition("=")[2] if self.key == "files" else self.text))


def _strings(value: Any, field: str = "", line: int = 0) -> Iterator[_String]:
    """All strings of a file that may name something to load."""
    if isinstance(value, Mapping):
        line = value.line if isinstance(value, LocatedMapping) else line
        for key, item in value.items():
            if key.lower() not in _VALUES:
                yield from _strings(item, f"{field}.{key}".removeprefix("."), line)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item, field, line)
    elif isinstance(value, str):
        yield _String(field, value, line)


class _Search:
    """The search through a kustomization and its bases.

    Attributes:
        problems: found so far.
    """

    def __init__(self, source: Source) -> None:
        self.problems: list[Problem] = []
        self._source = source
        self._root = source.root.resolve()

    def through(self, folder: Path) -> None:
        """Check a kustomization and all that it refers to."""
        waiting, checked = [(folder, False)], set()
        while waiting:
            base = waiting.pop()
            if base not in checked:
                checked.add(base)
                waiting += self._bases_of(*base)

    def _bases_of(self, folder: Path, has_plugins: bool) -> Iterator[tuple[Path, bool]]:
        """The folders that a kustomization refers to, and whether their resources configure plugins."""
        file = next((folder / name for name in KUSTOMIZATIONS if (folder / name).is_file()), None)
        if file is None:
            return
        shown = self._source.show(file)
        for string in _strings(read_settings(self._source.text(file), shown)):
            if string.is_gotten_by_http:
                self._refuse(string, file)
            elif string.key in _PLUGINS and "\n" in string.text:
                self._check_plugins(string.text, file)
            elif string.key in _BASES:
                target = (folder / string.text).resolve()
                configures = has_plugins or string.key in _PLUGINS
                if _BY_GIT.match(string.text) or not target.exists() or not target.is_relative_to(self._root):
                    self._refuse(string, file)
                elif target.is_dir():
                    yield target, configures
                elif configures:
                    self._check_plugins(self._source.text(target), target)

    def _check_plugins(self, text: str, file: Path) -> None:
        """Check configurations of kustomize's own plugins, which load files as kustomizations do."""
        for document in read_documents(
            text, self._source.show(file), scalar=plain_text, mapping=LocatedMapping
        ):
            for one in _strings(document.value):
                if one.is_gotten_by_http:
                    self._refuse(one, file)

    def _refuse(self, string: _String, file: Path) -> None:
        message = f"{string.field}: {string.text!r} is not in the release: add a copy of it there"
        self.problems.append(Problem(message, self._source.show(file), string.line))
