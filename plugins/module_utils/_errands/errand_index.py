# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The errands of a cluster and the objects that they depend on, by errand.

Lists (once) or watches (all the time) fill it. Of ConfigMaps and Secrets, it has the metadata.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from .._cluster.cluster import API_VERSION, Object
from .._cluster.informer import InformerScope
from .._jobs.pod_references import pod_references
from .._jobs.versioned_secrets import SecretVersion, secret_version, split_versioned_name
from .errand_model import ERRAND_LABEL, KIND, Errand, ErrandKey, OutputFile, errand_from, key_of, label_value

ERRAND, JOB, POD, CONFIG_MAP, SECRET = (
    (API_VERSION, KIND),
    ("batch/v1", "Job"),
    ("v1", "Pod"),
    ("v1", "ConfigMap"),
    ("v1", "Secret"),
)
"""The kinds (apiVersion, kind) that errands depend on."""


_SCOPES = (
    InformerScope(*ERRAND),
    InformerScope(*JOB, label_selector=ERRAND_LABEL),
    InformerScope(*POD, label_selector=ERRAND_LABEL),
    InformerScope(*CONFIG_MAP, metadata_only=True),
    InformerScope(*SECRET, metadata_only=True),
)


def watched_scopes(namespaces: Sequence[str] = ()) -> list[InformerScope]:
    """The objects that errands depend on, in some namespaces, or in all if none is given."""
    return [scope._replace(namespace=one) for scope in _SCOPES for one in namespaces or ("",)]


class Mark(NamedTuple):
    """The identity and version of a ConfigMap or Secret, to detect a change.

    Attributes:
        uid, resource_version: of its metadata.
        version: which version it is, if it is a versioned Secret.
    """

    uid: str
    resource_version: str
    version: SecretVersion | None = None


_ReferenceKey = tuple[str, str, str]
"""kind, namespace, name; of a versioned Secret also the base of its name, with a slash at its end."""


