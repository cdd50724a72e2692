# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of supported versions has those of the metadata, and calls tested what the tests pin."""

from __future__ import annotations

import re
import tomllib

import pytest
import yaml
from ansible_test._util.target.common.constants import REMOTE_ONLY_PYTHON_VERSIONS

from tests.cluster.kind import IMAGE
from tests.cluster.paths import ROOT
from tests.cluster.programs import HELM, KUBERNETES, OLDEST_HELM, OLDEST_KUBERNETES, Module
from tests.make.cores import SUPPORTED, Core

PAGE = (ROOT / "docs" / "support.md").read_text(encoding="utf-8")
ROWS = {
    what.replace("`", ""): (tested.split(", ") if tested else [], expected.split(", ") if expected else [])
    for what, tested, expected in re.findall(r"^\| (.+?) \| (.*?) ?\| ?(.*?) ?\|$", PAGE, re.MULTILINE)
}
"""The tested and the expected versions of each row, by its name."""
NEWEST_PYTHON_OF_TESTS = (3, 13)
"""No machine of the tests has had a newer one."""
OLDEST_CORES_ALONE = "3.8"
"""The Python of other hosts that only the oldest supported ansible-core runs modules on."""
REQUIREMENTS = ROOT / "tests" / "requirements"


def pins(name: str) -> dict[str, str]:
    return dict(re.findall(r"^([\w-]+)==([\w.]+)", (REQUIREMENTS / name).read_text(), re.MULTILINE))


def metadata(name: str) -> dict[str, object]:
    read: dict[str, object] = yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))
    return read


@pytest.mark.parametrize("core", SUPPORTED, ids=lambda core: core.version)
def test_each_ansible_core_has_its_pythons(core: Core) -> None:
    names = {python: ".".join(map(str, python)) for python in core.pythons}
    tested = [name for python, name in names.items() if python <= NEWEST_PYTHON_OF_TESTS]
    expected = [name for python, name in names.items() if python > NEWEST_PYTHON_OF_TESTS]
    assert ROWS[f"Python with ansible-core {core.version}"] == (tested, expected)


def test_there_are_no_other_versions_of_ansible_core() -> None:
    rows = [row for row in ROWS if row.startswith("Python with ")]
    assert rows == [f"Python with ansible-core {core.version}" for core in SUPPORTED]


def test_the_lowest_ansible_core_is_that_of_the_metadata_and_of_the_tests() -> None:
    lowest = str(metadata("meta/runtime.yml")["requires_ansible"]).removeprefix(">=")
    assert f"the lowest version is {lowest}." in PAGE
    assert lowest == pins("oldest.txt")["ansible-core"]
    assert lowest.startswith(f"{SUPPORTED[0].version}.")


def test_the_lowest_python_is_that_of_the_linters() -> None:
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    lowest = ROWS["Python of an execution host"][0][0]
    assert tools["mypy"]["python_version"] == lowest
    assert tools["ruff"]["target-version"] == f"py{lowest.replace('.', '')}"
    assert f"its modules need Python {lowest} " in PAGE


def test_the_readme_names_the_pythons_of_other_hosts_that_are_not_supported() -> None:
    lowest = tuple(map(int, ROWS["Python of an execution host"][0][0].split(".")))
    others = [tuple(map(int, version.split("."))) for version in REMOTE_ONLY_PYTHON_VERSIONS]
    older = {".".join(map(str, version)) for version in others if version < lowest} - {OLDEST_CORES_ALONE}
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (sentence,) = re.findall(r"also on targets: Python (.*?) are not supported", readme)
    assert {*re.findall(r"3\.\d+", sentence)} == {OLDEST_CORES_ALONE, *older}
    (page,) = re.findall(rf"with Python {OLDEST_CORES_ALONE}, and .* do on hosts with Python (.*?)\. ", PAGE)
    assert {*re.findall(r"3\.\d+", page)} == older


