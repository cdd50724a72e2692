# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What runs on the oldest Kubernetes and Helm, and with which programs."""

from __future__ import annotations

import os
from typing import Any

import pytest

from tests.cluster.paths import BINS, ROOT, VERSIONS
from tests.make import cluster, setup, suites
from tests.make.outcome import Outcome, passed
from tests.make.steps import FULL, GROUPS, TEST


def test_all_of_its_folders_and_files_are_there() -> None:
    assert [place for place in suites.ON_OLDEST_KUBERNETES if not (ROOT / place).exists()] == []


def test_only_make_test_all_runs_it() -> None:
    assert "kubernetes-oldest" in GROUPS[FULL]
    assert "kubernetes-oldest" not in GROUPS[TEST]


def test_its_programs_are_built_and_come_first_and_its_cases_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    variables: dict[str, str] = {}

    def run_pytest(*_arguments: Any, **options: Any) -> Outcome:
        calls.append("pytest")
        variables.update(options["variables"])
        return passed()

    monkeypatch.setattr(setup, "for_tests", lambda: calls.append("setup"))
    monkeypatch.setattr(cluster, "build", lambda: calls.append("build"))
    monkeypatch.setattr(cluster, "build_oldest", lambda: calls.append("build the oldest"))
    monkeypatch.setattr(suites, "run_pytest", run_pytest)
    assert suites.on_oldest_kubernetes() == passed()
    assert calls == ["setup", "build", "build the oldest", "pytest"]
    assert variables[VERSIONS] == "oldest"
    assert variables["PATH"].split(os.pathsep)[0] == str(BINS["oldest"])
    assert variables["KYMA_TESTS"] == ""
