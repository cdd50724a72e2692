# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the clusters of a play mean to each other: Ansible's own work, and modules that answer by a script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.paths import ROOT
from tests.support.extent import cases
from tests.support.played_role import Played, Plays, begun, planned

STRATEGIES = cases(["linear", "host_pinned"], ["free"])
PLAN = """
from ansible_collections.kyma.lifecycle.plugins.action.real_plan import ActionModule as Plan
from ansible_collections.kyma.lifecycle.plugins.action.run import ActionModule as Scripted

class ActionModule(Plan):
    def _planned_or_stored(self, arguments, task_vars):
        answered = Scripted(
            self._task, self._connection, self._play_context, self._loader, self._templar,
            self._shared_loader_obj,
        )
        return {**answered.run(None, task_vars), "changed": True}
"""
"""The real plan as far as it concerns the other hosts; what the host itself needs is scripted."""
FAILED = {"failed": True, "msg": "it has failed"}


class Fleet(Plays):
    """Plays the role on several hosts."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        (self.plugins / "action" / "real_plan.py").symlink_to(ROOT / "plugins" / "action" / "plan.py")
        (self.plugins / "action" / "plan.py").write_text(PLAN)
        self._folder = folder

    def deploy(
        self, answers: Mapping[str, Mapping[str, Sequence[Mapping[str, Any]]]], **keywords: Any
    ) -> Played:
        """Deploy to each host that has answers; the keywords are the play's."""
        whole = {
            host: {
                "plan": [planned("2.11")],
                "run started": [begun(f"run-{host}")],
                "run finished": [{"state": "succeeded"}],
                **own,
            }
            for host, own in answers.items()
        }
        role = {"name": "kyma.lifecycle.kyma", "rolespec_validate": False}
        inventory = self._folder / "fleet.ini"
        inventory.write_text("".join(f"{host} ansible_connection=local\n" for host in answers))
        options = ["-i", str(inventory), "-e", f"kyma_release={self._folder}"]
        tasks = [{"ansible.builtin.import_role": role}]
        return self.play_tasks(whole, tasks, *options, **keywords)


@pytest.fixture
def fleet(tmp_path: Path) -> Fleet:
    return Fleet(tmp_path)


def ended(played: Played) -> list[str]:
    """The hosts whose run was ended."""
    return sorted(host for _module, args, host in played.calls if args.get("state") == "finished")


def begins(played: Played) -> list[str]:
    """The hosts whose run was to begin."""
    return sorted(host for _module, args, host in played.calls if args.get("state") == "started")


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_neighbour_that_fails_ends_no_run(fleet: Fleet, tmp_path: Path, strategy: str) -> None:
    steps = ("plan", "run started", "component", "run finished")
    hosts: dict[str, dict[str, Any]] = {step.replace(" ", "-"): {step: [FAILED]} for step in steps}
    # What the run's record has of a component is ignored, until the end of the run fails.
    hosts["component"]["run finished"] = [FAILED]
    # A healthy one has more hops before it than any that fails.
    for hop in ("2.10", "2.11"):
        (tmp_path / hop).mkdir()
    hosts["far"] = {
        "plan": [planned("2.10", "2.11"), planned("2.11")],
        "run started": [begun("first"), begun("second")],
        "run finished": [{"state": "succeeded"}, {"state": "succeeded"}],
    }
    keywords = {"max_fail_percentage": 0, "any_errors_fatal": True, "strategy": strategy}
    played = fleet.deploy({**hosts, "fine": {}}, **keywords)
    assert ended(played) == ["component", "far", "far", "fine", "run-finished"]
    assert {host for host, counts in played.recap.items() if counts["failed"]} == {*hosts} - {"far"}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_after_a_batch_with_too_many_failures_the_next_plan_refuses(fleet: Fleet, strategy: str) -> None:
    hosts: dict[str, dict[str, Any]] = {"bad": {"run finished": [FAILED]}, "fine": {}, "next": {}, "last": {}}
    played = fleet.deploy(hosts, strategy=strategy, serial=[2, 1], max_fail_percentage=49)
    assert played.status
    assert begins(played) == ["bad", "fine"]
    assert "1 of 2 clusters of an earlier batch failed (bad)" in played.text
    # What was never begun is no success.
    assert played.recap["next"]["failed"] == 1
    assert "last" not in played.recap


def test_failures_up_to_max_fail_percentage_do_not_stop_the_play(fleet: Fleet) -> None:
    hosts: dict[str, dict[str, Any]] = {"bad": {"run finished": [FAILED]}, "fine": {}, "next": {}}
    played = fleet.deploy(hosts, strategy="host_pinned", serial=2, max_fail_percentage=50)
    assert begins(played) == ["bad", "fine", "next"]


@pytest.mark.parametrize("strategy", ["linear", "free"])
def test_clusters_in_lockstep_are_warned_of_once(fleet: Fleet, strategy: str) -> None:
    played = fleet.deploy({"one": {}, "two": {}}, strategy=strategy).succeeded()
    # The last lines show the first warning again.
    before = played.text.partition("PLAY RECAP")[0]
    assert " ".join(before.split()).count("waits after every task for the slowest") == (strategy == "linear")
