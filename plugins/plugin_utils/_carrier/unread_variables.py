# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Variables that look like misspelt ones of this collection's roles and playbooks and that nothing reads.

A variable may be the user's own and begin with ``kyma_``, as those of a role for a component do. So a name
counts as misspelt only if it is close to a known one, and neither a variable nor the play's file names it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from ...module_utils._text import did_you_mean

PREFIX = "kyma_"
CLOSE = 0.85
"""How alike two names must be beyond the prefix, from 0 to 1: of seven letters, one may be wrong."""
_NAME = re.compile(r"\bkyma_\w+")
_COLLECTION = Path(__file__).parents[3]
_DOCUMENTED = ("roles/*/meta/argument_specs.yml", "playbooks/*.yml")
_INTERNAL = ("roles/*/defaults/*.yml", "roles/*/vars/*.yml", "roles/*/tasks/*.yml")


def misspelt_variables(
    names: Iterable[str], documented: Collection[str], internal: Callable[[], Collection[str]]
) -> dict[str, str]:
    """The known name that each misspelt one is close to: pure.

    Args:
        names: of all variables.
        documented: the names that users may set.
        internal: further names that the collection uses. It is called only for names that are not documented.
    """
    unknown = [name for name in names if name.startswith(PREFIX) and name not in documented]
    if unknown:
        known = internal()
        unknown = [name for name in unknown if name not in known]
    bare = {name.removeprefix(PREFIX): name for name in documented}
    corrections: dict[str, str] = {}
    for name in unknown:
        if close := get_close_matches(name.removeprefix(PREFIX), bare, n=1, cutoff=CLOSE):
            corrections[name] = bare[close[0]]
    return corrections


def variable_warnings(
    variables: Mapping[str, Any],
    hosts: Sequence[str],
    variables_of: Callable[[str], Mapping[str, Any]],
    texts: Callable[[], str] = lambda: "",
) -> list[str]:
    """The warnings. If several hosts have the variable, only the task of the first one warns.

    Args:
        variables: of the task, not yet evaluated.
        hosts: of the play, this task's among them.
        variables_of: returns the variables of a host by its name. It takes milliseconds.
        texts: other texts that may read a variable. It is called only if one looks misspelt.
    """
    corrections = misspelt_variables(variables, documented_names(), internal_names)
    if not corrections:
        return []
    own = str(variables.get("inventory_hostname") or "")
    read = {name for text in (texts(), *_texts_of(variables)) for name in _NAME.findall(text)}
    return [
        f"nothing reads the variable {name} ({own}): {did_you_mean([known])}"
        for name, known in corrections.items()
        if name not in read and _first_with(name, hosts, variables_of) in ("", own)
    ]


@cache
def documented_names() -> frozenset[str]:
    """The variables that the roles and playbooks of this collection document or read."""
    return _names_in(_DOCUMENTED)


@cache
def internal_names() -> frozenset[str]:
    """The variables that its roles set themselves."""
    return _names_in(_INTERNAL)


def _names_in(patterns: Iterable[str]) -> frozenset[str]:
    files = [file for pattern in patterns for file in _COLLECTION.glob(pattern)]
    return frozenset(name for file in files for name in _NAME.findall(file.read_text("utf-8")))


def _first_with(name: str, hosts: Sequence[str], variables_of: Callable[[str], Mapping[str, Any]]) -> str:
    for host in hosts:
        with suppress(KeyError, AttributeError):
            if name in variables_of(host):
                return host
    return ""


def _texts_of(value: Any) -> Iterator[str]:
    """All texts in plain values; those of Ansible's own objects, such as ``hostvars``, are left out."""
    if isinstance(value, str):
        if PREFIX in value:
            yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts_of(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _texts_of(inner)
