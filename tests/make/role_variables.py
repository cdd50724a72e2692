# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m tests.make.role_variables`: update the tables of variables of roles in READMEs and guides.

`meta/argument_specs.yml` of a role lists the usual options of an entry point first. A comment separates them
from the expert options. The tables have the same groups in the same order.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.cluster.paths import ROOT

from .generated_blocks import block_names, replace_blocks

MOST_USUAL = 10
"""Options of a group that a person reads at once. An entry point with more needs expert options."""
USUAL, EXPERT = "usual", "expert"
EXPERT_MARK = "# Expert "
"""The beginning of the comment after which experts' options or variables follow."""
MAIN_ENTRY = "main"

_ENTRY = re.compile(r"  (\w+):$")
_OPTION = re.compile(r"      (\w+):")
_MARKUP = re.compile(r"\b[A-Z]\(([^)#]+)(?:#\w+)?\)")


@dataclass(frozen=True)
class EntryPoint:
    """The options of an entry point of a role, in their order.

    Attributes:
        name: of the file with its tasks.
        description: paragraphs with Ansible's markup.
        usual: options that most users need, by name.
        expert: all other options.
    """

    name: str
    description: Sequence[str]
    usual: Mapping[str, Mapping[str, Any]]
    expert: Mapping[str, Mapping[str, Any]]


def entry_points(text: str) -> list[EntryPoint]:
    """The entry points of a role.

    Args:
        text: of its ``meta/argument_specs.yml``.
    """
    points = []
    experts = _expert_options(text)
    for name, spec in yaml.safe_load(text)["argument_specs"].items():
        options = spec["options"]
        usual = {option: one for option, one in options.items() if option not in experts.get(name, ())}
        expert = {option: one for option, one in options.items() if option not in usual}
        points.append(EntryPoint(name, spec["description"], usual, expert))
    return points


def names_after_mark(text: str) -> list[str]:
    """The keys at the top level of a YAML text that follow the mark of the expert variables."""
    return re.findall(r"^(\w+):", text.partition(f"\n{EXPERT_MARK}")[2], re.MULTILINE)


def _expert_options(text: str) -> dict[str, list[str]]:
    """The options below the mark of the expert variables, by entry point: a YAML parser drops the comment."""
    options: dict[str, list[str]] = {}
    entry, is_expert = "", False
    for line in text.splitlines():
        if begins := _ENTRY.match(line):
            entry, is_expert = begins[1], False
        elif line.startswith(f"      {EXPERT_MARK}"):
            is_expert = True
        elif is_expert and (option := _OPTION.match(line)):
            options.setdefault(entry, []).append(option[1])
    return options


def usual_sentence(usual: Sequence[str]) -> str:
    """The part of a description on the options that come first, with Ansible's markup."""
    *first, last = (f"O({name})" for name in usual)
    names = f"{', '.join(first)} and {last}" if first else last
    return f"The usual options are {names}. All other options are for experts."


def table_texts(role: str, entries: Sequence[EntryPoint]) -> dict[str, str]:
    """The texts of all blocks of a role, by the names of the blocks."""
    texts = {}
    for entry in entries:
        texts[f"{role}/{entry.name}/{USUAL}"] = _table(entry.usual)
        if entry.name == MAIN_ENTRY and entry.expert:
            texts[f"{role}/{entry.name}/{EXPERT}"] = _table(entry.expert)
        elif entry.expert:
            names = ", ".join(f"`{name}`" for name in entry.expert)
            texts[f"{role}/{entry.name}/{EXPERT}"] = f"Expert variables: {names}."
    return texts


def _table(options: Mapping[str, Mapping[str, Any]]) -> str:
    rows = [("variable", "what it sets", "default"), ("---", "---", "---")]
    for name, option in options.items():
        first, *others = option["description"]
        rows.append((f"`{name}`", _markdown(first), _default(option, others)))
    return "\n".join(f"| {' | '.join(row)} |".replace("|  |", "| |") for row in rows)


def _default(option: Mapping[str, Any], paragraphs: Sequence[str]) -> str:
    if option.get("required"):
        return "required"
    if "default" not in option:
        said = (one.partition("Default: ")[2] for one in paragraphs)
        return _markdown(next(filter(None, said), "not set").rstrip("."))
    default = option["default"]
    if default == "":
        return ""
    text = yaml.safe_dump(default, default_flow_style=True, width=1000).removesuffix("...\n").strip()
    return f"`{text}`"


def _markdown(text: str) -> str:
    return _MARKUP.sub(r"`\1`", text).replace("|", r"\|")


def problems(page: str, texts: Mapping[str, str], required: Sequence[str] = ()) -> list[str]:
    """The problems of the tables of a page, each in a sentence.

    Args:
        page: Markdown.
        texts: of all blocks of all roles, by name.
        required: names of the blocks that the page must have.
    """
    names = block_names(page)
    messages = [f"it has no block {name}" for name in required if name not in names]
    messages += [
        f"no role has the block {name}" for name in names if name.count("/") == 2 and name not in texts
    ]
    if replace_blocks(page, texts) != page:
        messages.append("its tables differ from meta/argument_specs.yml: run `make fix`")
    return messages


def role_folders() -> list[Path]:
    """The folders of all roles."""
    return sorted((ROOT / "roles").iterdir())


def read_entry_points(role: Path) -> list[EntryPoint]:
    """The entry points of the role in a folder."""
    return entry_points((role / "meta" / "argument_specs.yml").read_text(encoding="utf-8"))


def pages() -> list[Path]:
    """All pages that may have tables."""
    return [
        ROOT / "README.md",
        *sorted((ROOT / "docs").glob("*.md")),
        *(folder / "README.md" for folder in role_folders()),
    ]


def all_texts() -> dict[str, str]:
    """The texts of the blocks of all roles."""
    texts: dict[str, str] = {}
    for role in role_folders():
        texts |= table_texts(role.name, read_entry_points(role))
    return texts


def main() -> None:
    """Update all tables."""
    texts = all_texts()
    for page in pages():
        before = page.read_text(encoding="utf-8")
        if (after := replace_blocks(before, texts)) != before:
            page.write_text(after, encoding="utf-8")


if __name__ == "__main__":
    main()
