# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""In which order components and modules go by their needs."""

from __future__ import annotations

from ansible_collections.kyma.lifecycle.plugins.module_utils._components.needs import (
    circles_of,
    waves_by_needs,
)


def test_each_goes_after_what_it_needs_and_in_the_order_of_the_list() -> None:
    needs = {"b": ["c"], "a": [], "c": [], "d": ["b", "elsewhere"]}
    assert waves_by_needs(needs) == [("a", "c"), ("b",), ("d",)]
    assert waves_by_needs({}) == []


def test_a_circle_is_named_once_from_its_first_name() -> None:
    needs = {"a": ["b", "d"], "b": ["c"], "c": ["a"], "d": ["d", "elsewhere"]}
    assert circles_of(needs) == ["a → b → c → a", "d → d"]
    assert circles_of({"a": ["b"], "b": ["elsewhere"]}) == []
