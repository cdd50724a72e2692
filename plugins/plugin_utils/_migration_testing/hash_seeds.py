# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Calls of a check in other processes, in which Python's sets have other orders.

The order of a set of texts depends on the seed of their hashes, which each process chooses. A process gets
the code of the check by value, so that it need not find the author's files, and the answers to its reads.
"""

from __future__ import annotations

import abc
import builtins
import dis
import importlib
import io
import json
import logging
import marshal
import os
import pickle
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import CellType, CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from ...module_utils._cluster.wrapper import Call, ClusterWrapper, T
from ...module_utils._deep_copy import deep_copy
from ...module_utils.migration import Context, Migration

if TYPE_CHECKING:
    from .attempt_record import MigrationEnvironment

SEEDS = (1, 2, 3, 4, 5)
SECONDS = 30.0
MOST_RELEASES = 6
CONTRACT = "ansible_collections.kyma.lifecycle.plugins.module_utils.migration"
OURS = (f"{CONTRACT.removesuffix('migration')}_", "ansible_collections.kyma.lifecycle.plugins.plugin_utils.")
OF_PROCESS = {"__dict__", "__weakref__", "__annotations__", "__annotate_func__", "_abc_impl"}
OF_PROCESS |= {"__abstractmethods__", "__dataclass_fields__", "__dataclass_params__"}
CHILD = f"import sys; sys.path[:] = {{!r}}; from {__name__} import answer; answer()"


def verdicts_by_seed(
    migration: type[Migration], reads: Sequence[tuple[Call, object]], around: MigrationEnvironment
) -> set[tuple[str, str]]:
    """The verdicts, each with its evidence; empty if a check uses no sets, or if it can't be copied."""
    buffer = io.BytesIO()
    copier = _Copier(buffer, "run", "undo")
    answers = {repr(call): answer for call, answer in reads}
    try:
        copier.dump(
            (migration, answers, dict(around.components), around.release, around.profile, around.variables)
        )
    except Exception:
        return set()  # It has something that no other process can have.
    if not copier.is_ordered_by_hash:
        return set()
    children = [
        subprocess.Popen(
            [sys.executable, "-S", "-c", CHILD.format(sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
        )
        for seed in SEEDS
    ]
    outputs = [child.communicate(buffer.getvalue(), SECONDS)[0] for child in children]
    return {tuple(json.loads(output)) for output in outputs if output}


def releases_named_in(migration: type[Migration]) -> list[str]:
    """Releases that the constants in its code may mean: ``"2.9"``, ``"2."``, ``(2, 9)``, ``2``."""
    copier = _Copier(io.BytesIO())
    with suppress(Exception):  # What can't be copied is not searched.
        copier.dump(migration)
    texts = (".".join(map(str, one)) if isinstance(one, tuple) else str(one) for one in copier.constants)
    numbers = {text for text in texts if re.fullmatch(r"[1-9][0-9]?(\.[0-9]{1,2}){0,2}\.?", text)}
    named = sorted(numbers, key=lambda text: (-text.count("."), text))[:MOST_RELEASES]
    return [text.strip(".") if "." in text.strip(".") else f"{text.strip('.')}.0" for text in named]


def answer() -> None:
    """Call the check that stdin describes, and write its verdict to stdout."""
    output, sys.stdout = sys.stdout, sys.stderr
    migration, answers, components, release, profile, variables = _Reader(sys.stdin.buffer).load()
    context = Context(
        _Replayed(answers),
        components,
        release,
        profile,
        variables,
        log=logging.getLogger(),
        remaining=lambda: SECONDS,
        cancelled=lambda: False,
        cancel=lambda _reason: None,
        sleep=lambda _seconds: None,
    )
    migration.run = Migration.undo
    verdict = abc.update_abstractmethods(migration)().check(context)
    output.write(json.dumps((verdict.state, verdict.evidence)))


class _Reader(pickle.Unpickler):
    """Reads what the parent process has copied."""


class _Replayed(ClusterWrapper):
    """A cluster that gives recorded answers."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self._answers = answers

    def _through(self, call: Call, _ask: Callable[[], T]) -> T:
        recorded: T = deep_copy(self._answers[repr(call)])
        return recorded


class _Copier(pickle.Pickler):
    """Pickles the functions and classes of a migration by value.

    Attributes:
        is_ordered_by_hash: whether a function creates sets, or uses hashes.
        constants: the texts, numbers and tuples in the functions, and those that they use.
    """

    is_ordered_by_hash = False

    def __init__(self, file: io.BytesIO, *left_out: str) -> None:
        super().__init__(file)
        self._left_out = OF_PROCESS.union(left_out)
        self.constants: dict[Any, None] = {}

    def reducer_override(self, obj: Any) -> Any:
        """How to create the object in another process; see ``pickle``."""
        if isinstance(obj, ModuleType):
            return importlib.import_module, (obj.__name__,)
        if isinstance(obj, property):
            return property, (obj.fget, obj.fset, obj.fdel)
        if isinstance(obj, staticmethod | classmethod):
            return type(obj), (obj.__func__,)
        if isinstance(obj, FunctionType) and is_of_author(obj.__module__):
            return self._function(obj)
        if isinstance(obj, type) and is_of_author(obj.__module__):
            members = {key: value for key, value in vars(obj).items() if key not in self._left_out}
            return type(obj), (obj.__name__, obj.__bases__, {}), members, None, None, _set_members
        return NotImplemented

    def _function(self, function: FunctionType) -> Any:
        instructions = list(_instructions(function.__code__))
        names = {one.argval for one in instructions if one.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
        self.is_ordered_by_hash |= not names.isdisjoint(("set", "frozenset", "hash")) or any(
            one.opname in ("BUILD_SET", "SET_ADD")
            or (one.opname == "BINARY_OP" and one.argrepr in ("-", "&", "|", "^"))
            for one in instructions
        )
        used = {name: function.__globals__[name] for name in sorted(names) if name in function.__globals__}
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
        known = [*(one.argval for one in instructions if one.opcode in dis.hasconst), *used.values(), *cells]
        self.constants |= {one: None for one in known if isinstance(one, str | int | tuple)}
        first = (marshal.dumps(function.__code__), function.__module__, len(cells))
        state = (function.__defaults__, function.__kwdefaults__, used, cells)
        return _new_function, first, state, None, None, _set_state


def _instructions(code: CodeType) -> list[dis.Instruction]:
    inner = [one for const in code.co_consts if isinstance(const, CodeType) for one in _instructions(const)]
    return [*dis.get_instructions(code), *inner]


def is_of_author(name: str) -> bool:
    """Whether a module is of an author of migrations: no part of Python, of a package, or of our contract."""
    if name.startswith("ansible_collections."):
        return not name.startswith(OURS) and name != CONTRACT
    file = getattr(sys.modules[name], "__file__", None) if name in sys.modules else name
    return file is not None and not file.startswith((sys.prefix, sys.base_prefix))


_globals: dict[str, dict[str, Any]] = {}


def _new_function(code: bytes, module: str, cells: int) -> FunctionType:
    known = _globals.setdefault(module, {"__name__": module, "__builtins__": builtins})
    return FunctionType(marshal.loads(code), known, closure=tuple(CellType() for _one in range(cells)))


def _set_state(function: FunctionType, state: tuple[Any, Any, dict[str, Any], list[Any]]) -> None:
    function.__defaults__, function.__kwdefaults__, used, contents = state
    function.__globals__.update(used)
    for cell, value in zip(function.__closure__ or (), contents, strict=True):
        cell.cell_contents = value


def _set_members(owner: type, members: Mapping[str, Any]) -> None:
    for name, value in members.items():
        setattr(owner, name, value)
