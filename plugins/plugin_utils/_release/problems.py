# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The findings about a release during a read: all its errors are reported at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from ...module_utils._release.release_error import Problem, ReleaseError

Answer = TypeVar("Answer")


@dataclass
class ProblemCollector:
    """Problems, and warnings for people.

    Attributes:
        problems: with any, there is no release.
        warnings: sentences.
        dumps: files with fields that only a server sets.
        objects: how many were read.
    """

    problems: list[Problem] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    dumps: dict[str, None] = field(default_factory=dict)
    objects: int = 0

    def attempt(self, step: Callable[[], Answer], otherwise: Answer) -> Answer:
        """Call a function; its error becomes a problem, and the result is ``otherwise``."""
        try:
            return step()
        except ReleaseError as error:
            self.problems += error.problems
            return otherwise

    def refuse(self) -> None:
        """Raise ReleaseError if there are problems."""
        if self.problems:
            raise ReleaseError(dict.fromkeys(self.problems))
