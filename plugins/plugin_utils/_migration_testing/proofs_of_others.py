# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Proofs that a migration respects edits and objects of others in the cluster."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from ...module_utils._cluster.cluster import Object, ref_of
from ...module_utils._cluster.kinds import built_in_kinds
from ...module_utils._deep_copy import deep_copy
from .api_server import namespaced_kinds
from .attempt_record import AttemptRecord, attempt_migration
from .case import Case
from .edits_of_others import OTHER_CLIENT, Edit, edits_of, is_marked, marked
from .memory_cluster import MemoryCluster
from .state import ClusterState, api_versions_of, read_state, replaced, state_differences

Problems = Iterator[str]

ELSEWHERE = "bystanders"
COMMON = built_in_kinds()
DATA = ("data", "binaryData", "stringData")
OTHER_DATA = {"other": "b3RoZXI="}
SHARED_LABELS = ("app.kubernetes.io/", "helm.sh/")
"""Prefixes of labels that objects of any owner carry. So they do if the key has no prefix."""
IDENTIFYING_LABELS = ("name", "instance", "component", "app", "k8s-app")


def loses_no_update(case: Case) -> Problems:
    """An edit by another client between two of its calls is not lost. The migration may fail by it.

    The result must be the same as if the edit had been made before the migration, or after it.
    """
    undisturbed, _state = case.undisturbed
    if case.server.waits or undisturbed.error:
        return
    numbers = list(_moments(undisturbed))
    for edit in edits_of(case.before, case.after):
        results = _Results(case, edit)
        if not edit.is_certain and not results.have_effect_elsewhere():
            continue
        for number in numbers:
            if whole := _call_that_lost(case, edit, number, results):
                parts = (
                    (one, _call_that_lost(case, one, number, _Results(case, one))) for one in edit.parts()
                )
                lost, call = next(((part, call) for part, call in parts if call), (edit, whole))
                yield (
                    f"another client {lost} before {call}, and that is lost. Give metadata.resourceVersion "
                    f"of what was read with the write, or let a JSON patch test the old value: then the "
                    f"server refuses it, and the next run reads again"
                )
                return


def _moments(attempt: AttemptRecord) -> Iterator[int]:
    """The calls of its run before which an edit matters: each write, and each read that repeats another."""
    calls, first = attempt.recording.calls, attempt.ran_after or 0
    last = max((number for number, call in enumerate(calls, 1) if call.writes), default=0)
    for number, call in enumerate(calls[first:last], first):
        if call.writes or call in calls[first:number]:
            yield number + 1


def _call_that_lost(case: Case, edit: Edit, number: int, results: _Results) -> str:
    """The call before which the edit was made, if the edit is lost in the end; otherwise empty."""
    cluster = case.start()
    applied: list[int] = []
    attempt = last = case.attempt(cluster, before_call=(number, lambda: applied.append(edit.apply(cluster))))
    if not any(applied):
        return ""
    if attempt.error or attempt.verdicts[-1].state != "not_needed":
        last = case.attempt(cluster)
    state = case.state(cluster)
    is_dropped = _must_remain(case, edit) and not is_marked(state.values())
    if results.have(state) and not is_dropped:
        return ""
    has_failed = last.error or last.verdicts[-1].state != "not_needed"
    if has_failed and (is_marked(state.values()) or not edit.has_mark):
        return ""
    return attempt.recording.describe_call(number)


def _must_remain(case: Case, edit: Edit) -> bool:
    """Whether others may add to the field at any time, because the object remains."""
    place = ".".join(map(str, edit.field))
    is_open = edit.adds and edit.field[0] in ("metadata", "data")
    is_ignored = not case.ignored.isdisjoint((place, f"{edit.ref.kind}:{place}"))
    return is_open and not is_ignored and edit.ref in map(ref_of, case.after)


class _Results:
    """The states if an edit is made before the migration, and after it if that is possible."""

    def __init__(self, case: Case, edit: Edit) -> None:
        self._case = case
        self._edit = edit

    def have(self, state: ClusterState) -> bool:
        """Whether a state is one of them."""
        return self._is(self._edited_before, state) or self._is(self._edited_after, state)

    def have_effect_elsewhere(self) -> bool:
        """Whether an edited value, which is not where it was, changes something else."""
        state = self._edited_before
        return not self._edit.is_in(state[self._edit.ref]) and not self._is(state, self._case.undisturbed[1])

    def _is(self, result: ClusterState | None, state: ClusterState) -> bool:
        return result is not None and not self._case.differences(state, result, "the result")

    @cached_property
    def _edited_before(self) -> ClusterState:
        cluster = self._case.start()
        self._edit.apply(cluster)
        if self._case.attempt(cluster).error:
            self._case.attempt(cluster)
        return self._case.state(cluster)

    @cached_property
    def _edited_after(self) -> ClusterState | None:
        cluster = self._case.start()
        self._case.attempt(cluster)
        return self._case.state(cluster) if self._edit.apply(cluster) else None


def deletes_by_uid(case: Case) -> Problems:
    """Each deletion has the uid of the object that it has read: others may have created another one since."""
    recording = case.undisturbed[0].recording
    for number, call in enumerate(recording.calls, 1):
        is_guarded = not dict(call.options).keys().isdisjoint(("uid", "resource_version"))
        if call.verb == "delete" and call.writes and not is_guarded:
            yield (
                f"{recording.describe_call(number)} has no uid, so it also deletes an object of this name"
                " that others have created since it was read. Pass uid=obj['metadata']['uid']"
            )
            return


