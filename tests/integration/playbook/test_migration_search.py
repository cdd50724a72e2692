# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Migrations of a collection, of folders that are named, beside the playbook and beside the inventory.

Here and on a host that isn't the controller they are found alike, and what is wrong with them is told alike.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.paths import ROOT
from tests.support.extent import cases
from tests.support.own_cluster import OwnCluster
from tests.support.playbook_run import Outcome, Playbook
from tests.support.small_release import SmallRelease, config_map, mark_of, marking

pytestmark = pytest.mark.control_plane

HERE, THERE = "here", "there"
COLLECTION = "acme.platform"
MARKS = {name: mark_of(name, "one", "pre") for name in ("OfCollection", "BesideBook", "BesideHosts", "Named")}
PRINTS = "print({'a dict': 'which begins as a result does'})\n"
SHARED = "from ._shared import NOTE\n"


class Place:
    """A user's folder with a collection, a playbook and an inventory, and migrations in each of them."""

    def __init__(self, playbook: Playbook, small: SmallRelease, cluster: OwnCluster) -> None:
        self.playbook = playbook
        self.cluster = cluster
        self._release = small.component("one", config_map("one"))
        self.collection = (
            playbook.folder / "collections/ansible_collections/acme/platform/plugins/module_utils"
        ) / "kyma_migrations"
        self.inventory = playbook.folder / "inventory"
        self.named = playbook.folder / "named"
        playbook.own_book()
        for folder, name in (
            (self.collection, "OfCollection"),
            (playbook.folder / "kyma_migrations", "BesideBook"),
            (self.inventory / "kyma_migrations", "BesideHosts"),
            (self.named / "deeper", "Named"),
        ):
            folder.mkdir(parents=True)
            (folder / "marks.py").write_text(PRINTS + SHARED + marking(name, "one", "pre", body="print('{')"))
            (folder / "_shared.py").write_text("NOTE = 'helpers lie beside it'\n")
        connections = playbook.folder / "connection_plugins"
        connections.mkdir()
        shutil.copy(
            ROOT / "tests/integration/carrier/collection/plugins/connection/elsewhere.py", connections
        )
        (self.inventory / HERE).write_text("localhost ansible_connection=local\n")
        (self.inventory / THERE).write_text(
            f"localhost ansible_connection=elsewhere ansible_python_interpreter={sys.executable}"
            f" ansible_async_dir={playbook.folder}/async ansible_remote_tmp={playbook.folder}/remote\n"
        )

    def deploy(self, where: str, **variables: Any) -> Outcome:
        """Deploy, from here or over a connection that leads elsewhere."""
        given = {"migration_collections": [COLLECTION], "migration_paths": ["named"], **variables}
        return self.playbook.deploy(self._release.folder, "-i", str(self.inventory / where), **given)

    def left(self) -> set[str]:
        """The marks that migrations have left."""
        config_maps = self.cluster.api.list("v1", "ConfigMap", "default").items
        return {one["metadata"]["name"] for one in config_maps} & set(MARKS.values())


@pytest.fixture(scope="module")
def place(playbook: Playbook, small: SmallRelease, own_cluster: OwnCluster) -> Place:
    """The user's folder of this file."""
    return Place(playbook, small, own_cluster)


@pytest.fixture(params=cases([HERE], [THERE]))
def where(request: pytest.FixtureRequest) -> str:
    """Where the work is done."""
    return str(request.param)


def test_all_of_them_take_part(place: Place, where: str) -> None:
    for mark in place.left():
        place.cluster.api.delete("v1", "ConfigMap", mark, "default")
    outcome = place.deploy(where).succeeded()
    assert place.left() == set(MARKS.values())
    assert {one["state"] for name, one in outcome.migrations.items() if name.startswith("one/")} == {"done"}
    searched = outcome.plan["searched"]
    assert any(entry.endswith("(kyma.lifecycle)") for entry in searched)
    assert f"{place.collection} ({COLLECTION})" in searched
    for folder in (place.playbook.folder, place.inventory):
        assert f"{folder / 'kyma_migrations'} (yours)" in searched
    assert f"{place.named} (yours)" in searched
    # What files print as they are imported is not shown, and does no harm.
    assert "which begins as a result does" not in outcome.text


def test_broken_migrations_are_reported_with_file_line_and_remedy(
    place: Place, where: str, tmp_path: Path
) -> None:
    (tmp_path / "broken.py").write_text("class Broken:\n    def (\n")
    (tmp_path / "library.py").write_text("\nimport a_library_that_nobody_has\n")
    (tmp_path / "ends.py").write_text("raise SystemExit(1)\n")
    (tmp_path / "twin.py").write_text(marking("OfCollection", "one", "pre"))
    (tmp_path / "waits.py").write_text(marking("Waits", "one", "pre", more='after = ["one/nameed"]'))
    listed = ["named", str(tmp_path)]
    message = place.deploy(
        where, migration_paths=listed, migration_collections=[COLLECTION, "acme.platfrom"]
    ).refused()
    lines = [line.removeprefix("- ") for line in message.splitlines() if line.startswith("- ")]
    assert [line for line in lines if line.startswith("migration_collections lists acme.platfrom")]
    assert [line for line in lines if "did you mean acme.platform?" in line]
    for start in (
        f"{tmp_path}/broken.py:2: ",
        f"{tmp_path}/library.py:2: can't be imported: ModuleNotFoundError: ",
        f"{tmp_path}/ends.py:1: can't be imported: SystemExit: 1",
        f"{tmp_path}/waits.py:7: Waits: after names 'one/nameed', and there is no such migration: did you",
    ):
        assert [line for line in lines if line.startswith(start)], (start, lines)
    twin = next(line for line in lines if "twin.py" in line)
    assert f"{place.collection}/marks.py:" in twin
    assert len(lines) == 6


def test_a_folder_that_is_not_there_is_refused(place: Place, where: str) -> None:
    message = place.deploy(where, migration_paths=["nowhere"]).refused()
    assert "migration_paths (kyma_migration_paths): there is no nowhere; looked for" in message
