# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Versions are ordered as semver.org says, and a channel's name as a suffix makes none earlier."""

from __future__ import annotations

from itertools import pairwise

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._module_catalog import semantic_version

IN_ORDER = [
    "0.0.1-6cd5086",
    "0.0.1",
    "0.9.0",
    "0.10.0",
    "1.0.0-1",
    "1.0.0-2",
    "1.0.0-10",
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-alpha.beta",
    "1.0.0-beta",
    "1.0.0-beta.2",
    "1.0.0-beta.11",
    "1.0.0-rc.1",
    "1.0.0",
    "1.53.0-experimental",
    "1.53.0",
    "10.0.0",
]


@pytest.mark.parametrize(("lower", "higher"), [*pairwise(IN_ORDER)])
def test_the_order_of_semver_org(lower: str, higher: str) -> None:
    one, other = semantic_version.parse_version(lower), semantic_version.parse_version(higher)
    assert one is not None
    assert other is not None
    assert one < other
    assert other > one
    assert one != other


def test_neither_build_metadata_nor_a_leading_v_counts() -> None:
    same = [
        semantic_version.parse_version(text)
        for text in ("1.2.3-rc.1", "v1.2.3-rc.1", "1.2.3-rc.1+7", "1.2.3-rc.1+8.a")
    ]
    assert len(set(same)) == 1
    assert same[0] == same[3]
    assert same[3] is not None


@pytest.mark.parametrize(
    "text",
    [
        *("", "main", "PR-58", "latest", "sha256:ab", "1", "1.2", "1.2.3.4", "01.2.3", "1.2.3-01", "1.2.3-"),
        *("1.2.3+", "V1.2.3", " 1.2.3", "1.2.3\n", "1.2.3-a..b", "\u0661.2.3", "1.2." + "9" * 5000),
    ],
)
def test_other_texts_are_no_semantic_versions(text: str) -> None:
    assert semantic_version.parse_version(text) is None


@pytest.mark.parametrize(
    ("running", "target", "expected"),
    [
        ("2.0.0", "1.0.0", True),
        ("1.0.0", "2.0.0", False),
        ("1.0.0", "1.0.0", False),
        ("1.0.0", "1.0.0-rc1", True),
        ("1.0.0-rc1", "1.0.0", False),
        ("0.0.1", "0.0.1-6cd5086", True),
        ("1.53.0", "1.53.0-experimental", False),
        ("1.53.0-experimental", "1.53.0", False),
        ("1.53.0-experimental", "1.52.9", True),
        ("1.53.0-fast", "1.53.0-regular", False),
        ("1.53.0-rapid", "1.53.0-rc.1", True),
        ("1.0.0", "1.0.0-nightly", False),
        ("1.0.0", "1.0.0-weekly", True),
        ("1.0.0", "1.0.0-nightly.3", True),
        ("main", "1.0.0", None),
        ("1.0.0", "PR-58", None),
    ],
)
def test_a_downgrade(running: str, target: str, expected: bool | None) -> None:
    assert semantic_version.is_downgrade(running, target, ["nightly"]) is expected
