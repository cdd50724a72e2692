# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Mistyped options and variables: numbers that can't be meant, and names that nothing reads.

A variable may be the user's own and begin with ``kyma_``, as those of a role for a component do. So the
values of other variables and the user's files are searched for a name that this collection does not know.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from ansible.module_utils.common.validation import check_type_float, check_type_int

from ...module_utils._text import did_you_mean
from .role_options import ROLES, variable_of
from .screen.progress_view import Verbosity

PREFIX = "kyma_"
CLOSE = 0.85
"""How alike two names must be beyond the prefix, from 0 to 1: of seven letters, one may be wrong."""
VERBOSITY_VARIABLE = "kyma_progress"
"""The variable that says how much progress is printed; see :class:`~.progress_view.Verbosity`."""
_NAME = re.compile(r"\bkyma_\w+")
_READ = re.compile(r"\bkyma_\w+\b(?![\"']?\s*:(?:\s|$))", re.MULTILINE)
"""A name in a user's file, unless it is the key of a mapping, which defines a variable."""
_SUFFIXES = frozenset({".yml", ".yaml", ".j2"})
MOST_FILES = 20_000
"""So many files in folders of the user's are looked at, at most."""
_COLLECTION = Path(__file__).parents[3]
_DOCUMENTED = ("roles/*/meta/argument_specs.yml", "playbooks/*.yml")
_INTERNAL = ("roles/*/defaults/*.yml", "roles/*/vars/*.yml", "roles/*/tasks/*.yml")


@dataclass(frozen=True)
class NumberRule:
    """The numbers that an option may have.

    Attributes:
        words: the rule for people, after "must be".
        accepts: whether a number, which is not NaN, follows it.
        read: converts a user's text to a number. Raises TypeError or ValueError.
    """

    words: str
    accepts: Callable[[float], bool]
    read: Callable[[Any], float] = check_type_float


_SECONDS = NumberRule("a number of seconds, 0 or more", lambda seconds: 0 <= seconds < math.inf)
_TIMEOUT = NumberRule("a number of seconds above 0", lambda seconds: 0 < seconds < math.inf)
RULES: Mapping[str, NumberRule] = {
    "workers": NumberRule("a whole number, 1 or more", lambda number: number >= 1, check_type_int),
    "timeout": _TIMEOUT,
    "wait_timeout": _TIMEOUT,
    "deadline": _SECONDS,
    "grace": _SECONDS,
    "patience": _SECONDS,
    "lease_wait": NumberRule("a number of seconds, 0 or more", lambda seconds: seconds >= 0),
    "lease_seconds": NumberRule(
        "a whole number of seconds, 6 or more, as a shorter lease ends before a request does",
        lambda seconds: seconds >= 6,
        check_type_int,
    ),
    "watch_seconds": NumberRule(
        "a whole number of seconds, 1 or more", lambda seconds: seconds >= 1, check_type_int
    ),
    "max_fail_percentage": NumberRule("a number from 0 to 100", lambda number: 0 <= number <= 100),
}
"""By the name of the option, which means the same in all modules."""
OF_JOBS = "stored_job"
"""The module with the fields of a job among its options. The timeout of a job is validated there."""


def number_problems(args: Mapping[str, Any], spec: Mapping[str, Any], module: str = "") -> dict[str, str]:
    """The errors of numbers among a task's options, one sentence for each such option.

    Args:
        args: the options as the user wrote them.
        spec: the options that the module has.
        module: its name, with or without that of the collection.
    """
    plain_name = module.rpartition(".")[2]
    role = ROLES.get(plain_name, "kyma")
    return {
        option: f"{option} ({variable_of(option, role)}) is {args[option]!r}, and must be {rule.words}"
        for option, rule in RULES.items()
        if option in spec
        and args.get(option) is not None
        and not (option == "timeout" and plain_name == OF_JOBS)
        and not _follows(rule, args[option])
    }


def _follows(rule: NumberRule, written: Any) -> bool:
    if isinstance(written, bool):
        return False
    try:
        number = rule.read(written)
    except (TypeError, ValueError, OverflowError):
        return False
    return not math.isnan(number) and rule.accepts(number)


def version_problem(args: Mapping[str, Any]) -> str:
    """Only the user's own text shows it: to the module it is a text like any other."""
    version = args.get("release_version")
    if not isinstance(version, float):
        return ""
    # Rarely needed.
    from .._release.version import number_problem

    return f"release_version (kyma_release_version): {number_problem(version)}"


def verbosity_of(value: Any) -> Verbosity:
    """How much progress the user wants to see; ValueError if the variable has no valid value."""
    try:
        return Verbosity(value)
    except ValueError:
        choices = ", ".join(Verbosity)
        raise ValueError(f"{VERBOSITY_VARIABLE} is {value!r}. Set it to one of: {choices}") from None


def unknown_variables(
    names: Iterable[str], documented: Collection[str], internal: Callable[[], Collection[str]]
) -> list[str]:
    """The names that begin with ``kyma_`` and that this collection does not know: pure.

    Args:
        names: of all variables.
        documented: the names that users may set.
        internal: further names that the collection uses. It is called only for names that are not documented.
    """
    unknown = [name for name in names if name.startswith(PREFIX) and name not in documented]
    return [name for name in unknown if name not in internal()]


def variable_warnings(
    variables: Mapping[str, Any],
    hosts: Sequence[str],
    variables_of: Callable[[str], Mapping[str, Any]],
    texts: Callable[[], Iterable[str]] = tuple,
) -> list[str]:
    """The warnings. If several hosts have the variable, only the task of the first one warns.

    Args:
        variables: of the task, not yet evaluated.
        hosts: of the play, this task's among them.
        variables_of: returns the variables of a host by its name. It takes milliseconds.
        texts: of the user's files, which may read a variable. It is called only if a name is unknown.
    """
    unknown = unknown_variables(variables, documented_names(), internal_names)
    for text in _texts_of(variables):
        unknown = [name for name in unknown if name not in _NAME.findall(text)]
    own = str(variables.get("inventory_hostname") or "")
    unknown = [name for name in unknown if _first_with(name, hosts, variables_of) in ("", own)]
    if not unknown:
        return []
    for text in texts():
        if PREFIX in text:
            unknown = [name for name in unknown if name not in _READ.findall(text)]
    return [f"nothing reads the variable {name} ({own}): {_correction(name)}" for name in unknown]


def _correction(name: str) -> str:
    bare = {known.removeprefix(PREFIX): known for known in documented_names()}
    close = get_close_matches(name.removeprefix(PREFIX), bare, n=1, cutoff=CLOSE)
    return did_you_mean([bare[one] for one in close]) or "no role of this collection has it"


def texts_below(folders: Iterable[Path]) -> Iterator[str]:
    """The texts of YAML files and templates in folders of the user's, except hidden and installed ones."""
    files = (file for folder in folders for file in _files_below(folder))
    for file in islice(files, MOST_FILES):
        if file.suffix in _SUFFIXES:
            with suppress(OSError, UnicodeDecodeError):
                yield file.read_text("utf-8")


def _files_below(folder: Path) -> Iterator[Path]:
    for place, below, names in os.walk(folder):
        below[:] = sorted(name for name in below if name[0] != "." and name != "ansible_collections")
        yield from (Path(place, name) for name in sorted(names))


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
