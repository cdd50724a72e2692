# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The problems of a release, and of other files with the same reader, reported together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .._errors import LifecycleError
from .._redaction import without_logins_in
from .._text import first_of

MOST_SHOWN = 200
"""How many problems or warnings of a release are shown: it may have millions."""


@dataclass(frozen=True)
class Problem:
    """One problem of a release.

    Attributes:
        message: the problem, and what to do about it; logins in URLs are not shown.
        file: its file, in the user's view, or empty.
        line: counted from 1, or 0 if unknown.
        column: counted from 1, or 0.
    """

    message: str
    file: str = ""
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part)
        message = without_logins_in(self.message)
        return f"{place}: {message}" if place else message


class ReleaseError(LifecycleError):
    """A release that can't be used, with all its problems.

    Attributes:
        problems: at least one.
        heading: the line above several problems.
    """

    state = "refused"
    heading = "the release can't be used for {count} reasons:"

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        if len(self.problems) == 1:
            super().__init__(str(self.problems[0]))
        else:
            listed = first_of([f"- {problem}" for problem in self.problems], MOST_SHOWN)
            super().__init__("\n".join([self.heading.format(count=len(self.problems)), *listed]))


def release_error(message: str, file: str = "", line: int = 0, column: int = 0) -> ReleaseError:
    """The error of a single problem."""
    return ReleaseError([Problem(message, file, line, column)])
