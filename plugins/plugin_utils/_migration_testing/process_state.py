# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a migration may leave in its process: changed settings, and data in its modules."""

from __future__ import annotations

import locale
import os
import signal
import socket
import sys
from collections import deque
from collections.abc import Callable, Mapping
from copy import deepcopy
from itertools import count
from types import FunctionType, ModuleType
from typing import Any

from ...module_utils.migration import Migration
from .process_watch import is_ours

DATA = (type(None), bool, int, float, str, bytes, list, tuple, dict, set, frozenset, deque, count)


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


PROCESS_SETTINGS: Mapping[str, Callable[[], Any]] = {
    "os.environ": lambda: dict(os.environ),
    "the working directory (os.chdir)": os.getcwd,
    "the mode of new files (os.umask)": _umask,
    "the handlers of signals (signal.signal)": lambda: {
        one: signal.getsignal(one) for one in signal.valid_signals()
    },
    "the timeout of sockets (socket.setdefaulttimeout)": socket.getdefaulttimeout,
    "sys.path": lambda: list(sys.path),
    "the limit of recursion (sys.setrecursionlimit)": sys.getrecursionlimit,
    "the locale (locale.setlocale)": lambda: locale.setlocale(locale.LC_ALL),
}
"""What all migrations of a process share, by name, and what reads it."""


def is_of_author(name: str) -> bool:
    """Whether a module is of an author of migrations: no part of Python, of a package, or of our contract."""
    if name.startswith("ansible_collections."):
        return not is_ours(name) and name != Migration.__module__
    file = getattr(sys.modules.get(name), "__file__", None)
    return file is not None and not file.startswith((sys.prefix, sys.base_prefix))


def process_memory(migration: type[Migration]) -> dict[str, Any]:
    """A copy of the data in a migration's class, its base classes, their modules and its process, by name."""
    theirs = [one for one in migration.__mro__ if one is not Migration and issubclass(one, Migration)]
    names = dict.fromkeys(one.__module__ for one in theirs)
    for name in list(names):
        # What it imports from other modules of its author.
        values = vars(sys.modules[name]).values() if name in sys.modules else ()
        imported = (
            one.__name__ if isinstance(one, ModuleType) else getattr(one, "__module__", "") for one in values
        )
        names |= {one: None for one in imported if isinstance(one, str) and one and is_of_author(one)}
    places: dict[str, Mapping[str, Any]] = {f"{one.__name__}.": vars(one) for one in theirs}
    places |= {
        f"{name.rpartition('.')[2]}.": vars(sys.modules[name]) for name in names if name in sys.modules
    }
    settings = {name: read() for name, read in PROCESS_SETTINGS.items()}
    return settings | {
        prefix + name: data
        for prefix, members in places.items()
        for name, value in members.items()
        if not name.startswith("__") and (data := _data_of(value)) is not None
    }


def _data_of(value: Any) -> Any:
    """A copy of the data in a value, also of that in an object of an author's class, or in a function."""
    if isinstance(value, DATA):
        return repr(value) if isinstance(value, count) else deepcopy(value)
    is_theirs = isinstance(value, FunctionType) or is_of_author(type(value).__module__)
    inner = vars(value) if is_theirs and hasattr(value, "__dict__") and not isinstance(value, type) else {}
    if isinstance(value, FunctionType):
        inner = {**inner, "": value.__defaults__}
    return {name: deepcopy(one) for name, one in inner.items() if one and isinstance(one, DATA)} or None
