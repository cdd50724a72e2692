# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Modules with many options document the usual ones first, and name them in their descriptions."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.doc_fragments.connection import (
    ModuleDocFragment as Connection,
)

from tests.make.role_variables import EXPERT_MARK, MOST_USUAL, usual_sentence

from .test_documentation import MODULES, ON_CONTROLLER, PLUGINS, documented_options

CONNECTION = frozenset(yaml.safe_load(Connection.DOCUMENTATION)["options"])
"""All modules have these options."""
NAMES = sorted((*MODULES, *ON_CONTROLLER))


def documentation(name: str) -> str:
    return str(import_module(f"{PLUGINS}.modules.{name}").DOCUMENTATION)


def parsed(name: str) -> dict[str, Any]:
    return dict(yaml.safe_load(documentation(name)))


def usual_options(name: str) -> list[str]:
    """The options that the description names as the usual ones; none without such a sentence."""
    last = parsed(name)["description"][-1]
    return re.findall(r"O\((\w+)\)", last) if last.startswith("The usual options are") else []


@pytest.mark.parametrize("name", NAMES)
def test_a_module_with_more_than_ten_options_names_the_usual_ones(name: str) -> None:
    usual = usual_options(name)
    options = {one: fields for one, fields in documented_options(name).items() if one not in CONNECTION}
    assert bool(usual) == (len(options) > MOST_USUAL)
    assert len(usual) <= MOST_USUAL
    assert set(usual) <= options.keys()
    assert not usual or parsed(name)["description"][-1] == usual_sentence(usual)


@pytest.mark.parametrize("name", [name for name in NAMES if usual_options(name)])
def test_usual_options_of_a_module_come_first(name: str) -> None:
    # Options of fragments have an order of their own.
    own = list(parsed(name)["options"])
    first = [option for option in usual_options(name) if option in own]
    assert own[: len(first)] == first
    _usual, mark, experts = documentation(name).partition(f"\n  {EXPERT_MARK}")
    listed = re.findall(r"^  (\w+):$", experts.partition("\nseealso:")[0], re.MULTILINE)
    assert listed[: len(own) - len(first)] == own[len(first) :]
    assert bool(mark) == (len(own) > len(first))
