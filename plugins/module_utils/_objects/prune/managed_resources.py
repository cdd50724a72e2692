# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The existing objects of some kinds in the whole cluster, and their description.

A user who deletes an operator has to know them: without the operator nothing removes their finalizers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from ..._cluster.cluster import Cluster, Object, Resource, group_of, ref_of
from ..._cluster.errors import ClusterError, is_conversion_failure
from ..._cluster.kinds import CRD_KIND
from ..._text import first_of, one_line, short_list
from ..._threads import map_in_threads

GroupKind = tuple[str, str]
"""A kind in any served version: group and kind."""
LivingResources = dict[GroupKind, "list[Object] | ClusterError"]
"""The metadata of all objects of each kind, or the error that hides them."""

MOST_KINDS = 10
"""How many kinds a description counts."""
MOST_NAMED = 10
"""How many objects a description lists by name, and how many finalizers."""


def living_resources(cluster: Cluster, kinds: Iterable[GroupKind]) -> LivingResources:
    """The metadata of all objects of some kinds, in all namespaces: one request per kind.

    Each kind is read in any served version. A kind that can't be read has an error in place of its
    objects. So has a kind whose definition exists but serves no version.

    Args:
        cluster: live or an overlay.
        kinds: the kinds to read.
    """
    distinct = sorted(set(kinds))
    unserved: list[GroupKind] = []

    def read(kind: GroupKind) -> list[Object] | ClusterError:
        try:
            for served in cluster.served(*kind)[:1]:
                try:
                    return cluster.list(served.api_version, served.kind, metadata_only=True).items
                except ClusterError as error:
                    return with_conversion_advice(error, served)
        except ClusterError as error:
            return error
        unserved.append(kind)
        return []

    by_kind = dict(zip(distinct, map_in_threads(read, distinct), strict=True))
    return by_kind | _hidden_by_definitions(cluster, unserved)


def read_living(cluster: Cluster, kinds: Iterable[GroupKind]) -> list[Object]:
    """The metadata of all objects of some kinds.

    Raises:
        ClusterError: they can't be read.
    """
    results = living_resources(cluster, kinds).values()
    for error in results:
        if isinstance(error, ClusterError):
            raise error
    return [obj for one in results if isinstance(one, list) for obj in one]


def with_conversion_advice(error: ClusterError, kind: Resource) -> ClusterError:
    """The error of a read, with what to do if the conversion webhook of the kind does not answer."""
    if not is_conversion_failure(error):
        return error
    crd = f"{kind.plural}.{group_of(kind.api_version)}"
    return ClusterError(
        f"{error}. So the cluster can't read the objects of CustomResourceDefinition {crd}. Repair the server"
        f" behind its conversion webhook (`kubectl describe crd {crd}`), then run the playbook again"
    )


def _hidden_by_definitions(cluster: Cluster, unserved: Sequence[GroupKind]) -> LivingResources:
    """Errors for those kinds that have a definition: objects may be stored that no client can read."""
    if not unserved:
        return {}
    try:
        crds = cluster.list(f"{CRD_KIND[0]}/v1", CRD_KIND[1]).items
    except ClusterError as error:
        return dict.fromkeys(unserved, error)
    defined = {(crd["spec"]["group"], crd["spec"]["names"]["kind"]): crd["metadata"]["name"] for crd in crds}
    return {
        kind: ClusterError(
            f"CustomResourceDefinition {defined[kind]}: the cluster serves {kind[1]} in no version, so it "
            f"is unknown whether objects of it exist. Check its conditions and versions"
            f" (`kubectl describe crd {defined[kind]}`), then run the playbook again"
        )
        for kind in unserved
        if kind in defined
    }


def describe_living(objects: Sequence[Object], now: datetime) -> list[str]:
    """A description of existing objects, in less than 40 lines.

    First come the counts by kind, then the first ten by name with age and owner. Last come the finalizers of
    objects that are already being deleted.

    Args:
        objects: their metadata at least.
        now: the time from which ages are calculated.
    """
    ordered = sorted(objects, key=ref_of)
    counts = Counter(f"{obj['kind']}.{group_of(obj['apiVersion'])}".rstrip(".") for obj in ordered)
    counted = [f"{count} {kind}" for kind, count in sorted(counts.items())]
    lines = [short_list(counted, MOST_KINDS, "more kinds")]
    lines += first_of([_described(obj, now) for obj in ordered], MOST_NAMED)
    being_deleted = [obj["metadata"] for obj in ordered if obj["metadata"].get("deletionTimestamp")]
    finalizers = Counter(one_line(name) for meta in being_deleted for name in meta.get("finalizers") or ())
    lines += [
        f"finalizer {name} holds {count} of {len(being_deleted)} being deleted"
        for name, count in finalizers.most_common(MOST_NAMED)
    ]
    return lines


def _described(obj: Object, now: datetime) -> str:
    return ": ".join(filter(None, (str(ref_of(obj)), ", ".join(_traits(obj, now)))))


def _traits(obj: Object, now: datetime) -> list[str]:
    meta = obj["metadata"]
    traits = [f"{age} old"] if (age := age_text(meta.get("creationTimestamp"), now)) else []
    owners = [f"{one.get('kind')} {one.get('name')}" for one in meta.get("ownerReferences") or ()]
    writers = [str(one["manager"]) for one in meta.get("managedFields") or () if one.get("manager")]
    if owners:
        traits.append(f"owned by {one_line(', '.join(owners))}")
    elif writers:
        traits.append(f"written by {one_line(writers[0])}")
    if meta.get("deletionTimestamp"):
        held = one_line(", ".join(map(str, meta.get("finalizers") or ()))) or "none"
        traits.append(f"being deleted for {age_text(meta['deletionTimestamp'], now)} (finalizers: {held})")
    return traits


def age_text(since: str | None, now: datetime) -> str:
    """The time since then, in its largest unit like kubectl; empty if it is unknown."""
    if not since:
        return ""
    # Clocks differ.
    passed = max(now - datetime.fromisoformat(since), timedelta())
    seconds = int(passed.total_seconds())
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"
