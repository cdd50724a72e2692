# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes entries of the Kyma resource, and nothing else of it: in one request for all modules of a wave."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from .._cluster.cluster import FIELD_MANAGER, Cluster, Object
from .._cluster.errors import Conflict, Invalid
from .._errors import LifecycleError
from .klm_rights import KYMA
from .kyma_resource import KYMA_TEXT, Entry, Kyma


class StaleKyma(LifecycleError):
    """Others have changed the Kyma resource since it was read, so it has to be read again."""


def apply_entries(
    cluster: Cluster, kyma: Kyma, desired: Mapping[str, Entry], *, dry_run: bool = False
) -> Kyma:
    """Apply the entries of some modules; the Kyma resource after that.

    An apply that leaves out an entry of ours removes it, and KLM then deletes that module. So each apply has
    all entries that our field manager owns, and the answer to a dry run must still have all other entries.

    Args:
        cluster: where to write.
        kyma: the resource as it was just read.
        desired: the entries by module.
        dry_run: whether only the dry run is made.

    Raises:
        StaleKyma: others have changed the resource since.
        LifecycleError: the server refuses it.
    """
    intent, writer = intent_with(kyma, desired), cluster.with_field_manager(FIELD_MANAGER)
    try:
        answer = Kyma(writer.apply(intent, force=True, dry_run=True))
        if problem := unwanted_changes(kyma, answer, desired):
            raise StaleKyma(f"the {KYMA_TEXT} has changed since it was read: a write would move {problem}")
        return answer if dry_run else Kyma(writer.apply(intent, force=True))
    except Conflict as error:
        raise StaleKyma(str(error)) from error
    except Invalid as error:
        if "uid" not in error.api_message:
            raise
        raise StaleKyma(str(error)) from error


def intent_with(kyma: Kyma, desired: Mapping[str, Entry]) -> Object:
    """The complete intent of our field manager: what it owns of all entries, and the desired ones."""
    owned = {name: _owned(kyma, name, entry) for name, entry in kyma.entries.items()}
    entries = [dict(one) for one in {**owned, **desired}.values() if one]
    meta = {"name": KYMA.name, "namespace": KYMA.namespace, "uid": kyma.uid}
    api_version = kyma.object["apiVersion"]
    return {"apiVersion": api_version, "kind": KYMA.kind, "metadata": meta, "spec": {"modules": entries}}


def _owned(kyma: Kyma, name: str, entry: Entry) -> dict[str, Any]:
    keys = kyma.own_keys(name)
    return {"name": name, **{key: value for key, value in entry.items() if key in keys}} if keys else {}


def unwanted_changes(before: Kyma, after: Kyma, written: Collection[str]) -> str:
    """What a write changes besides some entries, for a message; empty if nothing."""
    names = {*before.entries, *after.entries}.difference(written)
    changed = sorted(name for name in names if before.entries.get(name) != after.entries.get(name))
    specs = (dict(one.object.get("spec") or {}, modules=None) for one in (before, after))
    rest = [] if next(specs) == next(specs) else ["its other fields"]
    return ", ".join([*(f"the entry of {name}" for name in changed), *rest])


def take_out_entries(cluster: Cluster, kyma: Kyma, names: Collection[str]) -> Kyma:
    """Take the entries of some modules out; the Kyma resource after that.

    Leaving an entry out of an apply does not remove it where others own it, too. So this is a patch by index
    that tests the resource's uid and each whole entry.

    Raises:
        StaleKyma: others have changed the resource or one of the entries since.
        LifecycleError: the server refuses it.
    """
    listed = [(index, one) for index, one in enumerate(kyma.entries.values()) if one["name"] in names]
    patch: list[Mapping[str, Any]] = [{"op": "test", "path": "/metadata/uid", "value": kyma.uid}]
    for index, entry in reversed(listed):
        path = f"/spec/modules/{index}"
        patch += [{"op": "test", "path": path, "value": dict(entry)}, {"op": "remove", "path": path}]
    try:
        return Kyma(cluster.patch(*KYMA.in_version(kyma.object["apiVersion"]), patch))
    except (Conflict, Invalid) as error:
        raise StaleKyma(str(error)) from error
