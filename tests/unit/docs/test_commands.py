# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands in the documentation: their variables exist and reach Ansible, and modules take their options."""

from __future__ import annotations

import re
import shlex
from importlib import import_module
from typing import Any

import pytest
import yaml
from ansible.parsing.splitter import parse_kv
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.arguments import validate

from tests.cluster.paths import ROOT

PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
CONTINUED = r"\\\n\s*"


def commands(page: str, part: str = "-e") -> list[str]:
    """The command lines of a page with an option: in blocks, each on one line, and within sentences."""
    blocks = re.findall(r"^```console\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    typed = [
        line.removeprefix("$ ")
        for block in blocks
        for line in re.sub(CONTINUED, " ", block).splitlines()
        if line.startswith("$ ")
    ]
    prose = re.sub(r"^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL)
    quoted = [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", prose)]
    return [command for command in typed + quoted if re.search(rf"(^| ){part} ", command)]


def given(command: str) -> list[str]:
    """The words that a shell hands over behind each ``-e``."""
    words = shlex.split(command, comments=True)
    return [words[place + 1] for place, word in enumerate(words) if word == "-e"]


def parsed(word: str) -> dict[str, Any]:
    """What Ansible makes of such a word: YAML or pairs, as ``load_extra_vars`` tells them apart."""
    return dict(yaml.safe_load(word) if word.startswith("{") else parse_kv(word))


def known_variables() -> set[str]:
    """All variables of roles, and those that a playbook takes besides."""
    defaults = (ROOT / "roles").glob("*/defaults/main.yml")
    known = {name for file in defaults for name in yaml.safe_load(file.read_text())}
    for playbook in (ROOT / "playbooks").glob("*.yml"):
        known |= set(re.findall(r"(kyma_\w+) \| default", playbook.read_text()))
    return known


TASKS = "ansible_collections.kyma.lifecycle.plugins.module_utils._tasks"
AD_HOC = [
    pytest.param(command, id=f"{page.name}: {command}")
    for page in PAGES
    for command in commands(page.read_text(), "-m")
    if " kyma.lifecycle." in command
]
GIVEN = [
    pytest.param(word, id=f"{page.name}: {word}")
    for page in PAGES
    for command in commands(page.read_text())
    for word in given(command)
]


def test_the_pages_have_commands_with_variables() -> None:
    assert len(GIVEN) > 25


@pytest.mark.parametrize("word", GIVEN)
def test_ansible_takes_it_whole(word: str) -> None:
    variables = parsed(word)
    assert "_raw_params" not in variables
    assert variables.keys() <= known_variables()
    lists = [value for value in variables.values() if isinstance(value, str) and value.startswith(("[", "{"))]
    assert not lists, "a list or a dictionary reaches Ansible as a text this way"


def ad_hoc_problem(command: str) -> str:
    """Why the module of a command ``ansible HOST -m MODULE -a OPTIONS`` refuses its options."""
    words = shlex.split(command, comments=True)
    name = words[words.index("-m") + 1]
    options = parsed(words[words.index("-a") + 1]) if "-a" in words else {}
    task = import_module(f"{TASKS}.{name.rpartition('.')[2]}")
    return str(validate(task.DEFINITION, options, name).problem)


def test_a_module_takes_its_options() -> None:
    assert len(AD_HOC) >= 3
    assert "unknown" in ad_hoc_problem("ansible localhost -m kyma.lifecycle.run_info -a unknown=1")
    assert "reason" in ad_hoc_problem("ansible localhost -m kyma.lifecycle.hold")


@pytest.mark.parametrize("command", AD_HOC)
def test_each_command_with_a_module_has_valid_options(command: str) -> None:
    assert not ad_hoc_problem(command)


def test_parsed_commands_keep_every_option() -> None:
    block = "```console\n$ ansible-playbook x \\\n    -e a=b -e 'c=[1, 2]'   # or not\n```\n"
    page = f"{block}or `cancel -e d='e f'`"
    assert [given(command) for command in commands(page)] == [["a=b", "c=[1, 2]"], ["d=e f"]]
    assert "_raw_params" in parsed("c=[1, 2]")
    assert "_raw_params" in parsed("d=e f")
