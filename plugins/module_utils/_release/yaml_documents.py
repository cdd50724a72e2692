# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Converts YAML text to plain values, with kubectl's interpretation.

PyYAML's own constructors visibly differ from kubectl: ``1:30`` becomes 90, ``2021-01-01`` a date,
``1e3`` and ``0o644`` stay strings, ``=`` fails, and keys keep types that JSON lacks. So this module builds
the documents from the events of PyYAML's C parser, which also takes only two thirds of the time.
"""

from __future__ import annotations

import base64
import binascii
import itertools
import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from .limits import DEFAULT_LIMITS, beyond_objects
from .release_error import ReleaseError, release_error

MOST_REPETITIONS = 1_000_000
"""The limit of values that a file's aliases repeat: real releases have none; so many take some seconds."""


class LocatedMapping(dict[str, Any]):
    """A mapping with the line on which it begins, counted from 1."""

    line: int = 0


@dataclass(frozen=True)
class Document:
    """One document of a YAML stream.

    Attributes:
        value: the value, in JSON's types.
        line: its first line, counted from 1.
        duplicates: keys that a mapping has twice, each with its line; the last one won.
    """

    value: Any
    line: int
    duplicates: tuple[tuple[str, int], ...] = ()


def read_documents(
    text: str,
    file: str,
    *,
    scalar: Callable[[str], Any] | None = None,
    mapping: Callable[[], dict[str, Any]] = dict,
    most: int = DEFAULT_LIMITS.objects,
) -> list[Document]:
    """The documents of a text, without empty ones.

    Args:
        text: the YAML text.
        file: its name in messages.
        scalar: converts a plain scalar; by default :func:`kubernetes_scalar`.
        mapping: creates an empty mapping; a :class:`LocatedMapping` gets its line.
        most: the limit of documents, empty ones included.

    Raises:
        ReleaseError: a syntax error, a value that JSON lacks, or a document beyond the limit, with file, line
            and column.
    """
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", None) or _python_loader()
    try:
        events = yaml.parse(text, Loader=loader)
        return list(_Builder(events, file, scalar or kubernetes_scalar, mapping).documents(most))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        message = ", ".join(part for part in (error.context, error.problem) if part)
        if "nesting depth" in message:
            # Since PyYAML 6.0.4; before, Python's own limit comes first.
            raise release_error("nested too deeply", file) from error
        place = (mark.line + 1, mark.column + 1) if mark else (0, 0)
        raise release_error(f"not YAML: {message}", file, *place) from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise release_error(
            f"not YAML: {error.reason} (character {error.character!r})", file, line
        ) from error
    except RecursionError as error:
        raise release_error("nested too deeply", file) from error


@lru_cache
def _python_loader() -> Any:
    """PyYAML's own parser, for machines where PyYAML was installed without libyaml.

    It refuses tabs between tokens and inside plain scalars; libyaml and kubectl accept them. Charts of Kyma
    have some at the ends of lines.
    """
    import yaml

    class TabLoader(yaml.SafeLoader):
        """A loader in which a tab separates, and does not indent."""

        def scan_to_next_token(self) -> None:
            super().scan_to_next_token()
            while self.peek() == "\t" and (self.flow_level or not self.allow_simple_key):
                self.forward()
                super().scan_to_next_token()

        def scan_plain_spaces(self, indent: int, start_mark: Any) -> Any:
            length = 0
            while self.peek(length) in " \t":
                length += 1
            blanks = self.prefix(length)
            if "\t" not in blanks:
                return super().scan_plain_spaces(indent, start_mark)
            self.forward(length)
            # At the end of a line tabs do not count, and the next lines may continue the scalar.
            return super().scan_plain_spaces(indent, start_mark) if self.peek() in "\r\n\0" else [blanks]

    return TabLoader


def _size_of(value: Any) -> int:
    """The number of values in a value, including itself."""
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, list):
        return 1
    return 1 + sum(map(_size_of, value))


