# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Semantic Versioning 2.0.0: order, and the downgrades of a module. Pure.

``packaging`` reads PEP 440, which refuses versions that Kyma publishes: 1.53.0-experimental, 0.0.1-6cd5086.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import total_ordering

WELL_KNOWN_CHANNELS = frozenset({"experimental", "fast", "rapid", "regular"})
"""Channels of Kyma whose names are suffixes of versions, also where a catalog doesn't list them."""

_LONGEST = 128
"""Characters of a version: those of an image's tag."""
_NUMBER = "(0|[1-9][0-9]*)"
_IDENTIFIER = "(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_VERSION = re.compile(
    rf"v?{_NUMBER}\.{_NUMBER}\.{_NUMBER}"
    rf"(?:-({_IDENTIFIER}(?:\.{_IDENTIFIER})*))?"
    r"(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?"
)


@total_ordering
@dataclass(frozen=True, eq=False)
class SemanticVersion:
    """A version in the order of https://semver.org, clause 11: build metadata doesn't count.

    Attributes:
        numbers: major, minor and patch.
        pre_release: the identifiers after the hyphen; none for a release.
    """

    numbers: tuple[int, int, int]
    pre_release: tuple[str, ...] = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SemanticVersion) and self._precedence == other._precedence

    def __lt__(self, other: SemanticVersion) -> bool:
        return self._precedence < other._precedence

    def __hash__(self) -> int:
        return hash(self._precedence)

    @property
    def _precedence(self) -> tuple[tuple[int, int, int], bool, tuple[tuple[bool, int, str], ...]]:
        identifiers = tuple(
            (False, int(one), "") if one.isdigit() else (True, 0, one) for one in self.pre_release
        )
        return self.numbers, not self.pre_release, identifiers


def parse_version(text: str) -> SemanticVersion | None:
    """The version in a text, with or without a leading ``v``; None for any other text."""
    match = _VERSION.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        return None
    major, minor, patch, pre_release = match.groups()
    identifiers = tuple(pre_release.split(".")) if pre_release else ()
    return SemanticVersion((int(major), int(minor), int(patch)), identifiers)


def is_downgrade(running: str, target: str, channels: Collection[str]) -> bool | None:
    """Whether a module would return to an earlier version; None if a text is no semantic version.

    Args:
        running: the version that runs.
        target: the version to install.
        channels: the catalog's. A suffix that names a channel, or a well-known channel, marks a variant of a
            version and not an earlier one: 1.53.0-experimental counts as 1.53.0.
    """
    before, after = parse_version(running), parse_version(target)
    if before is None or after is None:
        return None
    variants = WELL_KNOWN_CHANNELS.union(channels)
    return _without_variant(after, variants) < _without_variant(before, variants)


def _without_variant(version: SemanticVersion, variants: Collection[str]) -> SemanticVersion:
    is_variant = len(version.pre_release) == 1 and version.pre_release[0] in variants
    return replace(version, pre_release=()) if is_variant else version
