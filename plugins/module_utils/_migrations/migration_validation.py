# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Validation of migrations: all problems at once, each with file and line."""

from __future__ import annotations

import ast
import inspect
import re
from abc import ABC
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import Any

from .._text import did_you_mean, suggestion
from ..migration import Migration, Phase

ON_FAILURE = ("fail", "warn")
_ID_PART = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
_VERSION = re.compile(r"\d+(\.\d+)*")


@dataclass(frozen=True)
class Candidate:
    """A class that was found and may be a migration.

    Attributes:
        migration: the class.
        file: its file, by the path that the author knows.
        source: returns the text of that file, to find the line.
    """

    migration: type[Migration]
    file: str
    source: Callable[[], str] = lambda: ""

    @property
    def is_base(self) -> bool:
        """Whether the class is only a base for others."""
        cls = self.migration
        return inspect.isabstract(cls) and (ABC in cls.__bases__ or bool(cls.__subclasses__()))

    @cached_property
    def place(self) -> str:
        """``file:line`` of the class."""
        name = self.migration.__name__
        for node in ast.walk(ast.parse(self.source())):
            if isinstance(node, ast.ClassDef) and node.name == name:
                return f"{self.file}:{node.lineno}"
        return f"{self.file}:1"

    def problem(self, text: str) -> str:
        """A problem of this class, in a line."""
        return f"{self.place}: {self.migration.__name__}: {text}"


def migration_problems(candidates: Sequence[Candidate]) -> list[str]:
    """All problems of these migrations. If there is any, none of them may run."""
    migrations = [candidate for candidate in candidates if not candidate.is_base]
    problems = [c.problem(text) for c in migrations for text in _of_class(c.migration)]
    # Only migrations with an id can be compared with others.
    named = [c for c in migrations if not list(_of_id(c.migration))]
    return [*problems, *_duplicates(named), *_of_order(named)]


def _of_class(cls: type[Migration]) -> Iterator[str]:
    yield from _of_id(cls)
    if inspect.isabstract(cls):
        missing = " and ".join(sorted(cls.__abstractmethods__))
        yield f"it lacks {missing} (a class that is only a base for others has a name that begins with _)"
    for name in ("check", "run", "undo"):
        method = getattr(cls, name)
        if not callable(method):
            yield f"{name} must be a function, not {method!r}"
        elif inspect.iscoroutinefunction(method):
            yield f"{name} must be a plain function, not async"
        elif not _takes_context(cls, name):
            yield f"{name} must take one argument beside self, the context: def {name}(self, ctx)"
    if not (cls.__dict__.get("__doc__") or "").strip():
        yield "it has no docstring: its first line says what the migration brings about"
    yield from _of_retirement(cls)
    if _texts(cls.after) is None:
        yield f"after must be a list of ids, not {cls.after!r}"
    if cls.on_failure not in ON_FAILURE:
        yield f"on_failure must be one of {', '.join(ON_FAILURE)}, not {cls.on_failure!r}"
    timeout: Any = cls.timeout
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not timeout > 0:
        yield f"timeout must be a number of seconds above 0, not {timeout!r}"
    if not _is_text(cls.irreversible):
        yield f"irreversible must be a text, not {cls.irreversible!r}"
    if _texts(cls.irreversible_kinds) is None:
        yield f"irreversible_kinds must be a list of kinds, not {cls.irreversible_kinds!r}"
    elif cls.irreversible_kinds and not cls.irreversible:
        yield "it has irreversible_kinds, and irreversible does not say why they can't be undone"
    yield from _unknown_attributes(cls)


def _unknown_attributes(cls: type[Migration]) -> Iterator[str]:
    """Attributes that are never read, because those of :class:`~..migration.Migration` have other names.

    A class's own attributes are methods, or have a name that begins with an underscore or is in capitals.
    """
    known = [name for name in {**Migration.__annotations__, **vars(Migration)} if name[0] != "_"]
    plain = {_letters(name): name for name in known}
    bases = (base for base in cls.__mro__ if issubclass(base, Migration) and base is not Migration)
    for name, value in {name: value for base in bases for name, value in vars(base).items()}.items():
        if name in known or name.startswith("_") or name.isupper():
            continue
        is_own = isinstance(value, type) or hasattr(value, "__get__")
        letters = _letters(name)
        near = [letters] if letters in plain else [] if is_own else get_close_matches(letters, plain, n=1)
        if near:
            yield f"{name} is no attribute of a migration: {did_you_mean([plain[near[0]]])}"
        elif not is_own:
            yield (
                f"{name} is no attribute of a migration; an attribute of your own begins with an underscore,"
                f" or is in capitals; there are {', '.join(known)}"
            )


