# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects that are sent to the API server for validation in place of others whose namespace it lacks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True)
class Substitute:
    """The original of a request that names another object.

    Attributes:
        action: the rehearsed operation on the original, such as ``apply Deployment kyma-system/loki``.
        names: the names of the original, by those that were sent.
    """

    action: str
    names: Mapping[str, str]

    def original(self, text: str) -> str:
        """The server's text, with the names of the original."""
        for sent, original in self.names.items():
            text = text.replace(sent, original)
        return text


_CURRENT: ContextVar[Substitute | None] = ContextVar("substitute", default=None)


@contextmanager
def name_original_of(substitute: Substitute) -> Iterator[None]:
    """Make the warnings of this thread's requests name the original."""
    token = _CURRENT.set(substitute)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def original_warning(action: str, text: str) -> tuple[str, str]:
    """The operation and the text of a warning, with the names of the original if a substitute was sent.

    Args:
        action: the operation and its object.
        text: the warning.
    """
    current = _CURRENT.get()
    return (current.action, current.original(text)) if current else (action, text)
