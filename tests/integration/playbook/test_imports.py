# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A task with nothing to do loads few of our files, as each costs time in every run."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

import pytest
import yaml

from tests.support.own_cluster import OwnCluster
from tests.support.playbook_run import Outcome, Playbook
from tests.support.small_release import SmallRelease, config_map

pytestmark = pytest.mark.control_plane

PREFIX = "/ansible_collections/kyma/lifecycle/"
RECORDER = Path(__file__).parents[2] / "support" / "python_start"
MOST = {
    "plan": 160,
    "module_info": 157,
    "errand_info": 103,
    "stored_job_info": 145,
    "reconcile_errands": 146,
}
"""By task, the files that are no package. Before one rises, load it where it is needed, or only for types."""
POD = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "example.com/any:1"}]}
MODULES: dict[str, dict[str, object]] = {
    "job_store": {},
    "stored_job": {"namespace": "default", "jobs": [{"name": "any", "type": "continuous", "image": "any:1"}]},
    "errand": {"namespace": "default", "name": "any", "template": {"spec": {"template": {"spec": POD}}}},
}
"""What gives the other tasks something to read."""


def loaded_files(playbook: Playbook, play: Callable[[], Outcome]) -> set[str]:
    """The files of the collection that the processes of a playbook load, which must change nothing."""
    record = playbook.folder / "loaded_files"
    record.unlink(missing_ok=True)
    playbook.settings = {"PYTHONPATH": str(RECORDER), "KYMA_TEST_LOADED_FILES": str(record)}
    outcome = play().succeeded()
    playbook.settings = {}
    assert outcome.recap["changed"] == 0
    paths = (line.partition(PREFIX)[2] for line in record.read_text().splitlines())
    return {path for path in paths if path and not path.endswith("__init__.py")}


def check_budget(task: str, loaded: Collection[str]) -> None:
    """Fail if a task has loaded more files than it may."""
    assert f"plugins/module_utils/_tasks/{task}.py" in loaded
    assert len(loaded) <= MOST[task], f"{len(loaded)} files:\n" + "\n".join(sorted(loaded))


def test_a_deployment_with_nothing_to_do_loads_few_files(playbook: Playbook, small: SmallRelease) -> None:
    small.component("one", config_map("one"))
    playbook.deploy(small.folder).succeeded()
    check_budget("plan", loaded_files(playbook, lambda: playbook.deploy(small.folder)))


@pytest.fixture(scope="module")
def administrator(own_cluster: OwnCluster, tmp_path_factory: pytest.TempPathFactory) -> Playbook:
    """Runs playbooks on a cluster with an errand that has nothing to do, and a stored job."""
    user = Playbook(tmp_path_factory.mktemp("administrator"), own_cluster.kubeconfig, own_cluster.audit)
    for module, options in MODULES.items():
        user.play(play_of(module, options)).succeeded()
    user.play(play_of("reconcile_errands", {})).succeeded()
    return user


def play_of(module: str, options: dict[str, object]) -> str:
    """A playbook with one task."""
    task = {f"kyma.lifecycle.{module}": options}
    return yaml.safe_dump([{"hosts": "localhost", "gather_facts": False, "tasks": [task]}])


@pytest.mark.parametrize("task", [*MOST][1:])
def test_a_task_that_finds_nothing_to_do_loads_few_files(administrator: Playbook, task: str) -> None:
    check_budget(task, loaded_files(administrator, lambda: administrator.play(play_of(task, {}))))
