# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the small files that people write: a component list, ``release.yaml``, a kustomization."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ...module_utils._release.release_error import Problem, ReleaseError, release_error
from ...module_utils._release.yaml_documents import LocatedMapping, plain_text, read_documents
from ...module_utils._text import suggestion

_ESCAPE = re.compile(r"\\(?:(u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|.)")


def read_text(path: Path, shown: str) -> str:
    """The text of a file.

    Raises:
        ReleaseError: it can't be read, or is not UTF-8.
    """
    try:
        return decode_text(path.read_bytes(), shown)
    except OSError as error:
        raise release_error(f"can't be read: {error.strerror}", shown) from error


def decode_text(content: bytes, shown: str) -> str:
    """The text of some bytes, without a byte order mark.

    Raises:
        ReleaseError: they are not UTF-8.
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise release_error(f"not UTF-8 text: {error.reason} at byte {error.start}", shown) from error


def read_settings(text: str, file: str) -> LocatedMapping:
    """The one mapping of a YAML or JSON file, whose scalars stay strings and whose keys are unique.

    Raises:
        ReleaseError: the file is something else.
    """
    as_yaml = _json_as_yaml(text) if file.endswith(".json") else text
    documents = read_documents(as_yaml, file, scalar=plain_text, mapping=LocatedMapping)
    if len(documents) != 1 or not isinstance(documents[0].value, LocatedMapping):
        raise release_error("one mapping is wanted here", file, documents[-1].line if documents else 1)
    if documents[0].duplicates:
        raise ReleaseError(
            Problem(f"the key {key!r} is there twice", file, line) for key, line in documents[0].duplicates
        )
    return documents[0].value


def _json_as_yaml(text: str) -> str:
    """JSON is YAML except for tabs, and for characters beyond 16 bits, which it escapes as two surrogates."""
    # Strings of JSON can't hold a bare tab: all of them are mere space.
    return _ESCAPE.sub(_whole_character, text.replace("\t", " "))


def _whole_character(escape: re.Match[str]) -> str:
    return str(json.loads(f'"{escape[0]}"')) if escape[1] else escape[0]


@dataclass(frozen=True)
class Key:
    """A key of a file that people write. The JSON schema of the file is generated from it.

    Attributes:
        meaning: a sentence.
        pattern: that a string has to match as a whole.
        is_list: whether it may be a list of such strings too.
        entries: the keys of each mapping in a list of mappings; None for strings.
        required: whether a mapping needs it.
    """

    meaning: str
    pattern: re.Pattern[str] | None = None
    is_list: bool = False
    entries: Mapping[str, Key] | None = None
    required: bool = False


class SettingsReader:
    """Reads typed values from a file's mappings, and collects their errors.

    Attributes:
        file: the file's name in messages.
        problems: found so far.
    """

    def __init__(self, file: str) -> None:
        self.file = file
        self.problems: list[Problem] = []

    def refuse(self, message: str, line: int) -> None:
        self.problems.append(Problem(message, self.file, line))

    def only(self, mapping: LocatedMapping, known: Mapping[str, Key]) -> None:
        """Refuse unknown keys: most are misspelt."""
        for key in mapping:
            if key not in known:
                hint = suggestion(str(key), known, 1) or f"there are {', '.join(known)}"
                self.refuse(f"the key {key!r} is unknown here: {hint}", mapping.line)

    def string(self, mapping: LocatedMapping, key: str) -> str:
        """A string, or empty if there is none."""
        value = mapping.get(key)
        if value is not None and not isinstance(value, str):
            self.refuse(f"{key} must be a string", mapping.line)
        return value if isinstance(value, str) else ""

    def strings(self, mapping: LocatedMapping, key: str) -> tuple[str, ...]:
        """A list of strings; a single string is a list of one."""
        value = mapping.get(key)
        values = [] if value is None else value if isinstance(value, list) else [value]
        if all(isinstance(item, str) for item in values):
            return tuple(values)
        self.refuse(f"{key} must be a list of strings", mapping.line)
        return ()
