# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The suites of tests: pytest and molecule."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tests.cluster import choice
from tests.cluster.console import say
from tests.cluster.paths import BUILD, KUBECONFIG, ROOT
from tests.support.extent import IS_FULL

from . import ansible_tests, cluster, cores, fault_record, setup
from .command import run
from .environments import MAIN, core_of
from .outcome import IN_CI, Outcome, failed, not_at_hand, passed, skipped, together
from .pytest_run import run_pytest

SCENARIOS = ROOT / "extensions" / "molecule"
PATIENCE = 4 if IS_FULL else 1
"""How much longer a suite may take where everything is tried."""


@dataclass(frozen=True)
class Suite:
    """A part of the tests. Each test belongs to one suite; tests/make/partition.py checks that.

    Attributes:
        name: the verb that runs it.
        folders: where its tests are.
        markers: which of them it has, as pytest's `-m` takes it; empty for all.
    """

    name: str
    folders: tuple[str, ...]
    markers: str = ""

    @property
    def arguments(self) -> Sequence[str]:
        """What selects its tests on pytest's command line."""
        return [*self.folders, *(["-m", self.markers] if self.markers else [])]


UNIT = Suite("unit", ("tests/unit", "tests/integration"), "not cluster and not control_plane")
INTEGRATION = Suite("integration", ("tests/unit", "tests/integration"), "cluster or control_plane")
FAULTS = Suite("faults", ("tests/faults",))

SUITES = (UNIT, INTEGRATION, FAULTS)


def unit() -> Outcome:
    """Run what needs no Kubernetes, on the newest ansible-core and libraries and on the oldest."""
    setup.for_tests()
    return together((_unit_on_newest(), _unit_on_oldest()))


def _unit_on_newest() -> Outcome:
    return run_pytest(MAIN, UNIT.name, UNIT.arguments, side_by_side=True)


def _unit_on_oldest() -> Outcome:
    environment = cores.oldest()
    if environment is None:
        return not_at_hand("there is no Python of the oldest version that the collection supports")
    say("on the lowest versions that the collection promises:")
    return run_pytest(environment, UNIT.name, UNIT.arguments, side_by_side=True)


def unit_everywhere() -> Outcome:
    """Run it on every ansible-core with every Python at hand, and on a release candidate.

    What doesn't depend on ansible-core is run once without it.
    """
    setup.for_tests()
    outcomes: list[Outcome] = []
    for what, environment in cores.everywhere():
        if environment is None:
            outcomes.append(not_at_hand(f"no Python here runs {what}"))
            continue
        say(f"{what}:")
        outcomes.append(run_pytest(environment, UNIT.name, UNIT.arguments, side_by_side=True))
    return together([*outcomes, _unit_on_candidate(), _unit_without_core()])


def _unit_on_candidate() -> Outcome:
    candidate = cores.prerelease()
    if candidate is None:
        return not_at_hand("there is no release candidate of ansible-core")
    say(f"ansible-core {core_of(candidate)}:")
    return run_pytest(candidate, UNIT.name, UNIT.arguments, side_by_side=True)


def _unit_without_core() -> Outcome:
    say("what doesn't depend on ansible-core, without it:")
    _dependents, files = ansible_tests.select(UNIT.folders)
    arguments = [*files, "-m", UNIT.markers]
    return run_pytest(cores.without(), UNIT.name, arguments, side_by_side=True)


def integration() -> Outcome:
    """Run the tests that need a Kubernetes.

    Several processes share them file by file, and each starts clusters of its own. They would have to share
    the user's own cluster, so there is only one process then.
    """
    setup.for_tests()
    cluster.build()
    if not choice.is_users():
        return run_pytest(
            MAIN, INTEGRATION.name, INTEGRATION.arguments, side_by_side=True, minutes=45 * PATIENCE
        )
    cluster.up()
    variables = {"KYMA_TEST_KUBECONFIG": str(KUBECONFIG)}
    return run_pytest(
        MAIN, INTEGRATION.name, INTEGRATION.arguments, variables=variables, minutes=60 * PATIENCE
    )


def faults() -> Outcome:
    """Run every test of what happens between a run and its Kubernetes; SEED has the same happen again.

    It goes on where it was ended: a test that has passed with the same seed and code is not run again.
    """
    setup.for_tests()
    cluster.build()
    record = fault_record.open_record(os.environ.get("SEED", ""))
    say(f"SEED={record.seed}")
    if record.passed:
        say(f"{record.summary}\nTo run all of them again: rm {record.path.relative_to(ROOT)}")
    outcome = _faults("whole", record.seed, minutes=180, more={fault_record.VARIABLE: str(record.path)})
    if not outcome.failed:
        record.remove()
    return outcome


def some_faults() -> Outcome:
    """Run a few of them, which chance has chosen."""
    setup.for_tests()
    cluster.build()
    # CI says of a change whether it is at fault, not of a day whether it was a lucky one.
    seed = os.environ.get("SEED") or ("1" if IN_CI else random_seed())
    say(f"SEED={seed}")
    return _faults("few", seed, minutes=20, more={})


def random_seed() -> str:
    """Return a seed that no run has chosen."""
    return str(secrets.randbelow(10**6))


def _faults(scope: str, seed: str, minutes: float, more: dict[str, str]) -> Outcome:
    variables = {"SEED": seed, "KYMA_FAULTS": scope, **more}
    # A fault is mostly waited out, so two of them fit into one lane; all of them are recorded one by one.
    few = scope == "few"
    outcome = run_pytest(
        MAIN, FAULTS.name, FAULTS.arguments, variables=variables, side_by_side=few, minutes=minutes
    )
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
    cluster.build()
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
