# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The suites of tests: pytest and molecule."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from tests.cluster.console import say
from tests.cluster.paths import BINS, BUILD, ROOT, VERSIONS
from tests.support.extent import IS_FULL

from . import ansible_tests, cluster, cores, run_record, selection, setup
from .command import run
from .environments import MAIN, Environment, core_of
from .outcome import IN_CI, Outcome, failed, not_at_hand, passed, skipped, together
from .pytest_run import (
    BOTH_LANES_BY_FILE,
    BY_FILE,
    BY_TEST,
    WAITING_BY_FILE,
    WAITING_IN_ORDER,
    Sharing,
    run_pytest,
)

SCENARIOS = ROOT / "extensions" / "molecule"
PATIENCE = 4 if IS_FULL else 1
"""How much longer a suite may take where everything is tried."""


@dataclass(frozen=True)
class Suite:
    """A part of the tests. Each test belongs to one suite; tests/make/partition.py checks that.

    Attributes:
        name: the verb that runs it.
        folders: where its tests are.
        markers: which of them it has, as pytest's `-m` takes it; empty for all. Those for a night count too.
    """

    name: str
    folders: tuple[str, ...]
    markers: str = ""

    @property
    def arguments(self) -> Sequence[str]:
        """The arguments of pytest that select its tests."""
        return [*self.folders, *self.selection]

    @property
    def selection(self) -> Sequence[str]:
        """The arguments that select by markers."""
        chosen = [f"({self.markers})"] if self.markers else []
        chosen += [] if IS_FULL else ["not night"]
        return ["-m", " and ".join(chosen)] if chosen else []


NOT_UNIT = "cluster or control_plane or rulebook or browser"
"""The markers of tests that need a Kubernetes, ansible-rulebook or a browser."""
UNIT = Suite("unit", ("tests/unit", "tests/integration"), f"not ({NOT_UNIT} or containers)")
INTEGRATION = Suite("integration", ("tests/unit", "tests/integration"), f"({NOT_UNIT}) and not containers")
FAULTS = Suite("faults", ("tests/faults",))
CONTAINERS = Suite("containers", ("tests/containers",), "containers")

_FILES_ON_OLDEST = {
    "errands": ("errand_task",),
    "modules": ("deleting", "denial", "hands", "module_lists", "module_versions"),
    "playbook": ("crd_versions", "other_actors", "records_in_kubectl"),
    "store": ("admission_policies", "imports", "normal_form", "refused_pods", "stored_jobs", "tenants"),
}
ON_OLDEST_KUBERNETES = (
    *(f"tests/integration/{room}" for room in ("cluster", "deploy", "jobs", "migrations")),
    *(
        f"tests/integration/{room}/test_{name}.py"
        for room, names in _FILES_ON_OLDEST.items()
        for name in names
    ),
    "tests/unit/plugin_utils/_release",
)
"""Tests whose results depend on the API server or on Helm. They run again on the oldest versions."""
NOT_ON_OLDEST = "newer_versions or rulebook or containers"

SUITES = (UNIT, INTEGRATION, FAULTS, CONTAINERS)
LIMIT_OF_FULL_TESTS = ("-o", "faulthandler_timeout=3600")
"""The seconds after which a test that tries all that it can counts as hanging."""


def unit() -> Outcome:
    """Run the tests without a Kubernetes, on the newest ansible-core; with ROOM, those of a room."""
    setup.for_tests()
    return unit_in(MAIN, BY_FILE)


def unit_in(environment: Environment, sharing: Sharing = BOTH_LANES_BY_FILE) -> Outcome:
    """Run the tests without a Kubernetes in an environment; with ROOM, those of a room."""
    room = os.environ.get(selection.ROOM, "")
    folders = selection.folders_of(room) if room else UNIT.folders
    return _unit(environment, folders, sharing=WAITING_BY_FILE if room else sharing)


def changed() -> Outcome:
    """Run the tests of the files that differ from the main branch, as far as they need no Kubernetes."""
    setup.for_tests()
    tests = selection.find_tests(selection.changed_files())
    say("\n".join(tests) or "no file with unit tests differs from the main branch")
    return _unit(MAIN, tests, may_be_empty=True) if tests else passed()


def unit_on_oldest() -> Outcome:
    """Run what depends on ansible-core or a library on the lowest versions that the collection promises."""
    return _on_oldest(ansible_tests.select_for_versions(UNIT.folders))


def _on_oldest(tests: Sequence[str], sharing: Sharing = BY_FILE) -> Outcome:
    environment = cores.oldest()
    if environment is None:
        return not_at_hand("there is no Python of the oldest version that the collection supports")
    say("on the lowest versions that the collection promises:")
    return _unit(environment, tests, sharing=sharing)


