# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All lists of Python libraries have the libraries and versions of meta/ee-requirements.txt."""

from __future__ import annotations

import re
from importlib import import_module

import yaml
from ansible_collections.kyma.lifecycle.plugins.doc_fragments.attributes import ModuleDocFragment
from packaging.version import Version

from tests.cluster.paths import ROOT
from tests.make.content import tracked_files

LOWEST = dict(line.split(">=") for line in (ROOT / "meta" / "ee-requirements.txt").read_text().split())
MODULES = sorted(path.stem for path in (ROOT / "plugins" / "modules").glob("*.py") if path.stem != "__init__")
GUIDE = (ROOT / "docs" / "guide_execution_environment.md").read_text(encoding="utf-8")
PRINTED = re.compile(rf"\b({'|'.join(LOWEST)})>=([\d.]+\d)(?!.*from collection kubernetes\.core)")
"""A requirement of a library, as pip reads it."""


def own_requirements(module: str) -> list[str]:
    """The lines that a module adds to the requirements of all modules."""
    code = import_module(f"ansible_collections.kyma.lifecycle.plugins.modules.{module}")
    return list(yaml.safe_load(code.DOCUMENTATION).get("requirements", ()))


def libraries_in(lines: list[str]) -> dict[str, str]:
    """The lowest version of each library in lines such as ``PyYAML >= 6.0, for manifests``."""
    return dict(re.findall(r"^([\w-]+) >= ([\d.]+\d)", "\n".join(lines), re.MULTILINE))


def test_the_documentation_of_modules_has_all_libraries() -> None:
    common = yaml.safe_load(ModuleDocFragment.DOCUMENTATION)["requirements"]
    named = libraries_in([*common, *(line for module in MODULES for line in own_requirements(module))])
    assert named.pop("python") == "3.11"
    assert named == LOWEST


def test_the_guide_of_execution_environments_has_all_libraries() -> None:
    cells = re.findall(r"^\| (.*?) \| \[meta/ee-requirements\.txt\]", GUIDE, re.MULTILINE)
    assert sorted(re.findall(r"`(.*?)`", " ".join(cells))) == sorted(LOWEST)


def test_each_page_and_example_prints_these_versions() -> None:
    pages = [path for path in tracked_files() if path.parts[0] in ("docs", "examples", "roles", "README.md")]
    printed = {
        (str(page), name, version)
        for page in pages
        if page.suffix not in (".png", ".gz")
        for name, version in PRINTED.findall((ROOT / page).read_text(encoding="utf-8"))
    }
    assert len({page for page, _name, _version in printed}) > 1
    others = [one for one in sorted(printed) if Version(one[2]) != Version(LOWEST[one[1]])]
    assert others == []
