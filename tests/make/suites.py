# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The suites of tests: pytest and molecule."""

from __future__ import annotations

import os
import secrets
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from tests.cluster.console import say, timed
from tests.cluster.paths import BUILD, KUBECONFIG, ROOT

from . import cluster, cores, setup
from .command import run
from .environments import MAIN, Environment
from .outcome import IN_CI, Outcome, failed, not_at_hand, passed, skipped, together

REPORTS = BUILD / "reports"
SCENARIOS = ROOT / "extensions" / "molecule"


def unit() -> Outcome:
    """Run what needs no Kubernetes on every supported ansible-core that this machine has a Python for.

    What joins several parts is tried on one of them.
    """
    setup.for_tests()
    return together(
        _pytest(environment, *_without_kubernetes(environment), "-m", "not cluster")
        if environment
        else not_at_hand(f"no Python here runs ansible-core {core.version}")
        for core, environment in cores.environments()
    )


def _without_kubernetes(environment: Environment) -> tuple[str, ...]:
    return ("tests/unit", "tests/integration") if environment == MAIN else ("tests/unit",)


def integration() -> Outcome:
    """Run the tests that need a Kubernetes."""
    setup.for_tests()
    cluster.up()
    return _pytest(MAIN, "tests/integration", "tests/unit", "-m", "cluster", minutes=45)


def faults() -> Outcome:
    """Run every test of what happens between a run and its Kubernetes; SEED has the same happen again."""
    return _faults("whole", minutes=180)


def some_faults() -> Outcome:
    """Run a few of them, which chance has chosen."""
    return _faults("few", minutes=20)


def _faults(scope: str, minutes: float) -> Outcome:
    setup.for_tests()
    cluster.build()
    # CI says of a change whether it is at fault, not of a day whether it was a lucky one.
    chance = "1" if IN_CI and scope == "few" else str(secrets.randbelow(10**6))
    seed = os.environ.get("SEED") or chance
    say(f"SEED={seed}")
    variables = {"SEED": seed, "KYMA_FAULTS": scope}
    outcome = _pytest(MAIN, "tests/faults", variables=variables, minutes=minutes)
    if not outcome.failed:
        return outcome
    return replace(outcome, note=f"the same again: make faults SEED={seed}")


def molecule(scenario: str) -> Outcome:
    """Run one molecule scenario from creating to destroying."""
    if not (SCENARIOS / scenario / "molecule.yml").exists():
        return failed(f"there is no extensions/molecule/{scenario}")
    setup.for_tests()
    code = run(
        [MAIN.bin / "molecule", "test", "--scenario-name", scenario],
        env={**MAIN.variables, "ANSIBLE_HOME": str(BUILD / "ansible"), "MOLECULE_COMMAND_BORDERS": "no"},
        minutes=30,
    )
    return failed(f"molecule's scenario {scenario} failed") if code else passed()


def molecule_default() -> Outcome:
    """Run the scenario `default`, on whatever `make cluster` gives."""
    setup.for_tests()
    cluster.up()
    return molecule("default")


def molecule_kind() -> Outcome:
    """Run the scenario `kind`, where this machine can do that."""
    setup.for_tests()
    reason = cluster.why_no_kind()
    if reason:
        return skipped(reason)
    try:
        cluster.prepare_kind()
        return molecule("kind")
    finally:
        cluster.kind_down()


def molecule_all() -> Outcome:
    """Run both scenarios."""
    return together((molecule_default(), molecule_kind()))


def _pytest(
    environment: Environment,
    *arguments: str,
    variables: Mapping[str, str] | None = None,
    minutes: float = 30,
) -> Outcome:
    report = REPORTS / f"{environment.name}-{Path(arguments[0]).name}.xml"
    report.unlink(missing_ok=True)
    folders = [word for word in arguments if not word.startswith("tests/") or (ROOT / word).exists()]
    with timed(f"pytest in .build/{environment.name}"):
        code = run(
            [environment.python, "-m", "pytest", "-q", "-rs", f"--junit-xml={report}", *folders],
            env={**environment.variables, **_cluster_variables(), **(variables or {})},
            minutes=minutes,
        )
    return counts(report, code)


def _cluster_variables() -> Mapping[str, str]:
    return {"KYMA_TEST_KUBECONFIG": str(KUBECONFIG)}


def counts(report: Path, code: int) -> Outcome:
    """Return what pytest's report and its exit code come to."""
    if not report.exists():
        return failed(f"pytest ended with exit code {code} before a test ran")
    suites = ET.parse(report).getroot().iter("testsuite")
    sums = dict.fromkeys(("tests", "failures", "errors", "skipped"), 0)
    for suite in suites:
        for key in sums:
            sums[key] += int(suite.get(key, "0"))
    broken = sums["failures"] + sums["errors"]
    good = sums["tests"] - broken - sums["skipped"]
    if code and not broken:
        return Outcome(good, 1, sums["skipped"], f"pytest ended with exit code {code}")
    left_out = sums["skipped"]
    if IN_CI and left_out:
        return Outcome(good, broken + left_out, note=f"{left_out} tests were skipped, which CI may not")
    return Outcome(good, broken, left_out, f"{left_out} tests skipped" if left_out else "")
