# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Taking versions away from a CustomResourceDefinition that the release no longer has.

The server refuses it as long as objects may be stored in such a version, so every object is written anew
first. Each step may be repeated: what was begun is ended by the next run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..._cluster.cluster import Cluster, Object, Ref, ref_of
from ..._cluster.errors import ClusterError, Conflict, NotFound
from ..._errors import LifecycleError
from ..._threads import map_in_threads
from ..ownership.policy import Policy
from .apply_object import NO_KNOWN_OBJECTS, KnownObjects, apply_object
from .apply_set import WaitCallbacks
from .crd_versions import (
    gone_versions,
    is_stored_as,
    loses_conversion,
    managers_without_versions,
    storage_api_version,
    stored_versions,
    widen_versions,
    with_final_storage,
)

TRIES = 5
"""How often a write is repeated that somebody else's came in between of."""
SECONDS_TO_LEARN = 2.0
"""How long API servers may take to learn of a definition's new storage version."""


class Interrupted(LifecycleError):
    """The run was cancelled while objects were written anew; the next one goes on."""


@dataclass(frozen=True)
class Narrowed:
    """What came of narrowing a definition.

    Attributes:
        object: the definition, as the server answered.
        gone: the versions that went.
    """

    object: Object
    gone: tuple[str, ...]


def narrow_definition(
    cluster: Cluster,
    wanted: Object,
    policy: Policy,
    waits: WaitCallbacks,
    *,
    learn: float,
    known: KnownObjects = NO_KNOWN_OBJECTS,
    cancelled: Callable[[], bool] = lambda: False,
    tell: Callable[[str], None] = lambda _detail: None,
) -> Narrowed | None:
    """Make a definition what the release says, once nobody needs more; None where it is that already.

    Args:
        cluster: live, or an overlay.
        wanted: the definition as the release has it.
        policy: on which terms it is written.
        waits: how to wait for it to be served.
        learn: seconds to wait where objects come to be stored in another version.
        known: what is known of it: what others have added to a definition that we made is not ours to take.
        cancelled: asked before every object.
        tell: told what is done.

    Raises:
        ClusterError: an object can't be written in the version that stays.
        Interrupted: the run was cancelled before all were.
    """
    ref = ref_of(wanted)
    live = _live(cluster, wanted)
    if widen_versions(wanted, live) is wanted:
        return None
    gone = gone_versions(wanted, live)
    if gone and loses_conversion(wanted, live):
        _refuse_lost_conversion(cluster, wanted, gone)
    if not is_stored_as(wanted, live):
        apply_object(cluster, with_final_storage(wanted, live), policy, waits.until_gone, known)
        time.sleep(learn)
    if gone:
        tell(f"{ref}: {', '.join(gone)} is removed, so its objects are written again")
        rewritten = _Rewriting(cluster, wanted, gone, cancelled).run()
        tell(f"{ref}: {rewritten} objects are written again")
        _set_stored(cluster, wanted)
    answer = apply_object(cluster, wanted, policy, waits.until_gone, known).object
    waits.until_served([answer])
    return Narrowed(answer, tuple(gone))


def _live(cluster: Cluster, wanted: Object) -> Object:
    live = cluster.get(wanted["apiVersion"], wanted["kind"], wanted["metadata"]["name"])
    if live is None:
        raise ClusterError(f"{ref_of(wanted)} was deleted during the run; run the playbook again")
    return live


def _refuse_lost_conversion(cluster: Cluster, wanted: Object, gone: list[str]) -> None:
    page = cluster.list(storage_api_version(wanted), wanted["spec"]["names"]["kind"], metadata_only=True)
    if page.items:
        raise ClusterError(
            f"{ref_of(wanted)}: {', '.join(gone)} is still stored. The new definition lacks it and the"
            f" webhook that converts it, and {len(page.items)} objects live. Convert or delete them in a"
            " migration first"
        )


def _set_stored(cluster: Cluster, wanted: Object) -> None:
    name = wanted["metadata"]["name"]
    storage = storage_api_version(wanted).rpartition("/")[2]
    for attempt in range(TRIES):
        live = _live(cluster, wanted)
        if stored_versions(live) == [storage]:
            return
        patch = {
            "metadata": {key: live["metadata"].get(key) for key in ("uid", "resourceVersion")},
            "status": {"storedVersions": [storage]},
        }
        try:
            cluster.patch(wanted["apiVersion"], wanted["kind"], name, None, patch, subresource="status")
            return
        except Conflict:
            if attempt == TRIES - 1:
                raise


class _Rewriting:
    """Writing all objects of a kind anew, as they are: so they are stored in the version that stays."""

    def __init__(
        self, cluster: Cluster, wanted: Object, gone: list[str], cancelled: Callable[[], bool]
    ) -> None:
        spec = wanted["spec"]
        self._cancelled = cancelled
        self._cluster = cluster
        self._crd = ref_of(wanted)
        self._api_version = storage_api_version(wanted)
        self._kind: str = spec["names"]["kind"]
        self._gone = frozenset(f"{spec['group']}/{version}" for version in gone)
        self._same_fields = (spec.get("conversion") or {}).get("strategy") != "Webhook"

    def run(self) -> int:
        """Rewrite all objects; how many.

        What somebody has written in a version that goes in the meantime is rewritten again.
        """
        objects = self._objects()
        map_in_threads(self._rewrite, objects)
        for _round in range(TRIES):
            late = [obj for obj in self._objects() if self._kept(obj) is not None]
            if not late:
                break
            map_in_threads(self._rewrite, late)
        return len(objects)

    def _objects(self) -> list[Object]:
        return self._cluster.list(self._api_version, self._kind, metadata_only=True).items

    def _kept(self, obj: Object) -> list[Mapping[str, Any]] | None:
        managers = obj["metadata"].get("managedFields") or ()
        return managers_without_versions(
            managers, self._gone, self._api_version, same_fields=self._same_fields
        )

    def _rewrite(self, found: Object) -> None:
        ref = ref_of(found)
        if self._cancelled():
            raise Interrupted(
                f"the run was cancelled before all objects of {self._crd} were written again; the next "
                f"run continues with that"
            )
        obj: Object | None = found
        for attempt in range(TRIES):
            if obj is None:
                return
            try:
                self._write(ref, obj)
            except NotFound:
                return
            except Conflict as conflict:
                if attempt == TRIES - 1:
                    raise self._refused(ref, conflict) from conflict
                obj = self._cluster.get(self._api_version, self._kind, ref.name, ref.namespace or None)
            except ClusterError as error:
                raise self._refused(ref, error) from error
            else:
                return

    def _write(self, ref: Ref, obj: Object) -> None:
        kept = self._kept(obj)
        meta: Object = {key: obj["metadata"].get(key) for key in ("uid", "resourceVersion")}
        if kept is not None:
            meta["managedFields"] = kept
        place = ref.namespace or None
        self._cluster.patch(self._api_version, self._kind, ref.name, place, {"metadata": meta})

    def _refused(self, ref: Ref, error: ClusterError) -> ClusterError:
        versions = ", ".join(sorted(self._gone))
        return ClusterError(
            f"{self._crd} can't do without {versions} yet, as {ref} can't be written in {self._api_version}:"
            f" {error}; repair that object, then run the playbook again"
        )