def spares_bystanders(case: Case) -> Problems:
    """It does not delete, replace or change objects of its kinds that are in neither state.

    A migration may change all objects of a kind that the test defines, and those with the same content.
    """
    undisturbed, _state = case.undisturbed
    if case.server.waits or undisturbed.error:
        return
    touched = {(call.api_version, call.kind) for call in undisturbed.recording.calls if call.kind}
    for is_alike in (True, False):
        problems = list(_harm_to(case, list(_bystanders(case, touched, is_alike)), is_alike))
        yield from problems
        if problems:
            return


def _harm_to(case: Case, bystanders: Sequence[Object], is_alike: bool) -> Problems:
    cluster = case.start()
    if not isinstance(cluster, MemoryCluster):
        return
    cluster.seed(*deep_copy(bystanders), manager=OTHER_CLIENT)
    versions = api_versions_of(bystanders)
    before = read_state(cluster, versions)
    written = attempt_migration(case.migration, cluster, case.around).recording.written
    now = read_state(cluster, versions)
    why = "neither `before` nor `after` names it: it may be anybody's. Let run select objects by name, or by"
    for ref in (gone := replaced(before, now)):
        labels = (before[ref] or {})["metadata"].get("labels") or {}
        carries = "".join(f", which carries the label {key}={value}," for key, value in labels.items())
        yield f"{ref}{carries} is gone, and {why} a label that only they have, and in its own namespace"
    common = set() if is_alike else {ref for ref, at in versions.items() if (at, ref.kind) in COMMON}
    changed = {ref: now[ref] for ref in written if ref in common.difference(gone)}
    for problem in state_differences(changed, {ref: before[ref] for ref in changed}, name="its owner"):
        yield f"{problem}; {why} what only they have, and in its own namespace"


def _bystanders(case: Case, touched: set[tuple[str, str]], is_alike: bool) -> Iterable[Object]:
    """Objects like each known one in each namespace and in another one: without labels, with shared ones."""
    known = [*case.before, *case.after]
    namespaced = namespaced_kinds([*case.crds, *known])
    places = {ref.namespace for ref in map(ref_of, known) if ref.namespace}
    remain = [obj["metadata"].get("labels") or {} for obj in (*case.after, *case.stays)]
    others = {label for labels in remain for label in labels.items()}
    objects = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": ELSEWHERE}}]
    unknown = touched.difference((obj["apiVersion"], obj["kind"]) for obj in known)
    for obj in [
        *known,
        *({"apiVersion": at, "kind": kind, "metadata": {"name": "a"}} for at, kind in unknown),
    ]:
        kind = (obj["apiVersion"], obj["kind"])
        if kind not in namespaced or kind[1] in ("Namespace", "CustomResourceDefinition"):
            continue
        name = obj["metadata"]["name"]
        example = obj if is_alike else _with_other_content(obj)
        alike = [(example, shared := _shared_labels(obj, set()))]
        if is_alike and (known_labels := _shared_labels(obj, others)) != shared:
            # Only its status may tell an object that goes from one with the same labels that stays.
            alike.append(({**obj, "status": {}}, known_labels))
        in_place = [(example, {}), *((one, some) for one, labels in alike for some in _groups(labels))]
        if namespaced[kind]:
            for prefix, (one, labels) in zip(("", f"{OTHER_CLIENT}-"), alike, strict=False):
                objects.append(_like(one, {"name": f"{prefix}{name}", "namespace": ELSEWHERE}, labels))
        for place in sorted(places) if namespaced[kind] else [""]:
            where = {"namespace": place} if place else {}
            for number, (one, some) in enumerate(in_place):
                objects.append(_like(one, {"name": f"{OTHER_CLIENT}-{number}-{name}", **where}, some))
            # One that comes first in each list, and one with the first segment of the name.
            segment = re.split(r"[-.:]", name, maxsplit=1)[0]
            for other in (f"0-{OTHER_CLIENT}-{name}", f"{segment}-{OTHER_CLIENT}"):
                objects.append(_like(example, {"name": other, **where}))
    # What `before` has of an object comes first.
    return {ref_of(one): one for one in reversed(objects)}.values()


def _with_other_content(obj: Object) -> Object:
    """An object of the same form with other texts. The keys of data are other ones, too."""
    other = {key: OTHER_DATA if key in DATA else marked(value) for key, value in obj.items()}
    return {**other, **{key: obj[key] for key in ("apiVersion", "kind", "metadata")}}


def _shared_labels(obj: Object, others: set[tuple[str, str]]) -> dict[str, str]:
    labels = (obj["metadata"].get("labels") or {}).items()
    return {
        key: value
        for key, value in labels
        if "/" not in key or key.startswith(SHARED_LABELS) or (key, value) in others
    }


def _groups(labels: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Labels that one object of others may carry: all but those that identify, and each of these alone."""
    names = {key for key in labels if key.rpartition("/")[2] in IDENTIFYING_LABELS}
    groups = [{key: value for key, value in labels.items() if key not in names}]
    yield from filter(None, [*groups, *({key: labels[key]} for key in labels if key in names)])


def _like(example: Object, metadata: Mapping[str, str], labels: Mapping[str, str] | None = None) -> Object:
    return {**example, "metadata": {**metadata, **({"labels": dict(labels)} if labels else {})}}
