# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Case 12: the record deleted, or restored from an older backup, or its definition missing."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from .fault import NOTHING, Fault, Request
from .shop import API, MIGRATIONS
from .world import World

pytestmark = pytest.mark.control_plane

KINDS = ("KymaRun", "KymaInventory", "KymaInstallation")
CRD = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
PLURALS = ("kymaruns", "kymainventories", "kymainstallations", "kymajournalentries")

Backup = Mapping[str, list[dict[str, Any]]]


@pytest.fixture(autouse=True)
def _deployed(world: World) -> None:
    world.shop.renew()
    world.deploy().succeeded()


def _delete_records(world: World) -> None:
    for kind in KINDS:
        for record in world.api.list(API, kind).items:
            world.api.delete(API, kind, record["metadata"]["name"])


def _delete_definitions(world: World) -> None:
    for plural in PLURALS:
        world.api.delete(*CRD, f"{plural}.lifecycle.kyma-project.io")
    end = time.monotonic() + 30
    while any(world.api.get(*CRD, f"{plural}.lifecycle.kyma-project.io") for plural in PLURALS):
        assert time.monotonic() < end, "a definition stays"
        time.sleep(0.1)


def _backup(world: World) -> Backup:
    return {kind: world.api.list(API, kind).items for kind in KINDS}


def _restore(world: World, backup: Backup) -> None:
    _delete_records(world)
    for kind, records in backup.items():
        for record in records:
            own = ("resourceVersion", "uid", "creationTimestamp", "managedFields", "generation")
            meta = {key: value for key, value in record["metadata"].items() if key not in own}
            world.api.create({**record, "apiVersion": API, "kind": kind, "metadata": meta})
            if status := record.get("status"):
                address = (API, kind, meta["name"], None)
                world.api.patch(*address, {"status": status}, subresource="status")


@pytest.mark.parametrize("lose", [_delete_records, _delete_definitions])
def test_lost_after_a_deployment(world: World, lose: Callable[[World], None]) -> None:
    lose(world)
    world.deploy().succeeded()
    world.shop.assert_whole()


@pytest.mark.fault("the record is lost")
@pytest.mark.parametrize("lose", [_delete_records, _delete_definitions])
def test_lost_in_the_middle(world: World, lose: Callable[[World], None]) -> None:
    """The run at work may fail of it, with words; the next one ends it well."""
    world.shop.renew()
    lost: list[int] = []

    def script(request: Request) -> Fault:
        if lost or not request.writes or "/configmaps/base" not in request.path:
            return NOTHING
        lost.append(request.number)
        return Fault("the records are lost", before=lambda: lose(world))

    outcome = world.deploy(script)
    assert lost
    assert "Traceback" not in outcome.text
    world.deploy().succeeded()
    world.shop.assert_whole()


def test_restored_from_before_a_deployment(world: World) -> None:
    backup = _backup(world)
    world.shop.renew()
    world.deploy().succeeded()
    _restore(world, backup)
    again = world.deploy().succeeded()
    # The newest run may have begun in the restored records; what matters is that nothing ran twice.
    assert [one["state"] for one in again.migrations.values() if one["state"] == "done"] == []
    world.shop.assert_whole()


@pytest.mark.fault("the record is restored")
def test_restored_from_before_a_run_that_was_killed(world: World) -> None:
    backup = _backup(world)
    world.shop.renew()

    def script(request: Request) -> Fault:
        at = request.writes and MIGRATIONS[2] in request.path
        return Fault("killed", after=world.processes.kill, reset_after=True) if at else NOTHING

    world.deploy(script)
    _restore(world, backup)
    world.deploy().succeeded()
    world.shop.assert_whole()
