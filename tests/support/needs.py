# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requirements of tests that a machine may lack. Without them the test is skipped, and in CI it fails."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any, NoReturn

import pytest


def skip(reason: str) -> NoReturn:
    """Skip the test, or let it fail in CI."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def module_of_kubernetes_core(name: str) -> Any:
    """Return a Python module of the collection kubernetes.core, by its name below `plugins`."""
    plugins = "ansible_collections.kubernetes.core.plugins"
    try:
        import_module(plugins)
    except ImportError:
        skip("the collection kubernetes.core is not installed")
    return import_module(f"{plugins}.{name}")
