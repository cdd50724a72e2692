# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Removes versions from a CustomResourceDefinition that the release no longer has.

The server refuses this as long as objects may be stored in such a version, so every object is rewritten
first. Each step may be repeated: the next run completes an interrupted one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..._batch import Batch
from ..._cluster.cluster import Cluster, Object, Ref, address_of, ref_of
from ..._cluster.errors import ClusterError, Conflict, NotFound
from ..._cluster.exact_patch import patch_exactly
from ..._errors import LifecycleError
from ..ownership.policy import Policy
from .apply_object import NO_KNOWN_OBJECTS, KnownObjects, apply_object
from .apply_set import WaitCallbacks
from .crd_versions import (
    is_stored_as,
    loses_conversion,
    managers_without_versions,
    removed_versions,
    storage_api_version,
    stored_versions,
    widen_versions,
    with_final_storage,
)

TRIES = 5
"""How often to retry a write that conflicts with another writer's."""
SECONDS_TO_LEARN = 2.0
"""How long API servers may take to notice a definition's new storage version, in seconds."""


class Interrupted(LifecycleError):
    """The run was cancelled while objects were rewritten; the next run continues."""


def narrow_definition(
    cluster: Cluster,
    desired: Object,
    policy: Policy,
    waits: WaitCallbacks,
    *,
    learn: float,
    known: KnownObjects = NO_KNOWN_OBJECTS,
    batch: Batch | None = None,
    report: Callable[[str], None] = lambda _detail: None,
) -> Object | None:
    """Narrow a definition to the release's versions, once no component needs more.

    Returns the definition in the server's answer; None if it has no other versions.

    Args:
        cluster: live, or an overlay.
        desired: the definition in the release.
        policy: the terms on which it is written.
        waits: the waits until it is served.
        learn: seconds to wait after the storage version changes.
        known: the knowledge about it: we may not remove others' additions to a definition that we created.
        batch: the work on its objects, which may be stopped.
        report: gets a message about each step.

    Raises:
        ClusterError: an object can't be written in the version that stays.
        Interrupted: the run was cancelled before all objects were rewritten.
    """
    ref = ref_of(desired)
    live = _live(cluster, desired)
    if widen_versions(desired, live) is desired:
        return None
    removed = removed_versions(desired, live)
    if removed and loses_conversion(desired, live):
        _refuse_lost_conversion(cluster, desired, removed)
    if not is_stored_as(desired, live):
        apply_object(cluster, with_final_storage(desired, live), policy, waits.until_gone, known)
        time.sleep(learn)
    if removed:
        report(f"{ref}: {', '.join(removed)} is removed, so its objects are written again")
        rewritten = store_in_one_version(cluster, desired, removed, batch)
        report(f"{ref}: {rewritten} objects are written again")
    answer = apply_object(cluster, desired, policy, waits.until_gone, known).object
    waits.until_served([answer])
    return answer


def store_in_one_version(
    cluster: Cluster,
    desired: Object,
    removed: Sequence[str] = (),
    batch: Batch | None = None,
) -> int:
    """Write all objects of a kind again, so that the server stores them in one version; their number.

    Args:
        cluster: whose API servers already store new objects in that version.
        desired: the definition, with that version.
        removed: the versions that the definition is going to lose.
        batch: this work, which may be stopped.

    Raises:
        ClusterError: an object, or the status of the definition, can't be written.
        Interrupted: it was cancelled before all objects were written.
    """
    rewritten = _Rewriting(cluster, desired, removed, batch or Batch()).run()
    _set_stored(cluster, desired)
    return rewritten


def _live(cluster: Cluster, desired: Object) -> Object:
    live = cluster.get(*address_of(desired))
    if live is None:
        raise ClusterError(f"{ref_of(desired)} was deleted during the run; run the playbook again")
    return live


def _refuse_lost_conversion(cluster: Cluster, desired: Object, removed: list[str]) -> None:
    page = cluster.list(storage_api_version(desired), desired["spec"]["names"]["kind"], metadata_only=True)
    if page.items:
        raise ClusterError(
            f"{ref_of(desired)}: {', '.join(removed)} is still stored. The new definition lacks it and the"
            f" webhook that converts it, and {len(page.items)} objects live. Convert or delete them in a"
            " migration first"
        )


def _set_stored(cluster: Cluster, desired: Object) -> None:
    storage = storage_api_version(desired).rpartition("/")[2]
    for attempt in range(TRIES):
        live = _live(cluster, desired)
        if stored_versions(live) == [storage]:
            return
        try:
            patch_exactly(cluster, live, {"status": {"storedVersions": [storage]}}, subresource="status")
            return
        except Conflict:
            if attempt == TRIES - 1:
                raise


class _Rewriting:
    """The rewrite of all objects of a kind, without a change: this stores them in the version that stays."""

    def __init__(self, cluster: Cluster, desired: Object, removed: Sequence[str], batch: Batch) -> None:
        spec = desired["spec"]
        self._batch = batch
        self._cluster = cluster
        self._crd = ref_of(desired)
        self._api_version = storage_api_version(desired)
        self._kind: str = spec["names"]["kind"]
        self._removed = frozenset(f"{spec['group']}/{version}" for version in removed)
        self._same_fields = (spec.get("conversion") or {}).get("strategy") != "Webhook"

    def run(self) -> int:
        """Rewrite all objects; returns their number.

        It rewrites again what others write meanwhile in a version that is being removed.
        """
        objects = self._objects()
        self._rewrite_all(objects)
        for _round in range(TRIES):
            late = [obj for obj in self._objects() if self._managers_without_removed(obj) is not None]
            if not late:
                break
            self._rewrite_all(late)
        return len(objects)

    def _rewrite_all(self, objects: Sequence[Object]) -> None:
        self._batch.map(self._rewrite, objects, name=ref_of)
        if self._batch.left:
            raise Interrupted(
                f"the run was cancelled before all objects of {self._crd} were written again; the next "
                f"run continues with that"
            )

    def _objects(self) -> list[Object]:
        return self._cluster.list(self._api_version, self._kind, metadata_only=True).items

    def _managers_without_removed(self, obj: Object) -> list[Mapping[str, Any]] | None:
        managers = obj["metadata"].get("managedFields") or ()
        return managers_without_versions(
            managers, self._removed, self._api_version, same_fields=self._same_fields
        )

    def _rewrite(self, listed: Object) -> None:
        ref = ref_of(listed)
        obj: Object | None = listed
        for attempt in range(TRIES):
            if obj is None:
                return
            try:
                managers = self._managers_without_removed(obj)
                metadata = {} if managers is None else {"managedFields": managers}
                patch_exactly(self._cluster, obj, {"metadata": metadata})
            except NotFound:
                return
            except Conflict as conflict:
                if attempt == TRIES - 1:
                    raise self._refused(ref, conflict) from conflict
                obj = self._cluster.get(*ref.in_version(self._api_version))
            except ClusterError as error:
                raise self._refused(ref, error) from error
            else:
                return

    def _refused(self, ref: Ref, error: ClusterError) -> ClusterError:
        versions = ", ".join(sorted(self._removed))
        return ClusterError(
            f"{self._crd} can't do without {versions} yet, as {ref} can't be written in {self._api_version}:"
            f" {error}; repair that object, then run the playbook again"
        )
