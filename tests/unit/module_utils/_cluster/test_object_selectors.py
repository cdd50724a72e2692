# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lists of rules."""

from __future__ import annotations

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.object_selectors import is_listed


@pytest.mark.parametrize(
    ("listed", "values", "expected"),
    [
        (["get", "list"], ("list",), True),
        (["get", "list"], ("patch", "get"), True),
        (["get", "list"], ("patch",), False),
        (["*"], ("patch",), True),
        (["pods/*"], ("pods",), False),
        ([], ("get",), False),
        (None, ("get",), False),
    ],
)
def test_the_list_of_a_rule_has_a_value_or_a_star(
    listed: list[str] | None, values: tuple[str, ...], expected: bool
) -> None:
    assert is_listed(listed, *values) is expected
