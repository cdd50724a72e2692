# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Giving up an open deployment: what of it is irreversible, according to the cluster's records. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..._components.component_inventory import deployed_as
from ..._objects.inventory.inventory import Inventory
from ..._release.model import FOUNDATION
from ..._runs.records.installation import Installation
from ..._runs.records.run_record import begin_of, run_status
from ..desired.release_versions import is_same_release


def irreversible_changes(
    installation: Installation, inventories: Mapping[str, Inventory], runs: Iterable[Mapping[str, Any]]
) -> list[str]:
    """What a deployment of ``installation.target`` has done so far, each in a sentence.

    Args:
        installation: with a target that is not its version.
        inventories: of the cluster's components.
        runs: the records of the newest runs.
    """
    target = installation.target
    stays = [
        f"component {name} has moved to {target}"
        if inventory.digest
        else f"component {name} has begun and is incomplete"
        for name, inventory in inventories.items()
        if is_same_release(deployed_as(inventory).version, target) or not inventory.digest
    ]
    replaced: dict[str, int] = {}
    for status in map(run_status, own := _runs_of(target, runs)):
        for name, outcome in (status.get("components") or {}).items():
            replaced[name] = replaced.get(name, 0) + outcome.get("replaced", 0)
    stays += [
        f"migration {id_} ran in {run}; what it changed stays changed"
        for id_, run in begun_migrations(target, own).items()
    ]
    stays += [
        f"component {name}: {count} {'object was' if count == 1 else 'objects were'} deleted and recreated"
        for name, count in replaced.items()
        if count
    ]
    return stays


def begun_migrations(target: str, runs: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """The migrations that have begun to write in a deployment of ``target``, each with the name of its run.

    Args:
        target: the version of a release.
        runs: the records of the newest runs.
    """
    return {
        id_: run["metadata"]["name"]
        for run in reversed(_runs_of(target, runs))
        for id_, outcome in (run_status(run).get("migrations") or {}).items()
        if outcome.get("wrote")
    }


def _runs_of(target: str, runs: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [run for run in runs if is_same_release(begin_of(run).version, target)]


def downgrade_problem(inventory: Inventory, version: str) -> str:
    """Why a component may not be deployed from an older release, with a solution."""
    what = "the CRDs and namespaces were" if inventory.owner == FOUNDATION else "it was"
    before = deployed_as(inventory).version
    return (
        f"{what} deployed from {before}, so {version} would be a downgrade, which is never safe:"
        f" deploy {before}, or add abandon=true (kyma_abandon) to go back in spite of that"
    )
