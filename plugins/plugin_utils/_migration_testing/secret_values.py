# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The values in Secrets, also those inside of JSON, YAML, base64 and URLs, and a search for them: pure."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import yaml

from ...module_utils._cluster.cluster import Object, Ref, ref_of

SHORTEST_SECRET = 6
"""Minimum length of a value to search as a part of any text. A shorter one may be there by chance."""
SHORTEST_PIN = 4
"""Minimum length of a value that is no word to search as a word."""
DEEPEST = 4
"""Maximum number of encodings around a value."""


def secret_values(objects: Iterable[Object]) -> Iterator[tuple[Ref, str, str]]:
    """The values in Secrets, each once, with the Secret and the key."""
    values: dict[str, tuple[Ref, str, str]] = {}
    for obj in objects:
        if obj["kind"] == "Secret":
            data = {key: decoded(str(text)) for key, text in (obj.get("data") or {}).items()}
            for key, value in {**data, **(obj.get("stringData") or {})}.items():
                for inner in _values_in(str(value), DEEPEST):
                    values.setdefault(inner, (ref_of(obj), key, inner))
    yield from values.values()


def shows(text: str, value: str) -> bool:
    """Whether a text has a value of a Secret, plain or encoded."""
    if len(value) >= SHORTEST_SECRET:
        return value in text or base64.b64encode(value.encode()).decode() in text
    return re.search(rf"(?<![\w.-]){re.escape(value)}(?![\w-]|\.\w)", text) is not None


def _values_in(text: str, depth: int) -> Iterator[str]:
    """A value and the values in it, if they are long enough to be searched."""
    text = text.strip()
    if len(text) >= SHORTEST_SECRET or (len(text) >= SHORTEST_PIN and not text.isalpha()):
        yield text
    if depth == 0 or len(text) < SHORTEST_SECRET:
        return
    inner = _parsed(text)
    if (plain := decoded(text)) != text and plain.isprintable():
        inner.append(plain)
    for one in inner:
        yield from _values_in(one, depth - 1)


def _parsed(text: str) -> list[str]:
    """The values in JSON or YAML, in lines of ``key=value``, in ``user:password`` and in a URL."""
    parsed = None
    if text[0] in "{[" or "\n" in text or ": " in text:
        try:
            parsed = yaml.safe_load(text)
        except (yaml.YAMLError, ValueError):
            parsed = None
    if isinstance(parsed, dict | list):
        return [str(one) for one in _leaves(parsed)]
    if login := re.search(r"//([^/@\s]*):([^@\s]+)@", text):
        return [login[2]]
    if pairs := re.findall(r"(?m)^[ \t]*[\w.-]+[ \t]*=[ \t]*(.+)$", text):
        return pairs
    _user, _colon, password = text.partition(":")
    return [password] if re.fullmatch(r"[\w.@-]+:\S+", text) and not password.startswith("//") else []


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping | list):
        for one in value.values() if isinstance(value, Mapping) else value:
            yield from _leaves(one)
    elif value is not None and not isinstance(value, bool):
        yield value


def decoded(text: str) -> str:
    """The decoded base64, or the text itself if it is not base64."""
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, ValueError):
        return text


def texts_in(value: Any) -> Iterator[str]:
    """All texts in a value, without keys."""
    return (one for one in _leaves(value) if isinstance(one, str))
