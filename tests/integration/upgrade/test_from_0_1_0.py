# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Version 0.1.0 deploys, and the present version goes on. The tests are steps of one story, in order."""

from __future__ import annotations

import shutil
import tarfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import GROUP, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.record_schema import API_VERSION

from tests.cluster.paths import ROOT
from tests.faults.processes import Processes
from tests.support.extent import IS_FULL
from tests.support.own_cluster import OwnCluster, new_cluster
from tests.support.playbook_run import Outcome, Playbook

pytestmark = pytest.mark.control_plane

ARCHIVE = Path(__file__).with_name("kyma-lifecycle-0.1.0.tar.xz")
SECONDS_TO_SETTLE = 60
RECONCILE = "- import_playbook: kyma.lifecycle.reconcile_errands"
HOLD = """
- hosts: localhost
  gather_facts: false
  tasks:
    - kyma.lifecycle.hold: {state: "{{ state }}", reason: a test}
"""
CONTAINER = {"name": "main", "image": "example.com/fine", "command": ["true"]}
POD = {"spec": {"restartPolicy": "Never", "containers": [CONTAINER]}}
ERRAND = {
    "apiVersion": API_VERSION,
    "kind": "Errand",
    "metadata": {"name": "greet", "namespace": "default"},
    "spec": {"trigger": {"strategy": "now"}, "template": {"spec": {"template": POD}}},
}


@dataclass
class Story:
    """A cluster, and a user who has both versions of the collection.

    Attributes:
        cluster: of the user.
        folder: with releases, in the user's folder.
        examples: those of version 0.1.0.
        old, new: the playbooks of both versions.
        plan: the file of a plan of version 0.1.0.
        migrated: the run of 0.1.0 that has migrated.
    """

    cluster: OwnCluster
    folder: Path
    examples: Path
    old: Playbook
    new: Playbook
    plan: Path
    migrated: str = field(default="", init=False)

    def release(self, version: str, replicas: int, ready_after: str = "0s") -> Path:
        """The example's release in another version."""
        folder = self.folder / version
        if not folder.exists():
            shutil.copytree(self.examples / "release", folder)
            (folder / "release.yaml").write_text(f"version: '{version}'\n")
            file = folder / "frontend" / "deployment.yaml"
            labels = "      labels:\n        app: frontend\n"
            annotations = f"      annotations:\n        kyma.local/ready-after: {ready_after}\n"
            text = file.read_text().replace("replicas: 2", f"replicas: {replicas}")
            file.write_text(text.replace(labels, labels + annotations))
        return folder

    def deploy(
        self, playbook: Playbook, version: str, replicas: int, *more: str, **variables: Any
    ) -> Outcome:
        """Deploy a version with the migrations of the example."""
        given = {"migration_paths": [str(self.examples / "kyma_migrations")], **variables}
        return playbook.deploy(self.release(version, replicas), *more, **given)

    def example(self, playbook: Playbook, name: str) -> Outcome:
        """Run a playbook of the example, as the user has it in Git."""
        return playbook.play((self.examples / name).read_text())

    def reconcile(self, playbook: Playbook, run: int) -> Object:
        """Reconcile errands until a run of the errand has ended; the status of the errand."""
        end = time.monotonic() + SECONDS_TO_SETTLE
        while time.monotonic() < end:
            playbook.play(RECONCILE).succeeded()
            status = self.get("Errand", "greet", "default").get("status") or {}
            if status.get("phase") == "Succeeded" and status["run"]["number"] == run:
                return dict(status)
        pytest.fail(f"run {run} of the errand has not ended")

    def run_errand_again(self) -> None:
        """Ask for another run of the errand."""
        again = {"spec": {"trigger": {"strategy": "now"}}}
        self.cluster.api.patch(API_VERSION, "Errand", "greet", "default", again)

    def get(self, kind: str, name: str, namespace: str | None = None) -> Object:
        """A custom resource of ours."""
        obj = self.cluster.api.get(API_VERSION, kind, name, namespace)
        assert obj
        return obj

    @property
    def runs(self) -> list[Object]:
        """The records of runs, the oldest first."""
        runs = self.cluster.api.list(API_VERSION, "Run").items
        return sorted(runs, key=lambda run: str(run["metadata"]["name"]))


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    """A cluster with everything that 0.1.0 can leave there."""
    folder = tmp_path_factory.mktemp("user")
    collection = folder / "old" / "ansible_collections" / "kyma" / "lifecycle"
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(collection, filter="data")
    with new_cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        books = []
        for version in ("0.1.0", "present"):
            home = folder / version
            for name in ("modules", "job_store"):
                shutil.copytree(collection / "examples" / name, home / name)
            books.append(Playbook(home, cluster.kubeconfig, cluster.audit))
        old, new = books
        old.collections = [folder / "old", ROOT / ".build"]
        story = Story(cluster, folder, collection / "examples", old, new, folder / "plan.json")
        story.deploy(old, "1.0", 2, skip_migrations=["frontend/price-in-cents"]).succeeded()
        story.deploy(old, "1.1", 3, "--check", plan_out=str(story.plan)).succeeded()
        story.migrated = story.deploy(old, "1.1", 3).succeeded().run["run"]
        for name in ("modules.yml", "job_store.yml"):
            story.example(old, name).succeeded()
        # It installs the definition of errands.
        old.play(RECONCILE).succeeded()
        cluster.api.apply(ERRAND)
        story.reconcile(old, 1)
        yield story


