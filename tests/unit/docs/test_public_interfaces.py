# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page about public interfaces names exactly what the collection has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import API_VERSION
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_definition import ERRAND_KINDS
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.store_kinds import (
    STORE_KINDS,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.shared.record_kinds import RECORD_KINDS
from ansible_collections.kyma.lifecycle.plugins.plugin_utils import migration_testing

from tests.cluster.paths import ROOT

PAGE = (ROOT / "docs" / "public_interfaces.md").read_text()
NO_RESULTS = {"kyma_modules_answer"}
"""What a role registers for itself alone."""


def section(heading: str) -> str:
    """The text below a heading, up to what is promised."""
    [text] = re.findall(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)
    return str(text).partition("**Promised:**")[0]


def quoted(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def table(heading: str) -> Iterator[list[str]]:
    rows = [line for line in section(heading).splitlines() if line.startswith("| `")]
    yield from ([cell.strip() for cell in row.strip("|").split("|")] for row in rows)


def names_in(folder: str, pattern: str) -> list[str]:
    return sorted(path.stem for path in (ROOT / folder).glob(pattern) if path.stem != "__init__")


def entry_points(role: str) -> dict[str, Any]:
    text = (ROOT / "roles" / role / "meta" / "argument_specs.yml").read_text()
    return dict(yaml.safe_load(text)["argument_specs"])


ROLES = sorted(path.name for path in (ROOT / "roles").iterdir() if path.is_dir())
ENTRY_POINTS = [spec for role in ROLES for spec in entry_points(role).values()]
ROLE_VARIABLES = {name for spec in ENTRY_POINTS for name in spec.get("options") or {}}


def registered_in(folder: str) -> set[str]:
    """The variables that tasks register or set."""
    texts = [path.read_text() for path in (ROOT / folder).rglob("*.yml")]
    return {name for text in texts for name in re.findall(r"(?:register: |set_fact:\n +)(kyma_\w+)", text)}


@pytest.mark.parametrize(
    ("heading", "folder", "pattern"),
    [("Modules", "plugins/modules", "*.py"), ("Playbooks", "playbooks", "*.yml")],
)
def test_the_page_names_each(heading: str, folder: str, pattern: str) -> None:
    assert quoted(section(heading)) == names_in(folder, pattern)


def test_the_page_names_each_role_with_its_entry_points() -> None:
    listed = {quoted(role)[0]: quoted(points) for role, points in table("Roles")}
    assert listed == {role: list(entry_points(role)) for role in ROLES}


def test_the_page_names_the_variables_that_only_playbooks_have() -> None:
    texts = [path.read_text() for path in (ROOT / "playbooks").rglob("*.yml")]
    used = {name for text in texts for name in re.findall(r"(?<![\w.])kyma_\w+", text)}
    used -= ROLE_VARIABLES | registered_in("playbooks") | registered_in("roles") | {*ROLES}
    used -= {"kyma_migrations_by_cluster"}
    assert [name for name in quoted(section("Variables")) if name.startswith("kyma_")] == sorted(used)


def test_the_page_names_the_results_of_each_role() -> None:
    listed = [name for names, _role, _fields in table("Results") for name in quoted(names)]
    assert sorted(listed) == sorted(registered_in("roles") - NO_RESULTS)


def test_the_page_names_each_kind_with_its_short_name() -> None:
    heading = "Kinds of records and definitions"
    listed = {quoted(kind)[0]: quoted(short) for kind, short, _writer in table(heading)}
    definitions = [*RECORD_KINDS.definitions, *STORE_KINDS.definitions, *ERRAND_KINDS.definitions]
    names = [one["spec"]["names"] for one in definitions]
    assert listed == {one["kind"]: one["shortNames"] for one in names}
    assert quoted(section(heading))[0] == API_VERSION


def test_every_other_python_module_has_a_private_name() -> None:
    rows = table("For authors of migrations")
    listed = {quoted(module)[0].removeprefix("plugins.") for module, _text in rows}
    plugins = ROOT / "plugins"
    files = [path for room in ("module_utils", "plugin_utils") for path in (plugins / room).rglob("*.py")]
    names = [path.relative_to(plugins).with_suffix("") for path in files if path.stem != "__init__"]
    assert {".".join(name.parts) for name in names if not is_private(name)} == listed


def is_private(path: Path) -> bool:
    is_migration = path.parts[:2] == ("module_utils", "migrations")
    return is_migration or any(part.startswith("_") for part in path.parts)


def test_the_kit_has_the_names_that_it_promises() -> None:
    assert all(hasattr(migration_testing, name) for name in migration_testing.__all__)


def test_the_page_names_each_plugin_of_another_type() -> None:
    listed = {quoted(name)[0] for name, _type in table("Plugins of other types")}
    folders = ("plugins/callback", "plugins/filter", "extensions/eda/plugins/event_source")
    assert listed == {name for folder in folders for name in names_in(folder, "*.py")}
    ours = {"action", "callback", "doc_fragments", "filter", "module_utils", "modules", "plugin_utils"}
    assert {path.name for path in (ROOT / "plugins").iterdir() if path.is_dir()} - {"__pycache__"} == ours
