# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects that are parsed on first access."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import overload

from .._cluster.cluster import Object


class LazyObjects(Sequence[Object]):
    """A sequence of objects that costs nothing until its first access.

    Args:
        read: reads them; called at most once.
    """

    def __init__(self, read: Callable[[], Sequence[Object]]) -> None:
        self._read = read
        self._objects: Sequence[Object] | None = None

    @overload
    def __getitem__(self, index: int) -> Object: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Object]: ...

    def __getitem__(self, index: int | slice) -> Object | Sequence[Object]:
        return self._all()[index]

    def __len__(self) -> int:
        return len(self._all())

    def __iter__(self) -> Iterator[Object]:
        return iter(self._all())

    def _all(self) -> Sequence[Object]:
        if self._objects is None:
            self._objects = self._read()
        return self._objects