if IS_FULL:

    def test_a_plan_of_0_1_0_is_refused_with_the_reason(story: Story) -> None:
        refusal = story.new.deploy(story.release("1.1", 3), plan=str(story.plan)).refused()
        assert "the code of the migrations, or of this collection, is another" in refusal
        assert "nothing, and now it is nothing" not in refusal

    def test_a_hold_of_0_1_0_stops_a_deployment(story: Story) -> None:
        story.old.play(HOLD, state="present").succeeded()
        assert "the cluster is held by" in story.deploy(story.new, "1.1", 3).refused()
        story.new.play(HOLD, state="absent").succeeded()

    def test_a_killed_run_of_0_1_0_is_ended_and_continued(story: Story) -> None:
        killed_run_is_ended(story, "1.2")
        assert story.deploy(story.new, "1.2", 1).succeeded().recap["changed"] == 0

    def test_modules_and_stored_jobs_of_0_1_0_are_up_to_date(story: Story) -> None:
        assert "2 modules: nothing to do" in story.example(story.new, "modules.yml").succeeded().text
        loaded = story.example(story.new, "job_store.yml").succeeded()
        [lines] = [result["lines"] for result in loaded.results if "lines" in result]
        assert len(lines) == 3
        assert all(line.endswith(": up to date") for line in lines)

    def test_an_errand_of_0_1_0_runs_again(story: Story) -> None:
        assert story.reconcile(story.new, 1)["history"][0]["run"] == 1
        story.run_errand_again()
        assert [one["run"] for one in story.reconcile(story.new, 2)["history"]] == [2, 1]

    def test_all_that_0_1_0_has_stored_as_v1alpha1_is_stored_as_v1beta1(story: Story) -> None:
        stored = {
            crd["metadata"]["name"]: crd["status"]["storedVersions"]
            for crd in story.cluster.api.list("apiextensions.k8s.io/v1", "CustomResourceDefinition").items
            if crd["spec"]["group"] == GROUP
        }
        assert len(stored) > 8
        assert {name: versions for name, versions in stored.items() if versions != ["v1beta1"]} == {}
        beta = API_VERSION.replace("v1alpha1", "v1beta1")
        newer = story.cluster.api.get(beta, "Errand", "greet", "default")
        assert newer
        assert newer["spec"] == story.get("Errand", "greet", "default")["spec"]

    def test_0_1_0_begins_no_run_after_the_present_version(story: Story) -> None:
        assert story.deploy(story.old, "1.2", 1).succeeded().recap["changed"] == 0
        refusal = story.deploy(story.old, "1.3", 2).failed().text
        assert "v1beta1 was previously a storage version, and must remain in spec.versions" in refusal
        assert story.deploy(story.new, "1.2", 1).succeeded().recap["changed"] == 0

    def test_a_migration_of_0_1_0_is_undone(story: Story) -> None:
        story.new.undo(undo_run=story.migrated).succeeded()
        offer = story.cluster.api.get("shop.example.com/v1", "Offer", "apples", "shop")
        assert offer
        assert "shop.example.com/cents" not in (offer["metadata"].get("annotations") or {})

    def test_modules_and_releases_of_0_1_0_are_deleted(story: Story) -> None:
        modules = f"""
- hosts: localhost
  gather_facts: false
  tasks:
    - ansible.builtin.import_role: {{name: kyma.lifecycle.kyma_modules}}
      vars: {{kyma_modules_catalog: ["{story.examples}/modules"], kyma_modules: [], kyma_modules_empty: true}}
"""
        story.new.play(modules).succeeded()
        story.new.delete().succeeded()
        assert story.cluster.api.get("v1", "Namespace", "shop") is None
        crds = story.cluster.api.list("apiextensions.k8s.io/v1", "CustomResourceDefinition").items
        names = [crd["metadata"]["name"] for crd in crds]
        assert not [name for name in names if name.startswith(("runs.", "inventories.", "installations."))]


def killed_run_is_ended(story: Story, version: str) -> None:
    """Kill a run of 0.1.0 in the middle, and check that the present version ends and continues it."""
    mark = f"killed-{story.folder.name}"
    story.old.settings["KYMA_TEST_MARK"] = mark
    story.release(version, 1, ready_after="1h")
    story.deploy(story.old, version, 1, watch=lambda line, _running: kill_at_wait(line, mark))
    killed = story.runs[-1]
    assert killed["status"]["state"] == "running"
    shutil.rmtree(story.folder / version)
    ended = story.deploy(story.new, version, 1).succeeded().run
    assert ended["state"] == "succeeded"
    status = story.get("Run", killed["metadata"]["name"])["status"]
    assert status["state"] == "cancelled"
    assert ended["run"] in status["cancelled"]


def kill_at_wait(line: str, mark: str) -> None:
    """Kill everything that has a mark when a component waits."""
    if "frontend: waiting" in line:
        Processes(mark).kill()
