# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The values of Secrets, and texts that have one of them, plain or in base64."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...module_utils._cluster.cluster import Object, Ref, ref_of

SHORTEST_SECRET = 6
"""Minimum length of a value to search. A shorter one may be there by chance."""


def secret_values(objects: Iterable[Object]) -> Iterator[tuple[Ref, str, str]]:
    """The values in Secrets, each once, with the Secret and the key."""
    values: dict[str, tuple[Ref, str, str]] = {}
    for obj in objects:
        if obj["kind"] == "Secret":
            data = {key: decoded(str(text)) for key, text in (obj.get("data") or {}).items()}
            for key, value in {**data, **(obj.get("stringData") or {})}.items():
                values.setdefault(str(value), (ref_of(obj), key, str(value)))
    return (one for value, one in values.items() if len(value) >= SHORTEST_SECRET)


def shows(texts: Iterable[str], value: str) -> bool:
    """Whether one of the texts has a value of a Secret, plain or in base64."""
    encoded = base64.b64encode(value.encode()).decode()
    return any(value in text or encoded in text for text in texts)


def decoded(text: str) -> str:
    """The decoded base64, or the text itself if it is not base64."""
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, ValueError):
        return text


def texts_in(value: Any) -> Iterator[str]:
    """All texts in a value, without keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for one in value.values() if isinstance(value, Mapping) else value:
            yield from texts_in(one)
