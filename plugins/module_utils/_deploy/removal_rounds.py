# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Removing objects of several components side by side without one being in the way of another."""

from __future__ import annotations

import time
from collections.abc import Iterable

from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.inventory import Entry
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.order import is_home, is_in_the_way
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.removal import (
    Removal,
    Terms,
    remove_objects,
)

ROUNDS = 3
"""Each is over for all components before the next begins.

First goes what can be in the way of others, and last what objects of others may live in: a namespace would be
spared for what is going just then.
"""


class RemovalInRounds:
    """The removal of one component's objects.

    Args:
        entries: what is to go.

    Attributes:
        count: how many objects are to go.
        removal: what has come of them so far.
        seconds: how long that took.
    """

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._rounds: tuple[list[Entry], ...] = tuple([] for _each in range(ROUNDS))
        for entry in entries:
            self._rounds[_round_of(entry)].append(entry)
        self.count = sum(map(len, self._rounds))
        self.removal = Removal()
        self.seconds = 0.0

    def is_over(self, turn: int) -> bool:
        """Whether nothing is to do any more from one of the rounds on."""
        return self._is_stopped or not any(self._rounds[turn:])

    def remove(self, terms: Terms, turn: int) -> None:
        """Remove what goes in one of the rounds, but for after something that failed.

        Raises:
            ClusterError: what is there can't be read.
        """
        entries = self._rounds[turn]
        if not entries or self._is_stopped:
            self.removal.untried += entries
            return
        started = time.monotonic()
        try:
            self.removal = self.removal.and_then(remove_objects(terms, entries))
        finally:
            self.seconds += time.monotonic() - started

    def fail(self, error: Exception, turn: int) -> None:
        """Note that one of the rounds has come to nothing."""
        self.removal = self.removal.and_then(Removal(failed=list(self._rounds[turn]), errors=[str(error)]))

    @property
    def _is_stopped(self) -> bool:
        return bool(self.removal.errors or self.removal.cancelled)


def _round_of(entry: Entry) -> int:
    if is_in_the_way(entry.ref.kind):
        return 0
    return ROUNDS - 1 if is_home({"apiVersion": entry.api_version, "kind": entry.ref.kind}) else 1
