# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Calls of a check in other processes, in which Python's sets have other orders.

The order of a set of texts depends on the seed of their hashes, which each process chooses. A process gets the
code of the check by value, so that it need not find the author's files, and the answers to its reads.
"""

from __future__ import annotations

import abc
import builtins
import dis
import importlib
import io
import marshal
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import CellType, CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, NoReturn

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.deep_copy import deep_copy
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.wrapper import Call, ClusterWrapper, T
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import Context, Migration

if TYPE_CHECKING:
    from .attempt_record import MigrationEnvironment

SEEDS = (1, 2, 3, 4, 5)
SECONDS = 30.0
CONTRACT = "ansible_collections.kyma.lifecycle.plugins.module_utils.migration"
OURS = (f"{CONTRACT.removesuffix('migration')}_", "ansible_collections.kyma.lifecycle.plugins.plugin_utils.")
MEMBERS_OF_PROCESS = ("__dict__", "__weakref__", "__annotations__", "__annotate_func__", "_abc_impl")
MEMBERS_OF_PROCESS += ("__abstractmethods__", "__dataclass_fields__", "__dataclass_params__")
MEMBERS_OF_RUN = (*MEMBERS_OF_PROCESS, "run", "undo")
CHILD = f"import sys; sys.path[:] = {{path!r}}; from {__name__} import answer; answer()"

Reads = Sequence[tuple[Call, object]]
Said = tuple[str, str]
"""The state and the evidence of a verdict."""


def verdicts_by_seed(
    migration: type[Migration], reads: Reads, around: MigrationEnvironment
) -> set[Said]:
    """The verdicts of a check in other processes; empty if its code uses no sets, or can't be copied.

    Args:
        migration: the class.
        reads: the calls of its check, each with the answer.
        around: its environment.
    """
    buffer = io.BytesIO()
    copier = _Copier(buffer, pickle.HIGHEST_PROTOCOL)
    answers = {repr(call): answer for call, answer in reads}
    try:
        copier.dump((migration, answers, dict(around.components), around.release, around.profile, around.variables))
    except Exception:
        return set()  # Code can hold what no other process can have.
    if not copier.is_ordered_by_hash:
        return set()
    children = [
        subprocess.Popen(
            [sys.executable, "-S", "-c", CHILD.format(path=sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
        )
        for seed in SEEDS
    ]
    outputs = [child.communicate(buffer.getvalue(), SECONDS)[0] for child in children]
    return {pickle.loads(output) for output in outputs if output}


def answer() -> None:
    """Call the check that stdin describes, and write its verdict to stdout."""
    migration, answers, components, release, profile, variables = pickle.load(sys.stdin.buffer)
    output, sys.stdout = sys.stdout.buffer, sys.stderr
    context = Context(
        cluster=_Replayed(answers),
        components=components,
        release=release,
        profile=profile,
        variables=variables,
        log=_Silent(),
        remaining=lambda: SECONDS,
        cancelled=lambda: False,
        cancel=lambda _reason: None,
        sleep=lambda _seconds: None,
    )
    migration.run = Migration.undo
    verdict = abc.update_abstractmethods(migration)().check(context)
    output.write(pickle.dumps((verdict.state, verdict.evidence)))


class _Silent:
    def info(self, message: str) -> None:
        """Ignore a line."""

    def warning(self, message: str) -> None:
        """Ignore a line."""


class _Replayed(ClusterWrapper):
    """A cluster that gives recorded answers."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self._answers = answers

    def with_field_manager(self, name: str) -> _Replayed:
        return self

    def _through(self, call: Call, ask: Callable[[], T]) -> T:
        found: T = deep_copy(self._answers[repr(call)])
        return found

    def _watched(self, ask: Callable[[], Iterator[Any]]) -> NoReturn:
        raise NotImplementedError


class _Copier(pickle.Pickler):
    """Pickles the functions and classes of a migration by value.

    Attributes:
        is_ordered_by_hash: whether there is code that creates sets, or uses hashes.
    """

    is_ordered_by_hash = False

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, ModuleType):
            return importlib.import_module, (obj.__name__,)
        if isinstance(obj, property):
            return property, (obj.fget, obj.fset, obj.fdel)
        if isinstance(obj, staticmethod | classmethod):
            return type(obj), (obj.__func__,)
        if isinstance(obj, FunctionType) and is_of_author(obj.__module__):
            return self._function(obj)
        if isinstance(obj, type) and is_of_author(obj.__module__):
            left_out = MEMBERS_OF_RUN if issubclass(obj, Migration) else MEMBERS_OF_PROCESS
            members = {key: value for key, value in vars(obj).items() if key not in left_out}
            return type(obj), (obj.__name__, obj.__bases__, {}), members, None, None, _set_members
        return NotImplemented

    def _function(self, function: FunctionType) -> Any:
        names: set[str] = set()
        for one in (one for code in _codes_in(function.__code__) for one in dis.get_instructions(code)):
            if one.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                names.add(one.argval)
            is_operation = one.opname == "BINARY_OP" and one.argrepr in ("-", "&", "|", "^")
            self.is_ordered_by_hash |= is_operation or one.opname in ("BUILD_SET", "SET_ADD")
        self.is_ordered_by_hash |= not names.isdisjoint(("set", "frozenset", "hash"))
        used = {name: function.__globals__[name] for name in sorted(names) if name in function.__globals__}
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
        first = (marshal.dumps(function.__code__), function.__module__, len(cells))
        state = (function.__defaults__, function.__kwdefaults__, used, cells)
        return _new_function, first, state, None, None, _set_state


def is_of_author(name: str) -> bool:
    """Whether a module is of the author of a migration: no part of Python, of a package, or of our contract."""
    if name.startswith("ansible_collections."):
        return not name.startswith(OURS) and name != CONTRACT
    file = getattr(sys.modules.get(name), "__file__", None) if name in sys.modules else name
    return file is not None and not file.startswith((sys.prefix, sys.base_prefix))


def _codes_in(code: CodeType) -> Iterator[CodeType]:
    yield code
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _codes_in(one)


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
