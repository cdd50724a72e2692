# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which versions `make newest` tries, and what it installs: the newest, without a lock."""

from __future__ import annotations

import re

import pytest
from packaging.requirements import Requirement

from tests.cluster.paths import ROOT
from tests.make import newest, sanity, suites
from tests.make.command import CommandError
from tests.make.environments import Environment
from tests.make.outcome import Outcome, failed, passed


def test_without_a_name_all_versions_are_tried() -> None:
    assert newest.chosen("") == [*newest.SUPPORTED, "candidate", "devel"]
    assert newest.chosen("devel") == ["devel"]


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(CommandError, match=r"CORE=2\.18 .* 2\.21, candidate, devel"):
        newest.chosen("2.18")


@pytest.mark.parametrize("version", newest.SUPPORTED)
def test_a_supported_version_gets_its_newest_release(version: str) -> None:
    (word,) = newest.core_words(version)
    specifier = Requirement(word).specifier
    major, minor = map(int, version.split("."))
    assert specifier.contains(f"{version}.99")
    assert not specifier.contains(f"{major}.{minor + 1}.0")


def test_no_library_has_a_pin() -> None:
    option, file, *tools = newest.library_words()
    assert (option, file) == ("-r", str(ROOT / "meta" / "ee-requirements.txt"))
    assert {"pytest", "pytest-xdist", "hypothesis"} <= set(tools)
    assert [tool for tool in tools if re.search(r"[=<>~]", tool)] == []


@pytest.mark.parametrize(
    ("name", "installed", "note"),
    [
        ("2.21", "2.21.9", "2.21.9 supported"),
        ("candidate", "2.22.0rc1", "2.22.0rc1 unsupported"),
        ("candidate", "2.21.9", "there is no release candidate of ansible-core"),
        ("devel", "2.23.0.dev0", "2.23.0.dev0 unsupported"),
    ],
)
def test_a_version_gets_unit_tests_and_sanity(
    name: str, installed: str, note: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def sanity_in(_environment: Environment, *, is_supported: bool) -> Outcome:
        return passed(f"{installed} {'supported' if is_supported else 'unsupported'}")

    monkeypatch.setattr(newest, "_environment", Environment)
    monkeypatch.setattr(newest, "core_of", lambda _environment: installed)
    monkeypatch.setattr(suites, "unit_in", lambda _environment: failed(""))
    monkeypatch.setattr(sanity, "sanity_in", sanity_in)
    outcome = newest._try(name)
    assert outcome.note == note
    assert (outcome.passed, outcome.failed) == ((0, 0) if "no release" in note else (1, 1))
