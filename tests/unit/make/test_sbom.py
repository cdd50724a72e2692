# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The SBOM names the tarball and all that it needs, each with version, licence and hashes, or is refused."""

from __future__ import annotations

from typing import Any

import pytest

from tests.make.locks import current_lock_of
from tests.make.sbom import NEEDED, complete, problems_of, subject

ONE, TWO, THREE = "1" * 64, "2" * 64, "3" * 64
LOCK = f"""\
# Written by `make locks`
direct==2.0 \\
    --hash=sha256:{ONE} \\
    --hash=sha256:{TWO}
in-between==1.5 \\
    --hash=sha256:{THREE}
older==0.9 ; python_full_version < '3.12' \\
    --hash=sha256:{THREE}
"""
DIRECT = {"direct"}
INFO = {
    "namespace": "acme",
    "name": "sample",
    "version": "1.0.0",
    "description": "A sample.",
    "authors": ["acme"],
    "repository": "https://github.com/acme/sample",
    "documentation": "https://acme.example/sample",
    "issues": "https://github.com/acme/sample/issues",
}
LICENCES = [{"license": {"id": "MIT"}}]
CORE = {
    "bom-ref": "other.core",
    "name": "other.core",
    "version": "6.0.0",
    "licenses": LICENCES,
    "externalReferences": [{"type": "distribution", "hashes": [{"alg": "SHA-256", "content": ONE}]}],
}


def package(name: str, version: str, **parts: Any) -> dict[str, Any]:
    return {"bom-ref": f"{name}=={version}", "name": name, "version": version, "licenses": LICENCES, **parts}


def of_environment(*packages: dict[str, Any]) -> dict[str, Any]:
    """What describes an environment with these packages, and with a tool for tests that one may use."""
    tool = package("tool", "1.0")
    return {
        "metadata": {"tools": {}},
        "components": [*packages, tool],
        "dependencies": [
            {"ref": "Direct==2.0", "dependsOn": ["in_between==1.5", tool["bom-ref"]]},
            {"ref": "in_between==1.5"},
            {"ref": tool["bom-ref"], "dependsOn": ["Direct==2.0"]},
        ],
    }


def completed(*packages: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The SBOM, and what is missing in it."""
    described = subject(INFO, TWO)
    sbom = complete(of_environment(*packages), described, lock=LOCK, direct=DIRECT, collections=[CORE])
    return sbom, problems_of(sbom, lock=LOCK, direct=DIRECT)


def test_the_subject_is_the_tarball_and_needs_what_the_collection_needs() -> None:
    sbom, problems = completed(package("Direct", "2.0"), package("in_between", "1.5"))
    assert problems == []
    described = sbom["metadata"]["component"]
    assert (described["name"], described["version"]) == ("acme.sample", "1.0.0")
    assert described["hashes"] == [{"alg": "SHA-256", "content": TWO}]
    assert described["licenses"][0]["license"]["id"] == "GPL-3.0-or-later"
    assert {one["ref"]: one["dependsOn"] for one in sbom["dependencies"]} == {
        "acme.sample": ["Direct==2.0", "other.core"],
        "other.core": [],
        "Direct==2.0": ["in_between==1.5"],
        "in_between==1.5": [],
    }


def test_packages_have_the_hashes_of_their_lock_and_others_are_left_out() -> None:
    reference = {"type": "vcs", "url": "https://example.com"}
    sbom, _problems = completed(
        package("Direct", "2.0", externalReferences=[reference]), package("in_between", "1.5")
    )
    assert [one["name"] for one in sbom["components"]] == ["Direct", "in_between", "other.core"]
    first, wheels = sbom["components"][0]["externalReferences"]
    assert first == reference
    assert [one["content"] for one in wheels["hashes"]] == [ONE, TWO]


@pytest.mark.parametrize(
    ("packages", "problem"),
    [
        (
            [package("Direct", "2.1"), package("in_between", "1.5")],
            "direct is not installed as ee.txt is locked",
        ),
        ([package("Direct", "2.0")], "in-between is not installed as ee.txt is locked"),
        ([package("Direct", "2.0", licenses=[]), package("in_between", "1.5")], "Direct has no licence"),
    ],
)
def test_an_sbom_that_lacks_something_is_refused(packages: list[dict[str, Any]], problem: str) -> None:
    assert completed(*packages)[1] == [problem]


@pytest.mark.parametrize(
    ("part", "problem"),
    [("version", "other.core has no version"), ("externalReferences", "other.core has no hash")],
)
def test_a_collection_without_version_or_hash_is_refused(part: str, problem: str) -> None:
    sbom, _problems = completed(package("Direct", "2.0"), package("in_between", "1.5"))
    collection = {**CORE, part: []}
    sbom["components"][-1] = collection
    assert problems_of(sbom, lock=LOCK, direct=DIRECT) == [problem]


def test_a_package_of_some_pythons_alone_is_missing_only_if_the_collection_itself_needs_it() -> None:
    sbom, problems = completed(package("Direct", "2.0"), package("in_between", "1.5"))
    assert problems == []
    needed = {*DIRECT, "older"}
    assert problems_of(sbom, lock=LOCK, direct=needed) == ["older is not installed as ee.txt is locked"]


def test_each_package_of_the_real_lock_has_hashes() -> None:
    lock = current_lock_of(NEEDED).read_text()
    names = [line.partition("==")[0] for line in lock.splitlines() if line[0].isalnum()]
    versions = [line.split()[0].partition("==")[2] for line in lock.splitlines() if line[0].isalnum()]
    packages = [package(name, version) for name, version in zip(names, versions, strict=True)]
    environment = {"metadata": {}, "components": packages, "dependencies": []}
    sbom = complete(environment, subject(INFO, TWO), lock=lock, direct=names, collections=[])
    assert len(sbom["components"]) == len(names) > 20
    assert problems_of(sbom, lock=lock, direct=names) == []
