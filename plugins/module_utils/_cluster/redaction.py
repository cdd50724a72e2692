# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Removes the values of Secrets from texts."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

SHORTEST_SECRET = 4
"""The minimum length of a value to mask: a shorter one would mask half of every sentence."""


class Redactor:
    """Masks the values of Secrets that it has seen.

    Attributes:
        has_seen_values: whether it has seen any.
    """

    def __init__(self) -> None:
        self.has_seen_values = False
        self._values: set[str] = set()

    def note(self, obj: Mapping[str, Any]) -> None:
        """Record an object's values, if it is a Secret."""
        if obj.get("kind") != "Secret":
            return
        for text in _values_in(obj, "stringData"):
            self._remember(text)
        for encoded in _values_in(obj, "data"):
            self._remember(encoded)
            try:
                value = base64.b64decode(encoded, validate=True)
                self._remember_as_printed(repr(value)[2:-1])
                self._remember(value.decode())
            except (binascii.Error, ValueError):
                continue

    def note_patch(self, kind: str, patch: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> None:
        """Record the values in a merge patch or a JSON patch of an object, if it is a Secret."""
        if isinstance(patch, Mapping):
            self.note({**patch, "kind": kind})
            return
        for operation in patch:
            content = operation.get("value")
            for name in reversed(str(operation.get("path", "")).split("/")[1:]):
                content = {name: content}
            if isinstance(content, Mapping):
                self.note({**content, "kind": kind})

    def clean(self, text: str) -> str:
        """The text with these values masked."""
        for value in sorted(self._values, key=len, reverse=True):
            text = text.replace(value, "***")
        return text

    def _remember(self, value: str) -> None:
        self.has_seen_values = True
        for one in (value, value.strip()):
            for printed in (one, " ".join(one.split()), repr(one)[1:-1], json.dumps(one)[1:-1]):
                self._remember_as_printed(printed)

    def _remember_as_printed(self, printed: str) -> None:
        if len(printed.strip()) >= SHORTEST_SECRET:
            self._values.add(printed)


def _values_in(secret: Mapping[str, Any], field: str) -> Iterator[str]:
    """The values in one field of a Secret; null in a patch removes a value."""
    values = secret.get(field)
    if isinstance(values, Mapping):
        yield from (str(value) for value in values.values() if value is not None)
