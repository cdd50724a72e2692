# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a migration may leave in its process: changed settings, threads, programs, and data in its modules."""

from __future__ import annotations

import locale
import os
import re
import socket
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import deepcopy
from functools import partial
from itertools import count
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from ...module_utils._long_waits import THREAD
from ...module_utils.migration import Migration
from .process_watch import is_ours

DATA = (type(None), bool, int, float, str, bytes, list, tuple, dict, set, frozenset, deque, count)


_locale = partial(locale.setlocale, locale.LC_ALL)


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _threads() -> set[threading.Thread]:
    return {one for one in threading.enumerate() if one.name != THREAD}


def _set_environment(variables: Mapping[str, str]) -> None:
    os.environ.clear()
    os.environ.update(variables)


def _text_in_proc(pattern: str) -> str:
    """The text of files about this process; empty where there are none, as on macOS."""
    texts = []
    for path in Path("/proc/self").glob(pattern):
        with suppress(OSError):  # A thread has ended meanwhile.
            texts.append(path.read_text())
    return " ".join(texts)


SHARED: Mapping[str, tuple[Callable[[], Any], Callable[[Any], object]]] = {
    "changes os.environ": (lambda: dict(os.environ), _set_environment),
    "changes the working directory (os.chdir)": (os.getcwd, os.chdir),
    "changes the mode of new files (os.umask)": (_umask, os.umask),
    "changes the handlers of signals (faulthandler.register)": (
        lambda: re.findall("Sig(?:Ign|Cgt):.*", _text_in_proc("status")),
        bool,
    ),
    "changes the timeout of sockets (socket.setdefaulttimeout)": (
        socket.getdefaulttimeout,
        socket.setdefaulttimeout,
    ),
    "changes sys.path": (lambda: list(sys.path), lambda was: setattr(sys, "path", was)),
    "changes the limit of recursion (sys.setrecursionlimit)": (sys.getrecursionlimit, sys.setrecursionlimit),
    "changes the locale (locale.setlocale)": (_locale, _locale),
    "leaves a thread that still works": (_threads, bool),
    "leaves a program that still runs": (lambda: set(_text_in_proc("task/*/children").split()), bool),
}
"""What all migrations of a process share: a clause, how to read it, and how to restore it if possible."""


def shared_state() -> dict[str, Any]:
    """A copy of what all migrations of the process share."""
    return {name: read() for name, (read, _restore) in SHARED.items()}


def restore_shared(state: Mapping[str, Any]) -> list[str]:
    """Restore a shared state. Returns what has changed since, each as a clause."""
    changes = []
    for name, (read, restore) in SHARED.items():
        now, was = read(), state[name]
        has_only_ended = isinstance(now, set) and now <= was
        if now != was and not has_only_ended:
            changes.append(name)
            restore(was)
    return changes


def is_of_author(name: str) -> bool:
    """Whether a module is of an author of migrations: no part of Python, of a package, or of our contract."""
    if name.startswith("ansible_collections."):
        return not is_ours(name) and name != Migration.__module__
    file = getattr(sys.modules.get(name), "__file__", None)
    return file is not None and not file.startswith((sys.prefix, sys.base_prefix))


def data_in_modules(migration: type[Migration]) -> dict[str, Any]:
    """A copy of the data in a migration's class, its base classes and their modules, by name."""
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
    return {
        prefix + name: data
        for prefix, members in places.items()
        for name, value in members.items()
        if not name.startswith("__") and (data := _data_of(value)) is not None
    }


def _data_of(value: Any) -> Any:
    """A copy of the data in a value, also of that in an object of an author's class, or in a function."""
    if isinstance(value, DATA):
        return _copy_of(value)
    is_theirs = isinstance(value, FunctionType) or is_of_author(type(value).__module__)
    inner = vars(value) if is_theirs and hasattr(value, "__dict__") and not isinstance(value, type) else {}
    if isinstance(value, FunctionType):
        inner = {**inner, "": value.__defaults__}
    return {name: _copy_of(one) for name, one in inner.items() if one and isinstance(one, DATA)} or None


def _copy_of(value: Any) -> Any:
    try:
        return repr(value) if isinstance(value, count) else deepcopy(value)
    except TypeError:  # A lock in it, for example, can't be copied.
        return repr(value)
