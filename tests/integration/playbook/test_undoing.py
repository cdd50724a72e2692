# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a cluster with a past through both migrations of the collection and an upgrade, and back.

What undoes them is a collection that does not ship them any more. A migration of the user's own writes a
Secret, whose value must not be readable anywhere but in Secrets.
"""

from __future__ import annotations

import base64
import getpass
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object

from tests.cluster.paths import ROOT
from tests.integration.migrations.test_real_ones import eventually
from tests.support.audit import writes
from tests.support.gateways import OWNERSHIP, gateway_crd
from tests.support.loki import CLAIM, claim, stateful_set, storage_class
from tests.support.own_cluster import OwnCluster
from tests.support.playbook_run import Outcome, Playbook
from tests.support.small_release import SmallRelease, config_map

pytestmark = pytest.mark.control_plane

HOME = "kyma-system"
CANARY = "canary-7c1e55"
ENCODED = base64.b64encode(CANARY.encode()).decode()
VOLUME = f"PersistentVolumeClaim {HOME}/{CLAIM}"
GATEWAY = f"Gateway {HOME}/kyma-gateway"
STATEFUL_SET = f"StatefulSet {HOME}/logging-loki"

RENAMES_PASSWORD = """
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    Context, Migration, Phase, Verdict, needed, not_needed,
)


class RenamesPassword(Migration):
    '''The password is called secret.'''

    component = "shop"
    phase = Phase.PRE
    keep = "it is for a test"

    def check(self, ctx: Context) -> Verdict:
        found = ctx.cluster.get("v1", "Secret", "login", "default")
        if found is None or "password" not in found["data"]:
            return not_needed("there is no password")
        return needed("it is called password")

    def run(self, ctx: Context) -> None:
        found = ctx.cluster.get("v1", "Secret", "login", "default")
        data = {"password": None, "secret": found["data"]["password"]}
        ctx.cluster.patch("v1", "Secret", "login", "default", {"data": data})
        ctx.cluster.apply({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "renamed", "namespace": "default"},
            "data": {"who": "shop"},
        })
"""


def loki(size: str) -> Object:
    """Loki's StatefulSet as a release has it: without a namespace, which is the component's."""
    obj = stateful_set(size, HOME, class_name="fast")
    del obj["metadata"]["namespace"]
    return obj


def seed(cluster: OwnCluster) -> None:
    """A 10Gi claim with Loki's old StatefulSet, a Gateway from an older layout, a Secret."""
    api = cluster.api.with_field_manager("long-ago")
    api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": HOME}})
    api.create(storage_class("fast", expands=True))
    api.create(
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": "loki"},
            "spec": {
                "capacity": {"storage": "10Gi"},
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": "fast",
                "claimRef": {"namespace": HOME, "name": CLAIM},
                "csi": {"driver": "disk.test", "volumeHandle": "loki"},
            },
        }
    )
    api.create(claim("10Gi", HOME, class_name="fast"))
    api.create(stateful_set("10Gi", HOME, class_name="fast"))
    api.create(gateway_crd())
    eventually(lambda: api.resource("networking.istio.io/v1beta1", "Gateway"))
    eventually(lambda: (read(cluster, VOLUME).get("status") or {}).get("phase") == "Bound")
    api.create(
        {
            "apiVersion": "networking.istio.io/v1beta1",
            "kind": "Gateway",
            "metadata": {
                "name": "kyma-gateway",
                "namespace": HOME,
                "annotations": {"meta.helm.sh/release-name": "istio-kyma-patch", "by": "hand"},
            },
            "spec": {"servers": [{"port": {"number": 443, "name": "https", "protocol": "HTTPS"}}]},
        }
    )
    api.create(
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "login", "namespace": "default"},
            "data": {"password": ENCODED},
        }
    )


KINDS = {
    "PersistentVolumeClaim": "v1",
    "Gateway": "networking.istio.io/v1beta1",
    "StatefulSet": "apps/v1",
    "Secret": "v1",
    "ConfigMap": "v1",
}


def read(cluster: OwnCluster, ref: str) -> Object:
    kind, _space, place = ref.partition(" ")
    namespace, _slash, name = place.partition("/")
    return cluster.api.get(KINDS[kind], kind, name, namespace) or {}


def written(obj: Object) -> Object:
    """An object without what the server counts."""
    server_fields = ("managedFields", "resourceVersion", "generation")
    return {
        **obj,
        "metadata": {key: value for key, value in obj["metadata"].items() if key not in server_fields},
    }


@pytest.fixture(scope="module")
def before(own_cluster: OwnCluster) -> Object:
    """The Gateway before anything was deployed."""
    seed(own_cluster)
    return written(read(own_cluster, GATEWAY))


@pytest.fixture(scope="module")
def migrated(playbook: Playbook, small: SmallRelease, before: Object) -> Outcome:
    """A deployment that needs all migrations."""
    assert before
    small.component("certificates", config_map("certificates"), namespace=HOME)
    small.component("logging", loki("30Gi"), namespace=HOME)
    small.component("shop", config_map("shop", v="1"))
    playbook.migration("shop", RENAMES_PASSWORD)
    return playbook.deploy(small.folder).succeeded()


