# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writing the records of a deployment into the cluster: the installation, its inventories and its runs."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    FIELD_MANAGER,
    Cluster,
    Object,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import (
    ClusterError,
    Conflict,
    Untypeable,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.hold import Hold, hold_problem
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.records import (
    API_VERSION,
    INSTALLATION_NAME,
    Installation,
    installation_from,
    inventory_objects,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errors import LifecycleError
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory import (
    Inventory,
    KeptPart,
)

RUNS_KEPT = 20
RUNNING = "running"
HOLD_MANAGER = "kyma-lifecycle-hold"
SECONDS_TO_KNOW = 30.0
"""How long an API server may take to go by a definition that was just brought up to date."""
POLL_SECONDS = 0.1


class StaleInstallation(LifecycleError):
    """Somebody else has changed the installation since it was read."""


def timestamp(when: datetime | None = None) -> str:
    """A moment as Kubernetes writes it (RFC 3339, UTC, seconds)."""
    return (when or datetime.now(UTC)).strftime("%Y-%m-%dT%H:%M:%SZ")


def keep(cluster: Cluster, record: Object, *, force: bool = False) -> Object:
    """Apply a record; the answer.

    Raises:
        ClusterError: the server refuses it, also after its definition was brought up to date.
    """
    return _with_definition(cluster, record["kind"], lambda: cluster.apply(record, force=force))


def change(cluster: Cluster, kind: str, name: str, part: str, content: Mapping[str, Any]) -> None:
    """Change a part of a record, ``spec`` or ``status``, by a JSON merge patch.

    Raises:
        ClusterError: as for :func:`keep`.
    """

    def patch() -> Object:
        answer = cluster.patch(API_VERSION, kind, name, None, {part: dict(content)})
        lost = [key for key, value in content.items() if value and key not in (answer.get(part) or {})]
        if lost:
            raise _Pruned(f"{kind} {name}: the API server has left out {', '.join(lost)} of its {part}")
        return answer

    _with_definition(cluster, kind, patch)


class _Pruned(ClusterError):
    """A definition lacks what a patch has: a server says nothing then, and leaves it out."""


def _with_definition(cluster: Cluster, kind: str, write: Callable[[], Object]) -> Object:
    """Write a record; where its definition is an older one, bring that up to date, and write again.

    A server still goes by the older definition for some moments, and longer where there are several servers.
    """
    end = time.monotonic() + SECONDS_TO_KNOW
    brought = False
    while True:
        try:
            return write()
        except (Untypeable, _Pruned) as refusal:
            if time.monotonic() >= end:
                raise ClusterError(
                    f"{refusal}; that is our own record, so the API server goes by an older definition of"
                    f" {kind}, which another version of this collection may have put there: run the"
                    " playbook again, with one version at a time"
                ) from refusal
        if not brought:
            from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.definitions import (
                definition_of,
            )

            cluster.apply(definition_of(kind), force=True)
            brought = True
        time.sleep(POLL_SECONDS)


def write_installation(
    cluster: Cluster, installation: Installation, *, seen: Installation | None = None
) -> None:
    """Keep which release the cluster has.

    Args:
        cluster: the live one.
        installation: ``resource_version`` and ``uid`` are the precondition; where they are empty there must
            be no record.
        seen: the record as it was read before, where it may be written also if all that has changed since is
            what no deployment writes, such as a hold.

    Raises:
        StaleInstallation: it was made or changed by somebody else in the meantime.
        LifecycleError: the cluster was held in the meantime, and a run was to begin with this.
    """
    status = {
        "version": installation.version,
        "target": installation.target,
        "profile": installation.profile,
        "digest": installation.digest,
        "lastRun": installation.last_run,
        "definitions": installation.definitions,
        "components": list(installation.components),
    }
    record: dict[str, Any] = {
        "apiVersion": API_VERSION,
        "kind": "Installation",
        "metadata": {"name": INSTALLATION_NAME},
    }
    try:
        precondition = {"uid": installation.uid, "resourceVersion": installation.resource_version}
        if not installation.uid:
            precondition = _claim(cluster, record, installation.last_run)
        record["metadata"] = {"name": INSTALLATION_NAME, **precondition}
        record["status"] = {key: value for key, value in status.items() if value}
        keep(cluster, record, force=True)
    except Conflict as conflict:
        now = installation_from(cluster.get(API_VERSION, "Installation", INSTALLATION_NAME)) if seen else None
        if now and seen and _only_touched(seen, now):
            if installation.last_run != seen.last_run and (held := hold_problem(now.hold, datetime.now(UTC))):
                raise LifecycleError(held) from conflict
            touched = replace(installation, resource_version=now.resource_version)
            write_installation(cluster, touched, seen=now)
            return
        raise StaleInstallation(
            "another deployment has begun on this cluster since the plan was made;"
            " look at `kubectl get runs.lifecycle.kyma-project.io`, then run the playbook again"
        ) from conflict


def _only_touched(seen: Installation, now: Installation) -> bool:
    """Whether a record was written in the meantime, and nothing of what deployments write has changed."""
    deployed, still = (replace(one, hold=None, resource_version="") for one in (seen, now))
    return deployed == still and seen.resource_version != now.resource_version


def _claim(cluster: Cluster, record: Object, run: str) -> dict[str, str]:
    """Make the record of the installation for a run; its uid and resourceVersion.

    It is applied without force, by a manager of the run's own, with a value that no other run has: so it
    conflicts where somebody else was quicker. A creation would, too, but an API server keeps a POST waiting
    for two seconds where the CRD is new.

    Raises:
        Conflict: somebody else has made it.
    """
    claim = {**record, "status": {"lastRun": run}}
    claimed = keep(cluster.with_field_manager(f"{FIELD_MANAGER}/{run}"), claim)
    return {key: str(claimed["metadata"][key]) for key in ("uid", "resourceVersion")}


def write_hold(cluster: Cluster, hold: Hold | None) -> None:
    """Keep that the cluster is held, or that it no longer is.

    By a field manager of its own, as a person may have set it, and deployments must leave it alone.
    """
    holding = cluster.with_field_manager(HOLD_MANAGER)
    if hold is None:
        # A patch, as somebody may have set it by other means.
        holding.patch(API_VERSION, "Installation", INSTALLATION_NAME, None, {"spec": {"hold": None}})
        return
    record = {
        "apiVersion": API_VERSION,
        "kind": "Installation",
        "metadata": {"name": INSTALLATION_NAME},
        "spec": {"hold": {key: value for key, value in asdict(hold).items() if value}},
    }
    keep(holding, record, force=True)


def write_inventory(cluster: Cluster, inventory: Inventory) -> None:
    """Keep what a component consists of, and nothing of what it was kept in before and is no longer."""
    written = _write_parts(cluster, inventory)
    # One that somebody writes to goes the next time; until then it is not read.
    with suppress(Conflict):
        _delete_parts(cluster, inventory.kept, written)


def rewrite_inventory(cluster: Cluster, inventory: Inventory) -> None:
    """The same, if nobody has written it since it was read.

    Raises:
        Conflict: somebody has.
    """
    _delete_parts(cluster, inventory.kept, _write_parts(cluster, inventory, seen=inventory.kept))


def delete_inventory(cluster: Cluster, inventory: Inventory) -> None:
    """Keep nothing of a component, if nobody has written its inventory since it was read.

    Raises:
        Conflict: somebody has.
    """
    _delete_parts(cluster, inventory.kept)


def _write_parts(cluster: Cluster, inventory: Inventory, seen: Iterable[KeptPart] = ()) -> set[str]:
    """Write the records of an inventory, those that were seen as they were then only; their names."""
    preconditions = {part.name: {"uid": part.uid, "resourceVersion": part.resource_version} for part in seen}
    names = set()
    for part in inventory_objects(inventory):
        name = part["metadata"]["name"]
        part["metadata"] |= preconditions.get(name, {})
        keep(cluster, part, force=True)
        names.add(name)
    return names


def _delete_parts(cluster: Cluster, parts: Iterable[KeptPart], needed: Collection[str] = ()) -> None:
    for part in parts:
        if part.name not in needed:
            cluster.delete(
                API_VERSION, "Inventory", part.name, uid=part.uid, resource_version=part.resource_version
            )


def new_run_name() -> str:
    """A name for a run that begins now, so that runs sort by time."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


def create_run(cluster: Cluster, name: str, spec: Mapping[str, Any]) -> None:
    """Begin the record of a run.

    It is applied, as an API server keeps a POST waiting for two seconds where the CRD is new.
    """
    record = {
        "apiVersion": API_VERSION,
        "kind": "Run",
        "metadata": {"name": name},
        "spec": dict(spec),
        "status": {"state": RUNNING},
    }
    keep(cluster, record)


def note(cluster: Cluster, run: str, status: Mapping[str, Any], *, among: int = 1) -> None:
    """Add to the record of a run: a JSON merge patch of its status, as far as there is room for it.

    Args:
        cluster: that has the record.
        run: its name.
        status: see :func:`~.shortening.shortened`.
        among: how many components and migrations the record may have to tell of.
    """
    from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.shortening import shortened

    change(cluster, "Run", run, "status", shortened(status, among))


def read_run(cluster: Cluster, name: str) -> Object:
    """The record of a run.

    Raises:
        LifecycleError: there is none of that name.
    """
    run = cluster.get(API_VERSION, "Run", name)
    if run is None:
        raise LifecycleError(
            f"the cluster has no record of a run {name}: it was removed, or it belongs to another cluster;"
            " `kubectl get runs.lifecycle.kyma-project.io` lists those that there are"
        )
    return run


def read_runs(cluster: Cluster) -> list[Object]:
    """The records of all runs, newest first."""
    return sorted(cluster.list(API_VERSION, "Run").items, key=_made, reverse=True)


def forget_old_runs(cluster: Cluster, runs: Sequence[Object], last_run: str) -> None:
    """Keep the newest runs only, so that the history stays bounded.

    Args:
        cluster: that has the records.
        runs: all, as they were just read, the newest first.
        last_run: the installation's: its record stays, and with it what its migrations have journaled.
    """
    for run in _to_forget(runs, last_run):
        meta = run["metadata"]
        seen = {"uid": meta["uid"], "resource_version": meta["resourceVersion"]}
        # One that somebody writes to goes the next time.
        with suppress(Conflict):
            cluster.delete(API_VERSION, "Run", meta["name"], **seen)


def _made(run: Object) -> tuple[str, str]:
    """What runs are sorted by: when a record was made, by the server's clock, as those of hosts differ."""
    meta = run["metadata"]
    return str(meta.get("creationTimestamp") or ""), str(meta["name"])


def _to_forget(runs: Sequence[Object], last_run: str) -> list[Object]:
    """Those of the runs, the newest first, that are older than is kept and that nobody works on."""
    return [
        run
        for run in runs[RUNS_KEPT:]
        if run["metadata"]["name"] != last_run and (run.get("status") or {}).get("state") != RUNNING
    ]