class ErrandIndex:
    """The objects of a cluster, by errand. Usable from several threads."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._errands: dict[ErrandKey, Errand] = {}
        self._objects: dict[tuple[str, str], dict[tuple[str, str], Object]] = {JOB: {}, POD: {}}
        self._owned: dict[tuple[str, str, str], set[str]] = defaultdict(set)
        self._marks: dict[_ReferenceKey, Mark] = {}
        self._versions: dict[tuple[str, str], dict[str, SecretVersion]] = defaultdict(dict)
        self._references: dict[ErrandKey, frozenset[_ReferenceKey]] = {}
        self._dependents: dict[_ReferenceKey, set[ErrandKey]] = defaultdict(set)
        self._by_label: dict[tuple[str, str], ErrandKey] = {}
        self._quota_grown: dict[str, datetime] = {}

    def put(self, kind: tuple[str, str], obj: Object) -> set[ErrandKey]:
        """Add an object's current form, unless a newer one is known; return the errands that it concerns."""
        with self._lock:
            if kind == ERRAND:
                return self._put_errand(obj)
            if kind in (CONFIG_MAP, SECRET):
                return self._put_mark(kind, obj)
            return self._put_owned(kind, obj)

    def update_errand(self, obj: Object) -> None:
        """Add the answer to a write to an errand, unless its deletion was recorded before that."""
        with self._lock:
            old = self._errands.get(key_of(obj))
            if old and old.uid == obj["metadata"]["uid"]:
                self._put_errand(obj)

    def discard(self, kind: tuple[str, str], obj: Mapping[str, Any]) -> set[ErrandKey]:
        """Record that an object is gone; return the errands that it concerns."""
        meta = obj["metadata"]
        namespace, name = str(meta["namespace"]), str(meta["name"])
        with self._lock:
            if kind == ERRAND:
                key = key_of(obj)
                live = self._errands.get(key)
                if live and meta.get("uid") not in (None, live.uid):
                    # Of an earlier errand of this name.
                    return set()
                self._errands.pop(key, None)
                self._by_label.pop((namespace, label_value(name)), None)
                self._set_references(key, frozenset())
                return {key}
            if kind in (CONFIG_MAP, SECRET):
                reference_keys = self._reference_keys(kind, namespace, name)
                self._marks.pop(reference_keys[0], None)
                split = split_versioned_name(name)
                if kind == SECRET and split:
                    self._versions[namespace, split[0]].pop(name, None)
                return self._concerned(reference_keys)
            live_object = self._objects[kind].get((namespace, name))
            if live_object and meta.get("uid") not in (None, live_object["metadata"]["uid"]):
                return set()
            self._objects[kind].pop((namespace, name), None)
            label = _errand_label(live_object or obj)
            self._owned[kind[1], namespace, label].discard(name)
            return self._keys_of_label(namespace, label)

    def record_grown_quota(self, namespace: str, moment: datetime) -> list[ErrandKey]:
        """Record that a quota has more room; return the errands that may have waited for that."""
        with self._lock:
            self._quota_grown[namespace] = moment
            errands = self._errands.items()
            return [key for key, one in errands if key.namespace == namespace and one.status.open_run]

    def quota_grown(self, namespace: str) -> datetime | None:
        """When a quota of a namespace last got more room; None if that is unknown."""
        with self._lock:
            return self._quota_grown.get(namespace)

    def keys(self) -> list[ErrandKey]:
        """All errands, sorted."""
        with self._lock:
            return sorted(self._errands)

    def errands(self) -> list[Errand]:
        """All errands."""
        with self._lock:
            return list(self._errands.values())

    def errand(self, key: ErrandKey) -> Errand | None:
        """An errand."""
        with self._lock:
            return self._errands.get(key)

    def errands_in(self, namespace: str) -> list[Errand]:
        """The errands of a namespace, sorted by name."""
        with self._lock:
            return [one for key, one in sorted(self._errands.items()) if key.namespace == namespace]

    def owned(self, kind: tuple[str, str], key: ErrandKey) -> list[Object]:
        """The Jobs or pods that have the label of an errand, sorted by name, also if the errand is gone."""
        labelled = (kind[1], key.namespace, label_value(key.name))
        with self._lock:
            names = sorted(self._owned.get(labelled, ()))
            return [self._objects[kind][key.namespace, name] for name in names]

    def mark(self, kind: str, namespace: str, name: str) -> Mark | None:
        """The identity and version of a ConfigMap or Secret; None if there is none."""
        with self._lock:
            return self._marks.get((kind, namespace, name))

    def versions(self, namespace: str, base: str) -> list[SecretVersion]:
        """The versions of a versioned Secret."""
        with self._lock:
            return list(self._versions[namespace, base].values())

    def cycle(self, errand: Errand) -> tuple[str, ...]:
        """The circle of errands that would run one another for ever, from an errand on; usually empty."""
        with self._lock:
            return _cycle_through(errand, self._readers_of)

    def _readers_of(self, writer: Errand) -> list[Errand]:
        namespace = writer.key.namespace
        keys = {
            key
            for (kind, secret_namespace, name), dependents in self._dependents.items()
            if kind == SECRET[1]
            and secret_namespace == namespace
            and any(is_output_of(name, file) for file in writer.spec.output.files)
            for key in dependents
        }
        return [self._errands[key] for key in sorted(keys)]

    def _put_errand(self, obj: Object) -> set[ErrandKey]:
        errand = errand_from(obj)
        old = self._errands.get(errand.key)
        if old and old.uid == errand.uid and _is_older(errand.resource_version, old.resource_version):
            return set()
        self._errands[errand.key] = errand
        self._by_label[errand.key.namespace, label_value(errand.key.name)] = errand.key
        references = pod_references(errand.spec.pod_template)
        reference_keys: set[_ReferenceKey] = set()
        for one in references:
            reference_keys.add((one.kind, errand.key.namespace, one.name))
            split = split_versioned_name(one.name) if one.kind == SECRET[1] else None
            if split:
                reference_keys.add((one.kind, errand.key.namespace, f"{split[0]}/"))
        self._set_references(errand.key, frozenset(reference_keys))
        return {errand.key}

    def _set_references(self, key: ErrandKey, reference_keys: frozenset[_ReferenceKey]) -> None:
        before = self._references.pop(key, frozenset())
        for reference_key in before - reference_keys:
            self._dependents[reference_key].discard(key)
            if not self._dependents[reference_key]:
                del self._dependents[reference_key]
        for reference_key in reference_keys:
            self._dependents[reference_key].add(key)
        if reference_keys:
            self._references[key] = reference_keys

    def _put_mark(self, kind: tuple[str, str], obj: Object) -> set[ErrandKey]:
        meta = obj["metadata"]
        namespace, name = str(meta["namespace"]), str(meta["name"])
        version = secret_version(obj) if kind == SECRET else None
        reference_keys = self._reference_keys(kind, namespace, name)
        mark = Mark(str(meta.get("uid") or ""), str(meta.get("resourceVersion") or ""), version)
        old = self._marks.get(reference_keys[0])
        if old and old.uid == mark.uid and _is_older(mark.resource_version, old.resource_version):
            return set()
        self._marks[reference_keys[0]] = mark
        split = split_versioned_name(name)
        if version:
            self._versions[namespace, version.base][name] = version
        elif kind == SECRET and split:
            self._versions[namespace, split[0]].pop(name, None)
        return self._concerned(reference_keys)

    def _put_owned(self, kind: tuple[str, str], obj: Object) -> set[ErrandKey]:
        meta = obj["metadata"]
        object_key = (str(meta["namespace"]), str(meta["name"]))
        old = self._objects[kind].get(object_key)
        if old and old["metadata"]["uid"] == meta["uid"]:
            versions = (meta.get("resourceVersion"), old["metadata"].get("resourceVersion"))
            if _is_older(str(versions[0]), str(versions[1])):
                return set()
        self._objects[kind][object_key] = obj
        label, before = _errand_label(obj), _errand_label(old or obj)
        self._owned[kind[1], object_key[0], before].discard(object_key[1])
        self._owned[kind[1], object_key[0], label].add(object_key[1])
        return self._keys_of_label(object_key[0], label) | self._keys_of_label(object_key[0], before)

    def _keys_of_label(self, namespace: str, label: str) -> set[ErrandKey]:
        key = self._by_label.get((namespace, label))
        return {key} if key else set()

    def _concerned(self, reference_keys: Iterable[_ReferenceKey]) -> set[ErrandKey]:
        return {key for reference_key in reference_keys for key in self._dependents.get(reference_key, ())}

    def _reference_keys(self, kind: tuple[str, str], namespace: str, name: str) -> list[_ReferenceKey]:
        reference_keys = [(kind[1], namespace, name)]
        split = split_versioned_name(name) if kind == SECRET else None
        if split:
            reference_keys.append((kind[1], namespace, f"{split[0]}/"))
        return reference_keys


