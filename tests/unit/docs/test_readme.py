# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The README lists all that there is, and the versions that the tests have."""

from __future__ import annotations

import re

import pytest
import yaml

from tests.cluster.paths import ROOT

README = (ROOT / "README.md").read_text()
LISTED = dict(re.findall(r"^\| (\w[\w ]*) \| (.*) \|$", README, re.MULTILINE))


@pytest.mark.parametrize(
    ("kind", "places"),
    [
        ("playbooks", "playbooks/*.yml"),
        ("roles", "roles/*"),
        ("modules", "plugins/modules/*.py"),
        ("filter", "plugins/filter/*.py"),
        ("callback", "plugins/callback/*.py"),
    ],
)
def test_the_readme_lists_all_plugins_roles_and_playbooks(kind: str, places: str) -> None:
    there = {path.stem for path in ROOT.glob(places)}
    assert there
    assert there <= set(re.findall(r"`(\w+)`", LISTED[kind]))


def test_the_list_of_needs_has_the_versions_of_the_metadata() -> None:
    needs = "\n".join(line for line in README.splitlines() if line.startswith("| ") and "`" in line)
    requirements = (ROOT / "meta" / "ee-requirements.txt").read_text().split()
    libraries = [re.sub(r"(\.0)+$", "", one) for one in requirements]
    assert len(libraries) == 6
    assert all(f"'{one}'" in needs for one in libraries), libraries
    galaxy = yaml.safe_load((ROOT / "galaxy.yml").read_text())
    assert all(f"'{name}:{version}'" in needs for name, version in galaxy["dependencies"].items())
    core = yaml.safe_load((ROOT / "meta" / "runtime.yml").read_text())["requires_ansible"]
    assert f"'ansible-core{core.removesuffix('.0')}'" in needs
    assert f"{galaxy['namespace']}-{galaxy['name']}-{galaxy['version']}.tar.gz" in README


def test_the_readme_names_only_files_of_the_repository() -> None:
    places = re.findall(r"(?:kyma_release: |kyma_release=|kyma_modules_catalog: \[)([^\s\]]+)", README)
    assert len(places) > 4
    assert [place for place in places if not (ROOT / place).exists()] == []
    assert re.findall(r"https?://(?!kyma-project\.io)[^\s)]+", README) == []