class _Builder:
    """Builds documents from the events of a parser."""

    def __init__(
        self,
        events: Iterator[Any],
        file: str,
        scalar: Callable[[str], Any],
        mapping: Callable[[], dict[str, Any]],
    ) -> None:
        import yaml

        self._next = events.__next__
        self._events = yaml.events
        self._file = file
        self._plain = scalar
        self._new_mapping = mapping
        self._anchors: dict[str, Any] = {}
        self._duplicates: list[tuple[str, int]] = []
        self._repetitions = 0

    def documents(self, most: int) -> Iterator[Document]:
        """The documents that have content; with more than ``most`` documents, ReleaseError."""
        self._next()  # the stream's start
        for number in itertools.count(1):
            start = self._next()
            if not isinstance(start, self._events.DocumentStartEvent):
                return
            if number > most:
                raise self._refusal(f"there are {beyond_objects(most)}", start)
            self._anchors, self._duplicates = {}, []
            event = self._next()
            value = self._node(event)
            self._next()  # the document's end
            if value is not None:
                yield Document(value, event.start_mark.line + 1, tuple(self._duplicates))

    def _node(self, event: Any) -> Any:
        kind = type(event)
        value: Any
        if kind is self._events.ScalarEvent:
            value = self._scalar(event)
        elif kind is self._events.MappingStartEvent:
            value = self._mapping(event)
        elif kind is self._events.SequenceStartEvent:
            self._expect_tag(event, "tag:yaml.org,2002:seq")
            value = []
            while not isinstance(item := self._next(), self._events.SequenceEndEvent):
                value.append(self._node(item))
        else:
            if event.anchor not in self._anchors:
                raise self._refusal(f"the alias *{event.anchor} names no anchor before it", event)
            return self._repeated(event)
        if event.anchor:
            self._anchors[event.anchor] = value
        return value

    def _repeated(self, alias: Any) -> Any:
        """A copy of an anchor's value: aliases of aliases are short to write, and may be huge in memory."""
        value = self._anchors[alias.anchor]
        self._repetitions += _size_of(value)
        if self._repetitions > MOST_REPETITIONS:
            raise self._refusal(f"its aliases repeat more than {MOST_REPETITIONS} values", alias)
        return deepcopy(value)

    def _mapping(self, start: Any) -> dict[str, Any]:
        self._expect_tag(start, "tag:yaml.org,2002:map")
        result = self._new_mapping()
        if isinstance(result, LocatedMapping):
            result.line = start.start_mark.line + 1
        merged: list[dict[str, Any]] = []
        while not isinstance(event := self._next(), self._events.MappingEndEvent):
            if isinstance(event, self._events.ScalarEvent) and event.value == "<<" and event.implicit[0]:
                merged += self._merge_sources(self._next())
                continue
            key = self._key(event)
            if key in result:
                self._duplicates.append((key, event.start_mark.line + 1))
            result[key] = self._node(self._next())
        for source in merged:
            for key, value in source.items():
                result.setdefault(key, value)
        return result

    def _merge_sources(self, event: Any) -> list[dict[str, Any]]:
        value = self._node(event)
        sources = value if isinstance(value, list) else [value]
        if not all(isinstance(source, dict) for source in sources):
            raise self._refusal("'<<' takes a mapping or a list of mappings", event)
        return sources

    def _key(self, event: Any) -> str:
        """A key in JSON's types: kubectl turns numbers and booleans into strings."""
        value = self._node(event)
        if isinstance(value, str):
            return value
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, int | float):
            return str(value)
        raise self._refusal("a key must be a string", event)

    def _scalar(self, event: Any) -> Any:
        text: str = event.value
        try:
            if event.tag is None or event.implicit[0]:
                return self._plain(text) if event.implicit[0] else text
            if event.tag == "!" or event.tag.endswith(":str"):
                return text
            if event.tag.endswith((":int", ":float", ":bool", ":null")):
                return kubernetes_scalar(text)
            if event.tag.endswith(":binary"):
                return base64.b64decode(text).decode()
        except (ValueError, binascii.Error) as error:
            raise self._refusal(str(error), event) from error
        raise self._refusal(f"the tag {event.tag} is not known to Kubernetes", event)

    def _expect_tag(self, event: Any, tag: str) -> None:
        if event.tag not in (None, "!", tag):
            raise self._refusal(f"the tag {event.tag} is not known to Kubernetes", event)

    def _refusal(self, message: str, event: Any) -> ReleaseError:
        mark = event.start_mark
        return release_error(message, self._file, mark.line + 1, mark.column + 1)


def _words(value: Any, *words: str) -> dict[str, Any]:
    return {form: value for word in words for form in (word, word.capitalize(), word.upper())}


_WORDS: dict[str, Any] = {
    **_words(None, "null", "~", ""),
    **_words(True, "true", "yes", "y", "on"),
    **_words(False, "false", "no", "n", "off"),
}
_NOT_IN_JSON = frozenset(
    sign + word for sign in ("", "+", "-") for word in (".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN")
)
_BASES = {"0x": 16, "0o": 8, "0b": 2}
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_UINT64_MAX = 2**64 - 1


@lru_cache(maxsize=16384)
def kubernetes_scalar(text: str) -> Any:
    """kubectl's value of a plain scalar (the rules of sigs.k8s.io/yaml, tested with kubectl 1.36).

    Raises:
        ValueError: infinity and not-a-number, which JSON doesn't have.
    """
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "0123456789+-.":
        return text
    if text in _NOT_IN_JSON:
        raise ValueError(f"{text} cannot be sent to Kubernetes: JSON has no such number")
    digits = text.replace("_", "")
    integer = _integer(digits)
    if integer is not None and abs(integer) <= _UINT64_MAX:
        return integer
    if not _FLOAT.fullmatch(digits):
        return text
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        return text
    return int(number) if number.is_integer() and abs(number) < 1e21 and integer is None else number


def _integer(digits: str) -> int | None:
    unsigned = digits.lstrip("+-")
    base = _BASES.get(unsigned[:2].lower(), 8 if unsigned[:1] == "0" and len(unsigned) > 1 else 10)
    try:
        return int(digits, base) if len(digits) - len(unsigned) < 2 else None
    except ValueError:
        return None


def plain_text(text: str) -> str | None:
    """A plain scalar unchanged, so that the version 2.10 doesn't become the number 2.1."""
    return None if text in ("", "~", "null") else text
