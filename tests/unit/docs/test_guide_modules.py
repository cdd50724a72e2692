# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The guide to modules lists all states and keys. It names variables, and links to pages, that there are."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records import modules
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.module import DEFINITION

from tests.cluster.paths import ROOT

DOCS = ROOT / "docs"
GUIDE = (DOCS / "guide_modules.md").read_text()
PAGES = ("guide_modules.md", "guide_community_modules.md", "guide_managed_kyma.md")
STATES = {
    modules.READY,
    modules.PROCESSING,
    modules.WARNING,
    modules.ERROR,
    modules.DELETING,
    modules.GIVEN_UP,
    modules.INSTALLED,
    modules.NOT_INSTALLED,
}


def section(heading: str) -> str:
    return GUIDE.partition(f"## {heading}\n")[2].partition("\n## ")[0]


def keys(heading: str) -> set[str]:
    """What the tables of a section have in their first column."""
    return set(re.findall(r"^\| `(\w+)` \|", section(heading), re.MULTILINE))


def test_the_table_of_states_has_each() -> None:
    assert keys("States") == STATES


def test_the_picture_of_states_has_each_as_a_text() -> None:
    picture = ElementTree.parse(DOCS / "images" / "module_states.svg")
    texts = picture.iterfind(".//{http://www.w3.org/2000/svg}text[@class='state']")
    assert {text.text for text in texts} == STATES


def test_the_table_of_the_list_has_each_key() -> None:
    assert keys("The list") == DEFINITION.argument_spec["modules"]["options"].keys()


@pytest.mark.parametrize("page", PAGES)
def test_variables_of_the_guides_exist(page: str) -> None:
    known: set[str] = set()
    for role in ("kyma", "kyma_modules"):
        specs = yaml.safe_load((ROOT / "roles" / role / "meta" / "argument_specs.yml").read_text())
        known |= {name for entry in specs["argument_specs"].values() for name in entry["options"]}
    assert set(re.findall(r"\bkyma_\w+", (DOCS / page).read_text())) <= known


@pytest.mark.parametrize("page", PAGES)
def test_links_of_the_guides_have_targets(page: str) -> None:
    text = (DOCS / page).read_text()
    for place, anchor in re.findall(r"\]\((?!https:)([\w./]*)(?:#([\w-]+))?\)", text):
        path = (DOCS / place).resolve() if place else DOCS / page
        assert path.exists(), place
        if anchor:
            headings = [
                line.lstrip("# ").lower() for line in path.read_text().splitlines() if line[:1] == "#"
            ]
            assert anchor in [re.sub(r"[^\w -]", "", one).replace(" ", "-") for one in headings], anchor


def test_yaml_of_the_guide_is_readable() -> None:
    blocks = re.findall(r"^ *```(?:yaml|json)\n(.*?)^ *```", GUIDE, re.MULTILINE | re.DOTALL)
    assert len(blocks) > 8
    for block in blocks:
        assert yaml.safe_load(block)
