# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The README lists all that there is, and the versions that the tests have."""

from __future__ import annotations

import re

import pytest

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
def test_it_lists_all_that_there_is(kind: str, places: str) -> None:
    there = {path.stem for path in ROOT.glob(places)}
    assert there
    assert there <= set(re.findall(r"`(\w+)`", LISTED[kind]))


@pytest.mark.parametrize(
    ("name", "module"), [("Kubernetes", r"k8s\.io/kubernetes"), ("Helm", r"helm\.sh/helm/v\d+")]
)
def test_its_versions_are_those_of_the_tests(name: str, module: str) -> None:
    pinned = (ROOT / "tests" / "cluster" / "tools" / name.lower() / "go.mod").read_text()
    (version,) = re.findall(rf"^\t(?:{module}) v(\d+\.\d+)\.\d+", pinned, re.MULTILINE)
    assert f"{name} {version}" in README