@pytest.fixture(scope="module")
def upgraded(playbook: Playbook, small: SmallRelease, migrated: Outcome, tmp_path_factory: Any) -> Outcome:
    """The next release, by a collection that does not ship the migrations; nor does the user."""
    assert migrated
    folder = tmp_path_factory.mktemp("later")
    copy_without_migrations(folder)
    (playbook.folder / "kyma_migrations" / "shop.py").unlink()
    playbook.collections = [folder]
    (small.folder / "release.yaml").write_text("version: '1.1'\n")
    small.write("shop", config_map("shop", v="2"))
    return playbook.deploy(small.folder).succeeded()


def copy_without_migrations(folder: Path) -> None:
    place = folder / "ansible_collections" / "kyma" / "lifecycle"
    left_out = shutil.ignore_patterns(".build", ".git", ".cluster", "tests", "__pycache__", "data")
    shutil.copytree(ROOT, place, ignore=left_out)
    for file in (place / "plugins" / "module_utils" / "migrations").glob("*.py"):
        file.unlink()
    installed = ROOT / ".build" / "ansible_collections" / "kubernetes"
    (folder / "ansible_collections" / "kubernetes").symlink_to(installed)


@pytest.fixture(scope="module")
def rehearsed(playbook: Playbook, own_cluster: OwnCluster, upgraded: Outcome, migrated: Outcome) -> Outcome:
    assert upgraded
    by_hand = own_cluster.api.with_field_manager("kubectl-edit")
    # Whoever has changed something since keeps it.
    by_hand.patch("v1", "ConfigMap", "renamed", "default", {"data": {"note": "somebody relies on it"}})
    return playbook.undo("--check", "--diff", undo_run=migrated.run["run"]).succeeded()


@pytest.fixture(scope="module")
def undone(playbook: Playbook, rehearsed: Outcome, migrated: Outcome) -> Outcome:
    assert rehearsed
    return playbook.undo("--diff", undo_run=migrated.run["run"]).succeeded()


def test_an_undo_without_a_selection_names_the_variables(playbook: Playbook) -> None:
    assert "neither kyma_undo nor kyma_undo_run is set" in playbook.undo().failed().text


def objects(outcome: Outcome) -> dict[str, dict[str, Any]]:
    results = [obj for one in outcome.results[0]["undone"] for obj in one["objects"]]
    return {f"{one['kind']} {one['namespace']}/{one['name']}": one for one in results}


def test_all_was_migrated_and_journaled(migrated: Outcome, own_cluster: OwnCluster) -> None:
    assert {name for name, one in migrated.migrations.items() if one["wrote"]} == {
        "certificates/adopt-gateway",
        "logging/grow-loki-volume",
        "shop/renames-password",
    }
    entries = own_cluster.api.list("lifecycle.kyma-project.io/v1", "KymaJournalEntry").items
    assert sorted((one["spec"]["verb"], one["spec"]["kind"]) for one in entries) == [
        ("apply", "ConfigMap"),
        ("delete", "StatefulSet"),
        ("patch", "Gateway"),
        ("patch", "PersistentVolumeClaim"),
        ("patch", "Secret"),
    ]
    assert all(one["spec"]["settled"] for one in entries)


def test_the_plan_said_beforehand_what_can_t_be_undone(migrated: Outcome) -> None:
    notes = {one["id"]: one["notes"] for one in migrated.plan["migrations"]}
    [note] = notes["logging/grow-loki-volume"]
    assert note == f"can't be undone: {VOLUME}: A volume that has grown can't shrink."
    assert notes["certificates/adopt-gateway"] == []


def test_the_newer_release_ships_no_migrations(upgraded: Outcome) -> None:
    assert upgraded.plan["migrations"] == []
    assert upgraded.plan["version"] == "1.1"


def test_a_rehearsal_of_the_undo_writes_nothing_and_shows_the_same_changes(
    rehearsed: Outcome, undone: Outcome
) -> None:
    assert writes(rehearsed.requests) == []
    assert objects(rehearsed) == objects(undone)
    assert rehearsed.results[0]["diff"] == undone.results[0]["diff"]
    shown = [one["after_header"] for one in rehearsed.diff]
    assert sorted(shown) == sorted([GATEWAY, "Secret default/login"])


def test_the_gateway_is_as_before(undone: Outcome, own_cluster: OwnCluster, before: Object) -> None:
    one = objects(undone)[GATEWAY]
    assert one["state"] == "restored"
    assert one["fields"] == [f"metadata.annotations.{key}" for key in OWNERSHIP]
    assert written(read(own_cluster, GATEWAY)) == before