def _unit(
    environment: Environment,
    tests: Sequence[str],
    may_be_empty: bool = False,
    sharing: Sharing = BY_FILE,
) -> Outcome:
    """Run the unit tests of these files and folders.

    Two processes share them in one lane, because each waits a third of its time, and the tests with clusters
    wait for this. Where they have both lanes, it is four.
    """
    arguments = [*tests, *UNIT.selection]
    return run_pytest(
        environment, UNIT.name, arguments, sharing=sharing, minutes=45, may_be_empty=may_be_empty
    )


def unit_everywhere() -> Outcome:
    """Run it on every ansible-core and Python at hand, on a release candidate, and on the oldest libraries.

    The tests that don't depend on ansible-core run once without it. With CORE, only that one is tried.
    """
    setup.for_tests()
    outcomes: list[Outcome] = []
    for what, environment in cores.everywhere():
        if environment is None:
            outcomes.append(not_at_hand(f"no Python here runs {what}"))
            continue
        say(f"{what}:")
        outcomes.append(_unit(environment, UNIT.folders, sharing=BOTH_LANES_BY_FILE))
    if cores.chosen() != cores.SUPPORTED:
        return together(outcomes)
    return together(
        [*outcomes, _unit_on_candidate(), _on_oldest(UNIT.folders, BOTH_LANES_BY_FILE), _unit_without_core()]
    )


def _unit_on_candidate() -> Outcome:
    candidate = cores.prerelease()
    if candidate is None:
        return not_at_hand("there is no release candidate of ansible-core")
    core = f"ansible-core {core_of(candidate)}"
    say(f"{core}:")
    outcome = _unit(candidate, UNIT.folders, sharing=BOTH_LANES_BY_FILE)
    if not outcome.failed:
        return outcome
    # The collection does not support that version yet. The page names what fails.
    known = f"{outcome.failed} unit tests fail on {core}, a release candidate that is not supported yet"
    return replace(outcome, failed=0, note=known, left_out=known)


def _unit_without_core() -> Outcome:
    say("what doesn't depend on ansible-core, without it:")
    _dependents, files = ansible_tests.select(UNIT.folders)
    return _unit(cores.without(), files, sharing=BOTH_LANES_BY_FILE)


def integration() -> Outcome:
    """Run the tests that need a Kubernetes, ansible-rulebook or a browser.

    Several processes share them file by file, and each starts its own clusters. They take one lane, so that
    they begin beside the last unit tests.
    """
    setup.for_tests()
    setup.for_rulebooks()
    setup.for_execution_environments()
    setup.for_browsers()
    cluster.build()
    # With all cases, one test kills ten engines while 300 errands and 1,000 stored jobs change.
    arguments = (*INTEGRATION.arguments, *(LIMIT_OF_FULL_TESTS if IS_FULL else ()))
    return run_pytest(MAIN, INTEGRATION.name, arguments, sharing=WAITING_IN_ORDER, minutes=60 * PATIENCE)


def on_oldest_kubernetes() -> Outcome:
    """Run what depends on the API server or on Helm with the oldest versions that the collection supports.

    It runs as many cases as `make test`: what differs between versions is not the number of cases.
    """
    setup.for_tests()
    cluster.build()
    cluster.build_oldest()
    variables = {
        VERSIONS: "oldest",
        "PATH": f"{BINS['oldest']}{os.pathsep}{MAIN.variables['PATH']}",
        "KYMA_TESTS": "",
    }
    arguments = [*ON_OLDEST_KUBERNETES, "-m", f"not ({NOT_ON_OLDEST})"]
    return run_pytest(
        MAIN, "kubernetes-oldest", arguments, variables=variables, sharing=WAITING_IN_ORDER, minutes=120
    )


def faults() -> Outcome:
    """Run every test of faults between a run and its Kubernetes; SEED repeats the same faults.

    It continues after an interruption: a test that has passed with the same seed and code is not run again.
    """
    setup.for_tests()
    cluster.build()
    code = run_record.code_digest(besides="*.md")
    record = run_record.open_record(os.environ.get("SEED", ""), run_record.OF_FAULTS, code)
    say(f"SEED={record.seed}")
    if record.lines:
        say(
            f"Going on: {len(record.lines)} tests passed with this seed and code and are not run again.\n"
            f"To run all of them again: rm {record.path.relative_to(ROOT)}"
        )
    outcome = _faults("whole", record.seed, minutes=180, more={run_record.VARIABLE: str(record.path)})
    if not outcome.failed:
        record.remove()
    return together((outcome, _kills_in_containers()))


