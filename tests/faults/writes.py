# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which writes a deployment makes, known from one that was recorded."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from .fault import Request
from .proxy import Passage

RUN = re.compile(r"\d{8}-\d{6}-[0-9a-f]{6}")
ENTRY = re.compile(r"RUN(-[0-9a-f]+){2}")
ROUND = re.compile(r"round-\d+")


@dataclass(frozen=True)
class Write:
    """One write, by what is the same of it in every deployment.

    Attributes:
        what: its method and path, without what is another one each time.
        occurrence: the how manyeth of these it is, from 1 on.
    """

    what: str
    occurrence: int

    def __str__(self) -> str:
        return f"{self.what} (number {self.occurrence})"


def kind_of(request: Request) -> str:
    """The method and path of a request, without what is another one each time."""
    path = ROUND.sub("ROUND", ENTRY.sub("ENTRY", RUN.sub("RUN", request.path)))
    return f"{request.method} {path}"


def writes_of(passages: Iterable[Passage]) -> Iterator[Write]:
    """The writes of a deployment, in their order."""
    counted = Counting()
    for passage in sorted(passages, key=lambda one: one.request.number):
        if passage.request.writes:
            yield counted.write(passage.request)


@dataclass
class Counting:
    """Tells which write a request is, counting as they come."""

    seen: Counter[str] = field(default_factory=Counter)

    def write(self, request: Request) -> Write:
        """The write that this request is."""
        what = kind_of(request)
        self.seen[what] += 1
        return Write(what, self.seen[what])
