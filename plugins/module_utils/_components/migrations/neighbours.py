# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The effects that components of one wave have on each other: rehearsed in turn, and run side by side."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple, Self

from ..._cluster.cluster import Cluster, Object, Page, Ref, group_of, manager_of, ref_of
from ..._cluster.object_selectors import label_matcher
from ..._cluster.wrapper import Call, ClusterWrapper, T
from ..._objects.apply.change import ObjectChange
from ..._objects.apply.diff import changed_values
from ..component_plan import Blocker, MigrationPlan

Writes = Mapping[str, Sequence[ObjectChange]]
"""The changes by each component of a wave, in their order."""


class Read(NamedTuple):
    """A read of one object, or of a list.

    Attributes:
        ref: without a name for a list, and without a namespace for a list of all namespaces.
        labels: the label selector of a list.
    """

    ref: Ref
    labels: str

    def covers(self, change: ObjectChange) -> bool:
        """Whether its answer may depend on a change."""
        ref, obj = change.ref, change.after or change.before
        if self.ref.namespace not in ("", ref.namespace) or self.ref.name not in ("", ref.name):
            return False
        return obj is not None and label_matcher(self.labels)(obj)


class _WithStatus(dict[str, Any]):
    """An object whose status is not that of the run; calls ``note`` if it is read."""

    note: Callable[[], object]

    def __getitem__(self, key: str) -> Any:
        if key == "status":
            self.note()
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        try:
            return self[key]
        except KeyError:
            return default


class RecordedReads(ClusterWrapper):
    """Another cluster that records what each field manager reads.

    Args:
        inner: the other cluster, an overlay.
        is_written: whether the rehearsal has written an object, so that its status will change in the run.

    Attributes:
        reads: by field manager.
        unverified: an object whose status each field manager has read, although it will change.
    """

    def __init__(self, inner: Cluster, is_written: Callable[[Ref], bool]) -> None:
        super().__init__(inner)
        self.reads: defaultdict[str, set[Read]] = defaultdict(set)
        self.unverified: dict[str, Ref] = {}
        self._is_written = is_written
        self._manager = ""

    def with_field_manager(self, name: str) -> Self:
        other = super().with_field_manager(name)
        other._manager = name
        return other

    def get(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> Object | None:
        obj = super().get(api_version, kind, name, namespace)
        return self._observed(obj) if obj else None

    def list(self, api_version: str, kind: str, namespace: str | None = None, **how: Any) -> Page:
        page = super().list(api_version, kind, namespace, **how)
        return replace(page, items=[self._observed(item) for item in page.items])

    def _observed(self, obj: Object) -> Object:
        ref = ref_of(obj)
        if not self._is_written(ref):
            return obj
        observed = _WithStatus(obj)
        observed.note = partial(self.unverified.setdefault, self._manager, ref)
        return observed

    def _through(self, call: Call, ask: Callable[[], T]) -> T:
        if call.verb in ("get", "list"):
            ref = Ref(group_of(call.api_version), call.kind, call.namespace or "", call.name)
            self.reads[self._manager].add(Read(ref, dict(call.options).get("label_selector", "")))
        return ask()


def neighbours_of(
    verdicts: Sequence[MigrationPlan], reads: Mapping[str, Collection[Read]], written: Writes
) -> dict[str, dict[str, Ref]]:
    """The components on which each verdict of a wave depends, each with an object: pure.

    Where a check read what a neighbour wrote, the neighbour's checks of that object depend on it in return:
    either may be first in the run.

    Args:
        verdicts: of the migrations of the wave.
        reads: by field manager.
        written: by component.
    """
    by_kind: dict[tuple[str, str], list[tuple[MigrationPlan, Read]]] = defaultdict(list)
    for verdict in verdicts:
        for read in reads.get(manager_of(verdict.id), ()):
            by_kind[read.ref[:2]].append((verdict, read))
    neighbours: dict[str, dict[str, Ref]] = defaultdict(dict)
    for name, changes in written.items():
        for change in changes:
            readers = [one for one, read in by_kind.get(change.ref[:2], ()) if read.covers(change)]
            for reader in readers:
                if reader.component != name:
                    neighbours[reader.id].setdefault(name, change.ref)
                    for own in readers:
                        if own.component == name:
                            neighbours[own.id].setdefault(reader.component, change.ref)
    return neighbours


def unequal_writes(written: Writes) -> list[Blocker]:
    """A blocker for each object with a field that two components of a wave write differently: pure.

    In a rehearsal, the later one changes the field only if its value is another.
    """
    writers: dict[Ref, dict[str, list[ObjectChange]]] = defaultdict(lambda: defaultdict(list))
    for name, changes in written.items():
        for change in changes:
            writers[change.ref][name].append(change)
    shared = {ref: by_name for ref, by_name in writers.items() if len(by_name) > 1}
    return [
        Blocker(
            one,
            f"{ref}: {one} and {other} are deployed side by side and write different values to {field}:"
            " which one stays is left to chance. Have one of them need the other (needs), or correct their"
            " migrations",
        )
        for ref, by_name in shared.items()
        for (one, first), (other, second) in combinations(by_name.items(), 2)
        if (field := _unequal_field(_values_of(first), _values_of(second)))
    ]


def _unequal_field(some: Mapping[str, Any], others: Mapping[str, Any]) -> str:
    return next((field for field, value in some.items() if others.get(field, value) != value), "")


def _values_of(changes: Sequence[ObjectChange]) -> dict[str, Any]:
    """The written fields with their last values; a deletion writes none."""
    return {
        field: value
        for change in changes
        if change.after
        for path, _before, after in changed_values(
            change.before or {"metadata": {}}, change.after, status=change.status
        )
        for field, value in _leaves(path, after)
    }


def _leaves(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and value:
        for key, one in value.items():
            yield from _leaves(f"{path}.{key}", one)
    else:
        yield path, value
