# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What docs/checklist.md says of the collection and no linter checks, and the one place of its address."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.doc_fragments.attributes import ModuleDocFragment

from tests.cluster.paths import ROOT
from tests.make.content import tracked_files

PLUGINS = ROOT / "plugins"
LINKS = "docs/docsite/links.yml"
"""Where antsibull-docs reads what else to link from the pages of modules and roles."""
GALAXY = yaml.safe_load((ROOT / "galaxy.yml").read_text(encoding="utf-8"))
FOLDERS = {"action", "callback", "doc_fragments", "filter", "module_utils", "modules", "plugin_utils"}
"""Those of `plugins` that the collection has; all of them are known to ansible-core or the community."""
PUBLIC = {"migration.py", "migrations", "migration_pytest.py", "migration_testing.py"}
"""Shared code that other collections may import."""
HEADER = "SPDX-License-Identifier: GPL-3.0-or-later"
TRACKED = sorted(path for path in tracked_files() if path.suffix not in (".png", ".gz"))

CHECKLIST = (ROOT / "docs" / "checklist.md").read_text(encoding="utf-8")
MODULES = sorted(path.stem for path in (PLUGINS / "modules").glob("*.py") if path.stem != "__init__")
READING_STATES = {"get", "gathered", "info", "list", "query", "read"}
"""Values of an option `state` for which another module is needed, which is named `…_info`."""


def documentation(module: str) -> dict[str, Any]:
    """What the documentation of a module says."""
    code = import_module(f"ansible_collections.kyma.lifecycle.plugins.modules.{module}")
    return dict(yaml.safe_load(code.DOCUMENTATION))


def states_in(options: dict[str, Any]) -> Iterator[str]:
    """The choices of each option `state`, also in lists of dictionaries."""
    for name, option in options.items():
        yield from option.get("choices", ()) if name == "state" else ()
        yield from states_in(option.get("suboptions", {}))


def test_each_point_is_met_or_left_to_a_person() -> None:
    points = CHECKLIST.partition("## What people decide")[0]
    states = re.findall(r"^\| (?!asked|-)[^|]+ \| ([^|]+) \| [^|]+ \|$", points, re.MULTILINE)
    assert len(states) > 45
    assert {*states} == {"met", "person"}


def test_no_module_reads_by_a_value_of_state() -> None:
    states = {name: {*states_in(documentation(name)["options"])} for name in MODULES}
    assert states["hold"] == {"present", "absent"}
    assert {name: own for name, own in states.items() if own & READING_STATES} == {}


def test_modules_that_only_read_have_check_mode() -> None:
    reading = [name for name in MODULES if name.endswith("_info")]
    assert len(reading) > 6
    assert {name for name in reading if f"`{name}`" not in CHECKLIST} == set()
    read = yaml.safe_load(ModuleDocFragment.READ)["attributes"]["check_mode"]["support"]
    fragments = {name: documentation(name)["extends_documentation_fragment"] for name in reading}
    assert read == "full"
    assert [name for name in reading if "kyma.lifecycle.attributes.read" not in fragments[name]] == []


def test_plugins_are_of_known_kinds() -> None:
    assert {path.name for path in PLUGINS.iterdir() if path.name != "__pycache__"} == FOLDERS


@pytest.mark.parametrize("folder", ["module_utils", "plugin_utils"])
def test_private_code_has_an_underscore(folder: str) -> None:
    names = {path.name for path in (PLUGINS / folder).iterdir()} - PUBLIC - {"__pycache__"}
    assert [name for name in names if not name.startswith("_")] == []


def test_each_file_of_code_names_its_licence() -> None:
    files = [path for path in TRACKED if path.suffix == ".py" and (ROOT / path).stat().st_size]
    without = [str(path) for path in files if HEADER not in (ROOT / path).read_text(encoding="utf-8")]
    assert without == []


def test_nothing_that_users_call_needs_another_folder() -> None:
    outside = re.compile(r"collection_path|(?:\.\./){3}|['\"/](?:docs|examples|tests|changelogs)/")
    files = [path for path in TRACKED if path.parts[0] in ("roles", "playbooks") and path.suffix != ".md"]
    lines = [
        f"{path}: {line.strip()}"
        for path in files
        for line in (ROOT / path).read_text(encoding="utf-8").splitlines()
        if outside.search(line) and not line.lstrip().startswith("#")
    ]
    assert lines == []


def test_dependencies_have_a_stable_lower_bound() -> None:
    bounds = {name: re.fullmatch(r">=(\d+)\..*", version) for name, version in GALAXY["dependencies"].items()}
    assert [name for name, bound in bounds.items() if not bound or int(bound[1]) < 1] == []


def test_the_address_of_the_repository_has_one_place() -> None:
    address, site = GALAXY["repository"], GALAXY["documentation"]
    owner, name = address.split("/")[-2:]
    named = re.compile(rf"https?://[^\s)>\"']*{re.escape(name)}[^\s)>\"'`]*")
    others = {
        (str(path), link)
        for path in TRACKED
        if path.parts[0] != "tests"
        for link in named.findall((ROOT / path).read_text(encoding="utf-8"))
        if not link.startswith(f"{address}/") and link not in (address, site)
    }
    assert others == set()
    assert owner == "kyma-project"
    assert all(GALAXY[field].startswith(address) for field in ("homepage", "issues"))
    assert site == f"https://{owner}.github.io/{name}"


def test_the_links_of_the_site_lead_to_the_repository() -> None:
    links = yaml.safe_load((ROOT / LINKS).read_text(encoding="utf-8"))
    edited = links["edit_on_github"]
    assert f"https://github.com/{edited['repository']}" == GALAXY["repository"]
    page = f"{GALAXY['repository']}/blob/{edited['branch']}/"
    for link in links["extra_links"]:
        assert link["url"].startswith(page)
        assert (ROOT / link["url"].removeprefix(page)).is_file()


def test_nothing_that_a_reader_runs_needs_the_repository() -> None:
    only_links = ("galaxy.yml", LINKS)
    pages = [
        path for path in TRACKED if path.suffix in (".md", ".yml", ".yaml") and str(path) not in only_links
    ]
    assert [str(path) for path in pages if GALAXY["repository"] in (ROOT / path).read_text()] == []