def _letters(name: str) -> str:
    """A name without underscores and case, to find misspelled names."""
    return name.replace("_", "").lower()


def _takes_context(cls: type[Migration], name: str) -> bool:
    method = inspect.getattr_static(cls, name)
    code = getattr(method, "__code__", None)
    if code and (code.co_argcount, code.co_kwonlyargcount) == (2, 0):
        # This is the usual case. A signature takes long to compute, for hundreds of methods.
        return True
    given = (None,) if isinstance(method, (classmethod, staticmethod)) else (None, None)
    try:
        inspect.signature(getattr(cls, name)).bind(*given)
    except TypeError:
        return False
    return True


def _of_id(cls: type[Migration]) -> Iterator[str]:
    component = getattr(cls, "component", None)
    if component is None:
        yield "it has no component: name the one that it belongs to, or GLOBAL"
    elif not (_is_text(component) and _ID_PART.fullmatch(component)):
        yield f"component must be a component's name, not {component!r}"
    phase = getattr(cls, "phase", None)
    if phase is None:
        yield "it has no phase: Phase.PRE or Phase.POST"
    elif not isinstance(phase, Phase):
        yield f"phase must be Phase.PRE or Phase.POST, not {phase!r}"
    if not _is_text(cls.name) or (cls.name and not _ID_PART.fullmatch(cls.name)):
        yield f"name must consist of letters, digits and dashes, not {cls.name!r}"


def _of_retirement(cls: type[Migration]) -> Iterator[str]:
    remove_in, keep = cls.remove_in, cls.keep
    if not _is_text(remove_in) or (remove_in and not _VERSION.fullmatch(remove_in)):
        yield f"remove_in must be a version in quotes, such as '2.12', not {remove_in!r}"
    if not _is_text(keep):
        yield f"keep must be a text, not {keep!r}"
    if not remove_in and not keep:
        yield "it has neither remove_in (the release that no longer ships it) nor keep (why it stays)"
    if remove_in and keep:
        yield "it has both remove_in and keep: either it goes or it stays"


def _duplicates(candidates: Sequence[Candidate]) -> Iterator[str]:
    first: dict[str, Candidate] = {}
    for candidate in candidates:
        known = first.setdefault(candidate.migration.id(), candidate)
        if known is not candidate:
            yield candidate.problem(f"the id {candidate.migration.id()} is already taken by {known.place}")


def _of_order(candidates: Sequence[Candidate]) -> Iterator[str]:
    by_id = {candidate.migration.id(): candidate for candidate in candidates}
    graph: dict[str, list[str]] = {}
    for own_id, candidate in by_id.items():
        cls = candidate.migration
        graph[own_id] = []
        for other_id in _texts(cls.after) or ():
            other = by_id.get(other_id)
            if other is None:
                yield candidate.problem(_unknown_after(other_id, sorted(by_id)))
            elif (other.migration.component, other.migration.phase) != (cls.component, cls.phase):
                yield candidate.problem(
                    f"after names {other_id}, which belongs to {other.migration.component} "
                    f"({other.migration.phase}): only migrations of the same component and phase wait "
                    f"for each other"
                )
            else:
                graph[own_id].append(other_id)
    yield from _cycles(graph, by_id)


def _unknown_after(other_id: str, names: Sequence[str]) -> str:
    hint = suggestion(other_id, names, 1) or "if it has been retired, take it out of after"
    return f"after names {other_id!r}, and there is no such migration: {hint}"


def _cycles(graph: dict[str, list[str]], by_id: dict[str, Candidate]) -> Iterator[str]:
    """One problem per cycle. Each cycle is removed before the next is searched."""
    left = {node: list(after) for node, after in graph.items() if after}
    while True:
        try:
            TopologicalSorter(left).prepare()
        except CycleError as error:
            cycle: list[str] = error.args[1]
            # graphlib lists each before the one that waits for it.
            path = " -> ".join(reversed(cycle))
            places = ", ".join(by_id[node].place for node in dict.fromkeys(cycle))
            yield by_id[cycle[0]].problem(f"after makes a cycle: {path} ({places})")
            for node in cycle:
                left.pop(node, None)
        else:
            return


def _texts(value: object) -> list[str] | None:
    if isinstance(value, (list, tuple)) and all(isinstance(one, str) for one in value):
        return list(value)
    return None


def _is_text(value: object) -> bool:
    return isinstance(value, str)
