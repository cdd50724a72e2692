# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When the steps that use kind start and end its cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.make import cluster, run_record, setup, suites
from tests.make.command import CommandError
from tests.make.outcome import Outcome, failed, passed
from tests.make.steps import GROUPS, SEVERAL_CLUSTERS, STEPS


class Kind:
    """A kind cluster that only notes what is done with it."""

    def __init__(self) -> None:
        self.is_up = False
        self.did: list[str] = []

    def up(self) -> None:
        self.did.append("reuse" if self.is_up else "start")
        self.is_up = True

    def down(self) -> None:
        self.did.append("end")
        self.is_up = False

    def molecule(self, scenario: str, *options: str, **_how: object) -> Outcome:
        """Play a scenario as molecule does: `--destroy never` holds before the scenario and after it."""
        if "never" not in options:
            self.down()
        self.up()
        self.did.append(scenario)
        if "never" not in options:
            self.down()
        return passed()

    def run_pytest(self, _environment: object, suite: str, *_arguments: object, **_how: object) -> Outcome:
        assert self.is_up
        self.did.append(suite)
        return passed()


@pytest.fixture
def kind(monkeypatch: pytest.MonkeyPatch) -> Kind:
    made = Kind()
    monkeypatch.setattr(setup, "for_tests", lambda: None)
    monkeypatch.setattr(cluster, "why_no_kind", lambda: "")
    monkeypatch.setattr(cluster, "prepare_kind", lambda: None)
    monkeypatch.setattr(cluster, "is_kind_up", lambda: made.is_up)
    monkeypatch.setattr(cluster, "kind_up", made.up)
    monkeypatch.setattr(cluster, "kind_down", made.down)
    monkeypatch.setattr(suites, "molecule", made.molecule)
    monkeypatch.setattr(suites, "run_pytest", made.run_pytest)
    return made


def test_molecule_and_the_tests_in_containers_share_one_cluster(kind: Kind) -> None:
    assert suites.on_kind() == Outcome(passed=2)
    assert kind.did == ["end", "start", "kind", "reuse", "containers", "end"]


def test_the_scenario_begins_on_a_new_cluster(kind: Kind) -> None:
    kind.is_up = True
    suites.on_kind()
    assert kind.did[:3] == ["end", "start", "kind"]


def test_a_scenario_that_fails_before_its_cluster_is_up_does_not_hide_the_tests(
    kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suites, "molecule", lambda *_arguments, **_how: failed("no cluster"))
    assert suites.on_kind() == Outcome(passed=1, failed=1, note="no cluster")
    assert kind.did == ["end", "start", "containers", "end"]


def test_the_tests_alone_start_and_end_a_cluster(kind: Kind) -> None:
    assert suites.containers() == passed()
    assert kind.did == ["start", "containers", "end"]


def test_the_tests_alone_leave_a_cluster_that_was_up(kind: Kind) -> None:
    kind.is_up = True
    assert suites.containers() == passed()
    assert kind.did == ["reuse", "containers"]


def test_all_faults_end_with_kills_in_containers(
    kind: Kind, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(cluster, "build", lambda: None)
    record = run_record.open_record("4711", tmp_path, "code")
    monkeypatch.setattr(run_record, "open_record", lambda *_arguments: record)
    monkeypatch.setattr(suites, "_faults", lambda *_arguments, **_more: failed("a fault"))
    assert suites.faults() == Outcome(passed=1, failed=1, note="a fault")
    assert kind.did == ["start", "containers", "end"]


@pytest.mark.parametrize("step", ["kind", "containers"])
def test_the_cluster_is_ended_in_spite_of_an_error(
    kind: Kind, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def fail(*_arguments: object, **_how: object) -> Outcome:
        raise CommandError("ended after 30 minutes")

    monkeypatch.setattr(suites, "run_pytest", fail)
    with pytest.raises(CommandError):
        STEPS[step].do()
    assert kind.did[-1] == "end"


@pytest.mark.parametrize("step", ["containers", "molecule-kind"])
def test_a_step_without_kind_gives_the_reason(kind: Kind, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    monkeypatch.setattr(cluster, "why_no_kind", lambda: "no engine")
    monkeypatch.setattr("tests.make.outcome.IN_CI", False)
    assert STEPS[step].do() == Outcome(skipped=1, note="no engine", left_out="no engine")
    monkeypatch.setattr("tests.make.outcome.IN_CI", True)
    assert STEPS[step].do() == failed("no engine (CI may skip nothing)")
    assert kind.did == []


def test_the_scenario_without_kind_runs_if_kind_cannot(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "why_no_kind", lambda: "no engine")
    monkeypatch.setattr(cluster, "build", lambda: None)
    monkeypatch.setattr("tests.make.outcome.IN_CI", False)
    assert suites.on_kind() == Outcome(passed=1, skipped=1, note="no engine", left_out="no engine")
    assert "default" in kind.did


def test_kind_never_runs_beside_steps_with_several_clusters() -> None:
    for step in ("kind", "containers", "molecule-kind"):
        assert STEPS[step].uses & STEPS["integration"].uses == SEVERAL_CLUSTERS
        assert STEPS[step].uses & STEPS["some-faults"].uses
    for group in GROUPS.values():
        assert not {"containers", "molecule-kind"} & set(group)
