# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of variables are generated from argument specs, and differences are found."""

from __future__ import annotations

import pytest

from tests.make.role_variables import (
    entry_points,
    names_after_mark,
    problems,
    table_texts,
    usual_sentence,
)

SPECS = """
argument_specs:
  main:
    description: [It shops.]
    options:
      # Usual options.
      shop_size: &size
        description: [How large., More words.]
        type: int
        default: 3
      shop_names:
        description: ['The names, as O(shop_size) | P(kyma.lifecycle.kyma#role).']
        type: list
        required: true
      # Expert options.
      shop_colour:
        description: [The colour., 'Default: C(red), if O(shop_size) is set.']
        type: str
      shop_quiet:
        description: [Whether to be quiet.]
        type: bool
        default: ''
  delete:
    description: [It closes.]
    options:
      shop_size: *size
      # Expert options.
      shop_force:
        description: [With force.]
        type: bool
"""
MAIN = """| variable | what it sets | default |
| --- | --- | --- |
| `shop_size` | How large. | `3` |
| `shop_names` | The names, as `shop_size` \\| `kyma.lifecycle.kyma`. | required |"""
EXPERT = """| variable | what it sets | default |
| --- | --- | --- |
| `shop_colour` | The colour. | `red`, if `shop_size` is set |
| `shop_quiet` | Whether to be quiet. | |"""
TEXTS = table_texts("shop", entry_points(SPECS))


def test_each_entry_point_has_its_options_in_two_groups() -> None:
    main, delete = entry_points(SPECS)
    assert (list(main.usual), list(main.expert)) == (
        ["shop_size", "shop_names"],
        ["shop_colour", "shop_quiet"],
    )
    assert (list(delete.usual), list(delete.expert)) == (["shop_size"], ["shop_force"])
    assert delete.usual["shop_size"]["default"] == 3


def test_tables_have_what_the_argument_specs_have() -> None:
    assert list(TEXTS) == [
        "shop/main/usual",
        "shop/main/expert",
        "shop/delete/usual",
        "shop/delete/expert",
    ]
    assert TEXTS["shop/main/usual"] == MAIN
    assert TEXTS["shop/main/expert"] == EXPERT
    assert TEXTS["shop/delete/expert"] == "Expert variables: `shop_force`."


@pytest.mark.parametrize(
    ("names", "listed"),
    [(["a"], "O(a)"), (["a", "b"], "O(a) and O(b)"), (["a", "b", "c"], "O(a), O(b) and O(c)")],
)
def test_the_usual_options_are_named_in_a_sentence(names: list[str], listed: str) -> None:
    assert usual_sentence(names) == f"The usual options are {listed}. All other options are for experts."


def test_variables_after_the_mark_are_those_of_experts() -> None:
    assert names_after_mark("# Usual.\na: 1\n\n# Expert variables.\nb: 1\nc:\n  - d\n") == ["b", "c"]
    assert names_after_mark("a: 1\n") == []


def test_a_difference_is_reported() -> None:
    page = f"# Shop\n\n<!-- generated: shop/main/usual -->\n{MAIN}\n<!-- end -->\n"
    assert problems(page, TEXTS, ["shop/main/usual"]) == []
    assert problems(page, TEXTS, ["shop/main/expert"]) == ["it has no block shop/main/expert"]
    [stale] = problems(page.replace("How large", "How small"), TEXTS)
    assert "make fix" in stale
    gone = page.replace("shop/main/usual", "shop/gone/usual")
    assert problems(gone, TEXTS) == ["no role has the block shop/gone/usual"]
    assert problems(page.replace("shop/main/usual", "logging/grow-it"), TEXTS) == []