def test_the_volume_and_the_recreated_stateful_set_are_refused_by_name(
    undone: Outcome, own_cluster: OwnCluster
) -> None:
    results = objects(undone)
    assert (results[VOLUME]["state"], results[VOLUME]["fields"]) == ("irreversible", [])
    assert read(own_cluster, VOLUME)["spec"]["resources"]["requests"]["storage"] == "30Gi"
    assert results[STATEFUL_SET]["state"] == "changed_since"
    assert "it was recreated since" in results[STATEFUL_SET]["reason"]
    warnings = undone.results[0]["warnings"]
    assert [one for one in warnings if f"{VOLUME}: can't be undone: A volume that has grown" in one]
    assert [one for one in warnings if STATEFUL_SET in one]
    assert VOLUME in undone.text


def test_a_field_that_others_have_changed_since_stays(undone: Outcome, own_cluster: OwnCluster) -> None:
    one = objects(undone)["ConfigMap default/renamed"]
    assert (one["state"], one["kept"]) == ("changed_since", ["data.note"])
    assert read(own_cluster, "ConfigMap default/renamed")["data"]["note"]


def test_the_secret_is_as_before_and_was_readable_nowhere_else(
    migrated: Outcome, rehearsed: Outcome, undone: Outcome, own_cluster: OwnCluster
) -> None:
    assert read(own_cluster, "Secret default/login")["data"] == {"password": ENCODED}
    api = own_cluster.api
    kinds = ("KymaInstallation", "KymaInventory", "KymaRun", "KymaJournalEntry")
    records = [obj for kind in kinds for obj in api.list("lifecycle.kyma-project.io/v1", kind).items]
    texts = json.dumps(records)
    for outcome in (migrated, rehearsed, undone):
        texts += outcome.text + json.dumps(outcome.results)
    assert "data.password" in texts
    assert CANARY not in texts
    assert ENCODED not in texts
    [journaled] = [
        one for one in api.list("v1", "Secret", "default").items if one["metadata"]["name"] != "login"
    ]
    assert journaled["metadata"]["ownerReferences"][0]["kind"] == "KymaJournalEntry"


def test_the_record_says_by_whom_and_when_a_migration_was_undone(
    undone: Outcome, migrated: Outcome, own_cluster: OwnCluster
) -> None:
    assert undone.recap["changed"] == 1
    run = own_cluster.api.get("lifecycle.kyma-project.io/v1", "KymaRun", migrated.run["run"])
    assert run
    undone_by_id = run["status"]["undone"]
    assert undone_by_id["certificates/adopt-gateway"]["state"] == "undone"
    assert undone_by_id["certificates/adopt-gateway"]["by"].startswith(getpass.getuser() + "@")
    assert undone_by_id["certificates/adopt-gateway"]["at"].endswith("Z")
    assert undone_by_id["logging/grow-loki-volume"]["state"] == "partly"


def test_again_nothing_changes(playbook: Playbook, undone: Outcome, migrated: Outcome) -> None:
    assert undone
    again = playbook.undo(undo_run=migrated.run["run"]).succeeded()
    assert again.recap["changed"] == 0
    assert writes(again.requests) == []
    assert "certificates/adopt-gateway: undone by" in again.text
    assert playbook.undo(undo="certificates/adopt-gateway").succeeded().recap["changed"] == 0


def test_with_the_migrations_back_it_is_needed_again_unless_it_is_skipped(
    playbook: Playbook, small: SmallRelease, undone: Outcome, own_cluster: OwnCluster
) -> None:
    assert undone
    playbook.collections = [ROOT / ".build"]
    planned = playbook.deploy(small.folder, "--check").succeeded()
    [gateway] = [one for one in planned.plan["migrations"] if one["id"] == "certificates/adopt-gateway"]
    assert gateway["verdict"] == "needed"
    assert gateway["notes"][0].startswith("it was undone on ")
    skipping = playbook.deploy(small.folder, skip_migrations=["certificates/adopt-gateway"]).succeeded()
    assert not skipping.plan["needed"]
    again = playbook.deploy(small.folder).succeeded()
    assert again.migrations["certificates/adopt-gateway"]["wrote"]
    assert OWNERSHIP.items() <= read(own_cluster, GATEWAY)["metadata"]["annotations"].items()


def test_a_deletion_undoes_migrations_on_request(
    playbook: Playbook, own_cluster: OwnCluster, before: Object
) -> None:
    rehearsed = playbook.delete("--check").succeeded()
    assert [one for one in rehearsed.results[0]["warnings"] if f"{GATEWAY}: it stays as the migration" in one]
    deleted = playbook.delete(undo_migrations=True).succeeded()
    assert written(read(own_cluster, GATEWAY)) == before
    refusals = [one for one in deleted.results[0]["warnings"] if VOLUME in one]
    assert refusals
    assert "can't be undone" in refusals[0]
    remaining = [
        crd["metadata"]["name"]
        for crd in own_cluster.api.list("apiextensions.k8s.io/v1", "CustomResourceDefinition").items
    ]
    assert remaining == ["gateways.networking.istio.io"]
    # What the Secret was goes with the journal that it belonged to.
    eventually(lambda: _secrets(own_cluster) == ["login"], seconds=90)


def _secrets(cluster: OwnCluster) -> list[str]:
    return [one["metadata"]["name"] for one in cluster.api.list("v1", "Secret", "default").items]
