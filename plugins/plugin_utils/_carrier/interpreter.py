# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Uses Ansible's own Python for the work, if the work runs on the controller."""

from __future__ import annotations

import importlib.util
import sys
from contextlib import suppress
from typing import Any

LIBRARIES = ("kubernetes", "yaml")
INTERPRETER = "ansible_python_interpreter"


def import_early(*names: str) -> None:
    """Import libraries that tasks need, if they are installed.

    Ansible's main process imports an action plugin before it forks a worker for each of its tasks. So all
    that is imported with it is imported once.

    Args:
        names: of libraries that tasks of that plugin need and that may be missing.
    """
    for name in names:
        with suppress(ImportError):
            importlib.import_module(name)


def has_libraries() -> bool:
    """Whether this Python has the libraries for talking to a cluster; it imports nothing to find out."""
    return all(importlib.util.find_spec(name) for name in LIBRARIES)


def with_own_python(task_vars: dict[str, Any], delegate_to: str | None) -> dict[str, Any]:
    """Variables that make this Python run local modules, unless the user has chosen one.

    An inventory host with ``connection: local`` would otherwise get a discovered Python, the system's, which
    seldom has the libraries.
    """
    if not delegate_to:
        return {INTERPRETER: sys.executable, **task_vars}
    delegated = task_vars.get("ansible_delegated_vars") or {}
    of_host = {INTERPRETER: sys.executable, **(delegated.get(delegate_to) or {})}
    return {**task_vars, "ansible_delegated_vars": {**delegated, delegate_to: of_host}}
