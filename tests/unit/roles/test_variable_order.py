# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Usual options come first, in one order: in argument specs, defaults, descriptions and tables."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from pathlib import Path

import pytest
import yaml

from tests.cluster.paths import ROOT
from tests.make.role_variables import (
    EXPERT,
    MAIN_ENTRY,
    MOST_USUAL,
    USUAL,
    EntryPoint,
    all_texts,
    names_after_mark,
    pages,
    problems,
    read_entry_points,
    role_folders,
    table_texts,
    usual_sentence,
)

ENTRIES = [
    pytest.param(entry, id=f"{role.name} {entry.name}")
    for role in role_folders()
    for entry in read_entry_points(role)
]
EXPERT_PAGE = ROOT / "docs" / "role_variables.md"
PAGES = pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))


@pytest.fixture(scope="module")
def texts() -> Mapping[str, str]:
    """The blocks of all roles, read once for all pages."""
    return all_texts()


@pytest.mark.parametrize("entry", ENTRIES)
def test_more_than_ten_options_are_usual_ones_and_expert_ones(entry: EntryPoint) -> None:
    assert 0 < len(entry.usual) <= MOST_USUAL
    assert not entry.expert or len(entry.usual) + len(entry.expert) > MOST_USUAL


@pytest.mark.parametrize("entry", ENTRIES)
def test_the_description_names_the_usual_options(entry: EntryPoint) -> None:
    # `ansible-doc` sorts options by their names.
    sentence = usual_sentence(list(entry.usual))
    assert (entry.description[-1] == sentence) == bool(entry.expert)


def test_the_role_that_deploys_has_ten_usual_variables() -> None:
    (main,) = (one for one in read_entry_points(ROOT / "roles" / "kyma") if one.name == MAIN_ENTRY)
    assert len(main.usual) == MOST_USUAL
    assert next(iter(main.usual)) == "kyma_release"


@pytest.mark.parametrize("role", role_folders(), ids=lambda role: role.name)
def test_defaults_are_in_the_order_of_the_argument_specs(role: Path) -> None:
    text = (role / "defaults" / "main.yml").read_text()
    entries = read_entry_points(role)
    options = dict.fromkeys(chain.from_iterable((*one.usual, *one.expert) for one in entries))
    defaults = list(yaml.safe_load(text))
    assert defaults == [name for name in options if name in defaults]
    main = next(one for one in entries if one.name == MAIN_ENTRY)
    if main.expert:
        usual = defaults[: len(defaults) - len(names_after_mark(text))]
        assert usual == [name for name in main.usual if name in defaults]


@PAGES
def test_tables_are_those_of_the_argument_specs(page: Path, texts: Mapping[str, str]) -> None:
    """If this fails: `make fix`."""
    role, kind = page.parent, USUAL
    required = table_texts(role.name, read_entry_points(role)) if role in role_folders() else {}
    if page == EXPERT_PAGE:
        required, kind = texts, EXPERT
    assert problems(page.read_text(), texts, [name for name in required if name.endswith(f"/{kind}")]) == []


def test_a_guide_has_the_ten_variables() -> None:
    block = f"<!-- generated: kyma/{MAIN_ENTRY}/{USUAL} -->"
    guides = [page for page in pages() if page.parent == ROOT / "docs"]
    assert any(block in page.read_text() for page in guides)


@pytest.mark.parametrize("role", role_folders(), ids=lambda role: role.name)
def test_the_readme_of_a_role_leads_to_its_expert_variables(role: Path) -> None:
    has_experts = f"{role.name}/{MAIN_ENTRY}/{EXPERT} -->" in EXPERT_PAGE.read_text()
    link = f"](../../docs/{EXPERT_PAGE.name}#{role.name})"
    assert (link in (role / "README.md").read_text()) == has_experts