def _errand_label(obj: Mapping[str, Any]) -> str:
    return str((obj["metadata"].get("labels") or {}).get(ERRAND_LABEL) or "")


def _is_older(version: str, known: str) -> bool:
    """Whether a resourceVersion is older than another one (comparable since KEP-5504)."""
    return version.isdecimal() and known.isdecimal() and int(version) < int(known)


def _cycle_through(errand: Errand, readers_of: Callable[[Errand], Iterable[Errand]]) -> tuple[str, ...]:
    """The shortest circle of errands that read the output of one another, and so would run for ever.

    Args:
        errand: the first of the circle.
        readers_of: returns the errands that read the output of an errand.

    Returns:
        Names of errands: the output of each is read by the next, and that of the last by the first. All run
        again if their configuration changes. Empty if there is no such circle.
    """
    paths: list[tuple[Errand, ...]] = [(errand,)] if errand.spec.reruns_on_change else []
    seen: set[str] = set()
    while paths:
        longer_paths = []
        for path in paths:
            for reader in readers_of(path[-1]) if path[-1].spec.output.files else ():
                if reader.key == errand.key:
                    return tuple(one.key.name for one in path)
                if reader.spec.reruns_on_change and reader.key.name not in seen:
                    seen.add(reader.key.name)
                    longer_paths.append((*path, reader))
        paths = longer_paths
    return ()


def is_output_of(secret: str, file: OutputFile) -> bool:
    """Whether an output file becomes a Secret, or another version of it.

    Args:
        secret: the name of a Secret, as a template refers to it.
        file: of an errand of the same namespace.
    """
    if file.is_versioned:
        split = split_versioned_name(secret)
        secret = split[0] if split else ""
    return secret.startswith(f"{file.secret}-") if file.is_fan_out else secret == file.secret