def _kills_in_containers() -> Outcome:
    """Kill reconcilers of errands, at more calls than the suite `containers` does."""
    arguments = [*CONTAINERS.arguments, "-k", "killed"]
    return _on_some_kind(lambda: _containers(arguments, {"KYMA_FAULTS": "whole"}))


def some_faults() -> Outcome:
    """Run a few of them, chosen at random."""
    setup.for_tests()
    cluster.build()
    # CI judges a change, not the luck of a day.
    seed = os.environ.get("SEED") or ("1" if IN_CI else run_record.random_seed())
    say(f"SEED={seed}")
    return _faults("few", seed, minutes=20, more={})


def _faults(scope: str, seed: str, minutes: float, more: dict[str, str]) -> Outcome:
    variables = {"SEED": seed, "KYMA_FAULTS": scope, **more}
    # A fault mostly waits. With other suites there is room for two lanes of them.
    sharing = BY_FILE if scope == "few" else BY_TEST
    # With all faults, one test kills a deployment at each of its writes.
    arguments = (*FAULTS.arguments, *(LIMIT_OF_FULL_TESTS if scope == "whole" else ()))
    outcome = run_pytest(MAIN, FAULTS.name, arguments, variables=variables, sharing=sharing, minutes=minutes)
    if not outcome.failed:
        return outcome
    return replace(outcome, note=f"the same again: make faults SEED={seed}")


def molecule(scenario: str, *options: str, variables: Mapping[str, str] | None = None) -> Outcome:
    """Run one molecule scenario from creating to destroying.

    Args:
        scenario: its name.
        options: more options for `molecule test`.
        variables: for its environment.
    """
    if not (SCENARIOS / scenario / "molecule.yml").exists():
        return failed(f"there is no extensions/molecule/{scenario}")
    setup.for_tests()
    env = {
        **MAIN.variables,
        "ANSIBLE_HOME": str(BUILD / "ansible"),
        "MOLECULE_COMMAND_BORDERS": "no",
        **(variables or {}),
    }
    # One that was interrupted has recorded that it created a cluster, which is gone since.
    run([MAIN.bin / "molecule", "reset", "--scenario-name", scenario], env=env)
    code = run(
        [MAIN.bin / "molecule", "test", "--scenario-name", scenario, *options],
        env=env,
        minutes=30,
    )
    return failed(f"molecule's scenario {scenario} failed") if code else passed()


def molecule_default() -> Outcome:
    """Run the scenario `default`, on the cluster of `make cluster`."""
    setup.for_tests()
    cluster.build()
    return molecule("default")


def molecule_kind() -> Outcome:
    """Run the scenario `kind`, if this machine can."""
    setup.for_tests()
    reason = cluster.why_no_kind()
    if reason:
        return skipped(reason)
    try:
        return _molecule_kind()
    finally:
        cluster.kind_down()


def containers() -> Outcome:
    """Run the tests that need real containers on kind, if this machine can.

    A kind cluster that runs already is used, and left running.
    """
    setup.for_tests()
    return _on_some_kind(_containers)


def _on_some_kind(work: Callable[[], Outcome]) -> Outcome:
    """Run a function on kind, if this machine can: on the running cluster, or on a new one."""
    reason = cluster.why_no_kind()
    if reason:
        return skipped(reason)
    was_up = cluster.is_kind_up()
    try:
        return work()
    finally:
        if not was_up:
            cluster.kind_down()


def on_kind() -> Outcome:
    """Run the scenario `kind` and then the tests that need real containers, on one kind cluster.

    A start of kind takes a while, so the scenario leaves the cluster that it has started. With that option,
    molecule also skips its destruction before the scenario, which must begin on an empty cluster.
    If this machine can't run kind, the scenario `default` takes the place of `kind`.
    """
    setup.for_tests()
    reason = cluster.why_no_kind()
    if reason:
        return together((skipped(reason), molecule_default()))
    cluster.kind_down()
    try:
        return together((_molecule_kind("--destroy", "never"), _containers()))
    finally:
        cluster.kind_down()


def _molecule_kind(*options: str) -> Outcome:
    cluster.prepare_kind()
    # The example suffices: tests/integration/playbook/test_kyma_releases.py deploys the real releases.
    story = {} if IS_FULL else {"KYMA_STORY": "example"}
    return molecule("kind", *options, variables=story)


def _containers(
    arguments: Sequence[str] = CONTAINERS.arguments, variables: Mapping[str, str] | None = None
) -> Outcome:
    cluster.kind_up()
    return run_pytest(
        MAIN, CONTAINERS.name, arguments, variables=dict(variables or {}), minutes=30 * PATIENCE
    )


def molecule_all() -> Outcome:
    """Run both scenarios."""
    return together((molecule_default(), molecule_kind()))