def test_libraries_are_tested_in_their_lowest_and_their_newest_version() -> None:
    lowest, newest = pins("oldest.txt"), pins("client.txt")
    required = [line.split(">=") for line in (ROOT / "meta" / "ee-requirements.txt").read_text().split()]
    rows = {row.removeprefix("library "): row for row in ROWS if row.startswith("library ")}
    assert list(rows) == [name for name, _version in required]
    for name, version in required:
        tested, expected = ROWS[rows[name]]
        assert tested == [lowest[name], newest[name]]
        assert expected == [f">={version}"]


def test_the_collection_that_it_depends_on() -> None:
    tested, expected = ROWS["collection kubernetes.core"]
    dependencies = metadata("galaxy.yml")["dependencies"]
    assert dependencies == {"kubernetes.core": expected[0]}
    installed = ROOT / ".build" / "ansible_collections" / "kubernetes" / "core" / "MANIFEST.json"
    assert re.findall(r'"version": "([\d.]+)"', installed.read_text())[0] == tested[0]


def minor_of(module: Module, program: str) -> str:
    return ".".join(module.version_of(program).removeprefix("v").split(".")[:2])


def test_kubernetes_and_helm_are_those_that_the_tests_start() -> None:
    oldest, newest = (minor_of(module, "kube-apiserver") for module in (OLDEST_KUBERNETES, KUBERNETES))
    tested, expected = ROWS["Kubernetes"]
    assert tested == [oldest, newest, *re.findall(r":v(\d+\.\d+)\.", IMAGE)]
    first, last = (int(version.partition(".")[2]) for version in (oldest, tested[-1]))
    others = {f"1.{minor}" for minor in range(first, last + 1)} - set(tested)
    assert sorted(expected) == sorted(others)
    assert f"Kubernetes {oldest} is the first version " in PAGE
    assert ROWS["Helm"] == ([minor_of(OLDEST_HELM, "helm"), minor_of(HELM, "helm")], ["3", "4"])


@pytest.mark.parametrize("name", ["docs/support.md", "SECURITY.md", "CODE_OF_CONDUCT.md"])
def test_a_promise_with_a_time_is_marked_as_a_proposal(name: str) -> None:
    promise = re.compile(
        r"\b(?:within|for|every)\s+(?:a|two|twelve)\s+(?:to\s+three\s+)?(?:week|month)|\bone year later"
    )
    parts = re.split(r"\n\n|\n(?=[-|])", (ROOT / name).read_text(encoding="utf-8"))
    assert [one for one in parts if promise.search(one) and "*proposal*" not in one.lower()] == []


def test_the_releases_of_kyma_are_those_that_the_tests_deploy() -> None:
    tests = (ROOT / "tests" / "integration" / "playbook").glob("test_kyma_*.py")
    used = {version for test in tests for version in re.findall(r"\"(2\.\d+)\"", test.read_text())}
    (deployed, refused) = re.findall(
        r"Tests deploy (.*?), and upgrade|Kubernetes serves.* Of (2\.\d+),", PAGE
    )
    tested = re.findall(r"2\.\d+", deployed[0])
    assert used == {*tested, refused[1]}
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"releases {tested[0]} and {tested[1]} to {tested[-1]} are tested" in " ".join(readme.split())
    first, last = (int(version.partition(".")[2]) for version in (tested[1], tested[-1]))
    assert tested[1:] == [f"2.{minor}" for minor in range(first, last + 1)]


def test_the_migrations_between_releases_of_kyma_are_those_of_the_collection() -> None:
    page = (ROOT / "docs" / "operating_migrations.md").read_text(encoding="utf-8")
    components = re.findall(r"^## (\w+)/[\w-]+$", page, re.MULTILINE)
    assert re.findall(r"\[Two migrations\]\(.*?\), for (\w+) and (\w+)\.", PAGE) == [tuple(components[::-1])]
    newest = metadata("meta/kyma.yml")["newest_supported_release"]
    assert f"They support releases up to {newest}." in PAGE
