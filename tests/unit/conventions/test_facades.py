# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The docstring of a package names the modules that other rooms import from it, no more and no less."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tests.support.rooms import graph_in, graph_of, imports_from_outside, packages, public_modules

FOLDERS = ("module_utils", "plugin_utils", "modules", "action", "callback", "filter")


def differences(graph: Mapping[str, Iterable[str]], docstrings: Mapping[str, str]) -> list[str]:
    """What packages name and what other rooms import, where these differ, in words."""
    imported = imports_from_outside(graph)
    lines = []
    for package, docstring in sorted(docstrings.items()):
        named, used = public_modules(docstring), imported.get(package, set())
        missing = {name for name in named if f"{package}.{name}" not in graph}
        lines += [f"{package} names {name}, which does not exist" for name in sorted(missing)]
        lines += [
            f"{package} names {name}, which no other room imports" for name in sorted(named - used - missing)
        ]
        lines += [
            f"{package} does not name {name}, which another room imports" for name in sorted(used - named)
        ]
    return lines


def unlisted_folders(docstrings: Mapping[str, str]) -> list[str]:
    """The folders in a package that it does not name, and whose names do not say that they are private."""
    inner = {package: package.rpartition(".") for package in docstrings if package.count(".") > 1}
    return [
        package
        for package, (parent, _dot, name) in inner.items()
        if not name.startswith("_") and name not in public_modules(docstrings[parent])
    ]


def test_each_package_names_what_other_rooms_import() -> None:
    assert differences(graph_in(*FOLDERS), packages()) == []


def test_an_inner_folder_is_named_or_private() -> None:
    assert unlisted_folders(packages()) == []


SOURCES = {
    "module_utils._tasks.plan": "from .._deploy.plan.planner import plan\nfrom .._deploy import options\n",
    "module_utils._deploy": "",
    "module_utils._deploy.options": "from .plan.hops import hops\n",
    "module_utils._deploy.plan": "",
    "module_utils._deploy.plan.planner": "from . import hops\n",
    "module_utils._deploy.plan.hops": "",
}
TRUE = {
    "module_utils._deploy": "A release.\n\nPublic modules: `options`\nand `plan`.",
    "module_utils._deploy.plan": "A plan.\n\nPublic modules: `planner`.\n\n`hops` has the steps.",
}


def test_a_package_may_name_a_module_and_a_folder_whose_modules_its_own_docstring_names() -> None:
    assert differences(graph_of(SOURCES), TRUE) == []
    assert unlisted_folders(TRUE) == []


def test_a_module_that_is_named_wrongly_or_not_at_all_is_reported() -> None:
    docstrings = {
        "module_utils._deploy": "Public modules: `plan`, `deployment`.",
        "module_utils._deploy.plan": "Public modules: `planner` and `hops`.",
    }
    assert differences(graph_of(SOURCES), docstrings) == [
        "module_utils._deploy names deployment, which does not exist",
        "module_utils._deploy does not name options, which another room imports",
        "module_utils._deploy.plan names hops, which no other room imports",
    ]


def test_a_folder_that_is_neither_named_nor_private_is_reported() -> None:
    docstrings = {"m._deploy": "A release.", "m._deploy.plan": "A plan.", "m._deploy._run": "A run."}
    assert unlisted_folders(docstrings) == ["m._deploy.plan"]
