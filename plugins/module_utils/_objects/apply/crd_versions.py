# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""CustomResourceDefinitions whose versions change: wide while components change, narrow afterwards. Pure.

Source: Kubernetes, "Versions in CustomResourceDefinitions", upgrading existing objects to a new stored
version.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from ..._cluster.cluster import Object
from ..._cluster.fields.field_sets import Field, from_fields_v1, to_fields_v1


def widen_versions(desired: Object, live: Object | None) -> Object:
    """A definition with which old and new components can run at the same time.

    The versions in the cluster stay, next to those of the release. Objects are stored in the release's
    version at once, as they would lose their new fields in the old one. The exception is a webhook that
    converts them, which must exist first.

    Args:
        desired: the definition in the release.
        live: the definition in the cluster, if it exists.

    Returns:
        ``desired`` itself if it removes nothing.
    """
    if live is None:
        return desired
    old, new = _versions(live), _versions(desired)
    # Also versions that are neither served nor stored: managedFields of objects may still name them.
    live_only = [version for name, version in old.items() if name not in new]
    hidden = {
        name for name, version in new.items() if not version["served"] and old.get(name, _NONE)["served"]
    }
    storage = _storage(desired)
    if _has_webhook(desired) and _storage(live) in {*new, *(version["name"] for version in live_only)}:
        storage = _storage(live)
    lost = loses_conversion(desired, live)
    if not (live_only or hidden or lost or storage != _storage(desired)):
        return desired
    versions = [
        {**version, "served": version["served"] or name in hidden, "storage": name == storage}
        for name, version in [*new.items(), *((version["name"], version) for version in live_only)]
    ]
    spec = {**desired["spec"], "versions": versions}
    if lost:
        spec["conversion"] = live["spec"]["conversion"]
    return {**desired, "spec": spec}


_NONE: Mapping[str, Any] = {"served": False}


def removed_versions(desired: Object, live: Object) -> list[str]:
    """The versions in the cluster that the release lacks."""
    new = _versions(desired)
    return [name for name in _versions(live) if name not in new]


def stored_versions(live: Object) -> list[str]:
    """The versions in which objects may be stored."""
    return list((live.get("status") or {}).get("storedVersions") or ())


def with_final_storage(desired: Object, live: Object) -> Object:
    """The wide definition, with the release's storage version and conversion."""
    wide = widen_versions(desired, live)
    storage = _storage(desired)
    versions = [{**version, "storage": version["name"] == storage} for version in wide["spec"]["versions"]]
    spec = {key: value for key, value in wide["spec"].items() if key != "conversion"}
    if "conversion" in desired["spec"]:
        spec["conversion"] = desired["spec"]["conversion"]
    return {**wide, "spec": {**spec, "versions": versions}}


def is_stored_as(desired: Object, live: Object) -> bool:
    """Whether the cluster already stores new objects in the release's version."""
    return _storage(desired) == _storage(live)


def storage_api_version(desired: Object) -> str:
    """The apiVersion in which the release stores objects."""
    return f"{desired['spec']['group']}/{_storage(desired)}"


def loses_conversion(desired: Object, live: Object) -> bool:
    """Whether a webhook converts objects now, and the release's definition has none."""
    return _has_webhook(live) and not _has_webhook(desired)


def managers_without_versions(
    managed_fields: Sequence[Mapping[str, Any]], gone: Collection[str], api_version: str, *, same_fields: bool
) -> list[Mapping[str, Any]] | None:
    """``managedFields`` of an object without entries of removed apiVersions; None if it has no such entries.

    With such an entry every later server-side apply of the object fails, as the server can't convert it.

    Args:
        managed_fields: those of the object.
        gone: the removed apiVersions.
        api_version: the one in which objects are stored from now on.
        same_fields: whether the versions have the same fields (no conversion), so that the owners can be
            retained. Otherwise the owner counts as not having written the object.
    """
    if not any(entry.get("apiVersion") in gone for entry in managed_fields):
        return None
    entries: dict[tuple[Any, ...], dict[str, Any]] = {}
    for entry in managed_fields:
        moved = dict(entry)
        if entry.get("apiVersion") in gone:
            if not same_fields:
                continue
            moved["apiVersion"] = api_version
        key = tuple(moved.get(name) for name in ("manager", "operation", "apiVersion", "subresource"))
        if key in entries:
            both = (from_fields_v1(one.get("fieldsV1") or {}) for one in (entries[key], moved))
            moved = {**entries[key], "fieldsV1": to_fields_v1(frozenset[Field]().union(*both))}
        entries[key] = moved
    # An empty list would leave the entries unchanged: one empty entry removes them.
    return list(entries.values()) or [{}]


def _versions(crd: Object) -> dict[str, dict[str, Any]]:
    return {
        version["name"]: {
            **version,
            "served": bool(version.get("served")),
            "storage": bool(version.get("storage")),
        }
        for version in crd["spec"].get("versions") or ()
    }


def _storage(crd: Object) -> str:
    names: Iterable[str] = (name for name, version in _versions(crd).items() if version["storage"])
    return next(iter(names), "")


def _has_webhook(crd: Object) -> bool:
    return (crd["spec"].get("conversion") or {}).get("strategy") == "Webhook"
