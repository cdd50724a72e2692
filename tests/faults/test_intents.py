# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is about to be written stands in the records before it is, so that whoever comes after knows of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from urllib.parse import parse_qs

import pytest

from .fault import NOTHING, Fault, Request
from .shop import API, MIGRATIONS
from .world import World

pytestmark = pytest.mark.control_plane

COMPONENTS = ("base", "shop", "mail")


def test_every_migration_and_every_component(world: World) -> None:
    """Looked at just before each write arrives: whatever kills the deployer then, it is on record."""
    looked_at: set[str] = set()
    unknown: list[str] = []

    def script(request: Request) -> Fault:
        step, component = _step_of(request), _component_of(request)
        if step:
            return Fault(f"a look at {step}", before=partial(look, step, _is_migration_intended))
        if component:
            return Fault(f"a look at {component}", before=partial(look, component, _is_component_intended))
        return NOTHING

    def look(what: str, is_intended: Callable[[World, str], bool]) -> None:
        looked_at.add(what)
        if not is_intended(world, what):
            unknown.append(what)

    world.shop.renew()
    world.deploy(script).succeeded()
    assert looked_at == {*MIGRATIONS, *COMPONENTS}
    assert unknown == []


def _step_of(request: Request) -> str:
    """The migration that writes this, by its field manager; empty where none does."""
    manager = parse_qs(request.query).get("fieldManager", [""])[0]
    is_ours = "/lifecycle.kyma-project.io/" in request.path
    return manager.rpartition("/")[2] if request.writes and "/" in manager and not is_ours else ""


def _component_of(request: Request) -> str:
    name = request.path.rpartition("/")[2]
    return name if request.writes and "/configmaps/" in request.path and name in COMPONENTS else ""


def _is_migration_intended(world: World, step: str) -> bool:
    """Whether the run says that it is at work, and the journal what it is about to write."""
    migrations = world.shop.runs()[0]["status"].get("migrations") or {}
    states = {name.partition("/")[2]: one["state"] for name, one in migrations.items()}
    entries = (entry["spec"] for entry in world.api.list(API, "KymaJournalEntry").items)
    open_ones = [one for one in entries if one["migration"].endswith(f"/{step}") and not one.get("settled")]
    return states.get(step) == "running" and bool(open_ones)


def _is_component_intended(world: World, component: str) -> bool:
    """Whether its inventory names what is about to be written, and does not claim to be complete."""
    inventory = world.api.get(API, "KymaInventory", component)
    spec = (inventory or {}).get("spec") or {}
    return any(one["name"] == component for one in spec.get("objects") or ()) and not spec.get("digest")
