# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Proofs that a migration respects edits and objects of others in the cluster."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    Cluster,
    Object,
    Ref,
    ref_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.deep_copy import deep_copy
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.served_versions import (
    readable_version,
)

from .api_server import namespaced_kinds
from .attempt_record import attempt_migration
from .case import Case
from .state import api_versions_of, read_state, replaced

Problems = Iterator[str]

SOMEBODY = "somebody-else"
EDIT = "edited-by-somebody-else"
SHORTEST_MOVED_VALUE = 4
"""Minimum length of a value to search elsewhere. A shorter one may be there by chance."""
ELSEWHERE = "bystanders"


@dataclass(frozen=True)
class Edit:
    """An edit of an object by another client.

    Attributes:
        ref, api_version: the object.
        field: ``data`` or ``annotations``.
        key: the key in that field.
        value: the value that it replaces, as plain text; None if the key is new.
    """

    ref: Ref
    api_version: str
    field: str
    key: str
    value: str | None

    def __str__(self) -> str:
        path = f"{'metadata.' if self.field == 'annotations' else ''}{self.field}.{self.key}"
        return f"{'adds' if self.value is None else 'changes'} {path} of {self.ref}"

    def make(self, cluster: Cluster) -> bool:
        """Write it. Returns whether the object existed with the value, so that it was written."""
        ref = self.ref
        at = readable_version(cluster, self.api_version, ref.kind)
        obj = cluster.get(at, ref.kind, ref.name, ref.namespace or None)
        if obj is None or _plain(obj, self.field).get(self.key) != self.value:
            return False
        text = base64.b64encode(EDIT.encode()).decode() if self._is_encoded else EDIT
        patch: Object = {self.field: {self.key: text}}
        patch = {"metadata": patch} if self.field == "annotations" else patch
        somebody = cluster.with_field_manager(SOMEBODY)
        somebody.patch(at, ref.kind, ref.name, ref.namespace or None, patch)
        return True

    @property
    def _is_encoded(self) -> bool:
        return self.ref.kind == "Secret" and self.field == "data"


def loses_no_update(case: Case) -> Problems:
    """An edit by another client between two of its calls is not lost. The migration may fail by it."""
    undisturbed, _state = case.undisturbed
    if case.server.waits or undisturbed.error:
        return
    for edit in _edits(case):
        for number in range(2, len(undisturbed.recording.calls) + 1):
            if call := _call_that_lost(case, edit, number):
                yield (
                    f"somebody else {edit} before {call}, and that is lost. Give metadata.resourceVersion of "
                    f"what was read with the write, or let a JSON patch test the old value: then the server "
                    f"refuses it, and the next run reads again"
                )
                return


def _call_that_lost(case: Case, edit: Edit, number: int) -> str:
    """The call before which the edit was made, if the edit is lost in the end; otherwise empty."""
    cluster = case.start()
    is_made: list[bool] = []
    attempt = case.attempt(cluster, before_call=(number, lambda: is_made.append(edit.make(cluster))))
    if attempt.error:
        case.attempt(cluster)
    if not any(is_made) or any(EDIT in text for text in _all_texts(case.state(cluster).values())):
        return ""
    return attempt.recording.describe_call(number)


def _edits(case: Case) -> Iterator[Edit]:
    """Edits that must exist in the end, perhaps elsewhere. Values that `after` lacks may be deleted."""
    after = {ref_of(obj): obj for obj in case.after}
    texts = list(_all_texts(case.after))
    for obj in case.before:
        ref, stays = ref_of(obj), after.get(ref_of(obj))
        for field in ("annotations", *(("data",) if ref.kind in ("ConfigMap", "Secret") else ())):
            place = f"metadata.{field}" if field == "annotations" else field
            if f"{place}" in case.ignored or f"{ref.kind}:{place}" in case.ignored:
                continue
            if stays is not None:
                yield Edit(ref, obj["apiVersion"], field, EDIT, None)
            for key, value in _plain(obj, field).items():
                is_kept = stays is not None and _plain(stays, field).get(key) == value
                is_moved = len(value) >= SHORTEST_MOVED_VALUE and value in texts
                if (is_kept or is_moved) and not {
                    f"{place}.{key}",
                    f"{ref.kind}:{place}.{key}",
                } & case.ignored:
                    yield Edit(ref, obj["apiVersion"], field, key, value)


def spares_bystanders(case: Case) -> Problems:
    """It does not delete or replace objects of its kinds that are in neither state."""
    undisturbed, _state = case.undisturbed
    if case.server.waits or undisturbed.error:
        return
    touched = {(call.api_version, call.kind) for call in undisturbed.recording.calls if call.kind}
    bystanders = list(_bystanders(case, touched))
    cluster = case.start(bystanders)
    versions = api_versions_of(bystanders)
    before = read_state(cluster, versions)
    attempt_migration(case.migration, cluster, case.around)
    for ref in replaced(before, read_state(cluster, versions)):
        yield (
            f"{ref} is gone, and neither `before` nor `after` names it: it may be anybody's. Let run delete "
            f"by name, or by a label that only its own objects have, and in its own namespace"
        )


def _bystanders(case: Case, touched: Iterable[tuple[str, str]]) -> Iterator[Object]:
    """One object of each kind in each namespace, and one in another namespace, without labels."""
    known = [*case.before, *case.after]
    namespaced = namespaced_kinds([*case.crds, *known])
    examples: dict[tuple[str, str], Object] = {
        (obj["apiVersion"], obj["kind"]): obj for obj in reversed(known)
    }
    places = {ref.namespace for ref in map(ref_of, known) if ref.namespace}
    yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": ELSEWHERE}}
    for kind in dict.fromkeys((*examples, *touched)):
        if kind not in namespaced or kind[1] in ("Namespace", "CustomResourceDefinition"):
            continue
        example = examples.get(kind, {"apiVersion": kind[0], "kind": kind[1], "metadata": {"name": "a"}})
        name = example["metadata"]["name"]
        if not namespaced[kind]:
            yield _like(example, {"name": f"{name}-{SOMEBODY}"})
            continue
        yield _like(example, {"name": name, "namespace": ELSEWHERE})
        yield from (
            _like(example, {"name": f"{name}-{SOMEBODY}", "namespace": one}) for one in sorted(places)
        )


def _like(example: Object, metadata: Mapping[str, str]) -> Object:
    content = {key: value for key, value in example.items() if key not in ("metadata", "status")}
    return {**deep_copy(content), "metadata": dict(metadata)}


def _plain(obj: Object, field: str) -> dict[str, str]:
    """The texts in one map of an object. Those in a Secret's data are decoded."""
    holder = obj["metadata"] if field == "annotations" else obj
    found = {key: value for key, value in (holder.get(field) or {}).items() if isinstance(value, str)}
    if obj["kind"] == "Secret" and field == "data":
        return {key: decoded(value) for key, value in found.items()}
    return found


def decoded(text: str) -> str:
    """The decoded base64, or the text itself if it is not base64."""
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, ValueError):
        return text


def _all_texts(objects: Iterable[Object | None]) -> Iterator[str]:
    for obj in objects:
        if obj is not None:
            yield from _plain(obj, "data").values()
            yield from texts_in(
                {key: value for key, value in obj.items() if key != "data" or obj["kind"] != "Secret"}
            )


def texts_in(value: Any) -> Iterator[str]:
    """All texts in a value, without keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (text for one in value.values() for text in texts_in(one))
    elif isinstance(value, list):
        yield from (text for one in value for text in texts_in(one))
