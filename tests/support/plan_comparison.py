# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plan and its run on a real API server, compared field by field.

The plan's diff is compared with the live objects before and after the run, and with the writes in the API
server's audit log. Fields that only controllers own are left out, and those of a new object that the server
fills in: the object's ``managedFields`` show both.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    FIELD_MANAGER,
    Cluster,
    Object,
    manager_of,
    ref_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import KindNotServed
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.quantity import (
    BadQuantity,
    parse_quantity,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.apply.diff import manifest_of
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.ownership.policy import LAST_APPLIED

from tests.support.audit import AuditLog, Request

DEFINITION = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
KINDS = (
    ("v1", "Namespace"),
    ("v1", "ConfigMap"),
    ("v1", "Secret"),
    ("v1", "Service"),
    ("v1", "ServiceAccount"),
    ("v1", "PersistentVolumeClaim"),
    ("apps/v1", "Deployment"),
    ("apps/v1", "StatefulSet"),
    ("batch/v1", "Job"),
    ("storage.k8s.io/v1", "StorageClass"),
    ("rbac.authorization.k8s.io/v1", "ClusterRole"),
    DEFINITION,
    ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"),
)
OURS = ("lifecycle.kyma-project.io", "/kyma-lifecycle", "/leases", "reviews")
"""Parts of the addresses of our own records, and of requests that store nothing."""
OF_JOURNAL = re.compile(r"secrets \S+/\d{8}-\d{6}-")
"""The journal of a run keeps what was in a Secret in one of its own."""
HIDDEN, HIDDEN_CHANGED = "*** (hidden)", "*** (hidden, changed)"
NO_VALUE = object()
OF_THE_SERVER = {".apiVersion", ".metadata.annotations.deployment.kubernetes.io/revision"}
"""The version in which an object is read, and what its controller counts."""

Leaves = Mapping[str, Any]
"""The values of an object by their paths."""
Pair = tuple[Object | None, Object | None]


@dataclass
class Observed:
    """What a run did.

    Attributes:
        before, after: the live objects, by the header of a diff.
        requests: that were to store something, without those for our own records.
        reads: the addresses of what it has read, without queries.
    """

    before: dict[str, Object]
    after: dict[str, Object] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)

    @property
    def written(self) -> set[str]:
        """The objects that we have written, each as ``group resource namespace/name``."""
        return {target_of(one) for one in self.requests if one.status < 300 and _is_ours(one)}


@contextmanager
def observed_run(cluster: Cluster, audit: AuditLog, kinds: Iterable[tuple[str, str]]) -> Iterator[Observed]:
    """What happens to all objects of some kinds within the block."""
    kinds = {*KINDS, *kinds, *_defined_kinds(cluster)}
    observed = Observed(_read(cluster, kinds))
    with audit.recorded() as requests:
        yield observed
    observed.reads += [one.uri.partition("?")[0] for one in requests if one.verb in ("get", "list")]
    observed.requests += [one for one in requests if one.persists and not _is_of_records(one)]
    observed.after = _read(cluster, kinds)


def _is_ours(request: Request) -> bool:
    """Whether one of our field managers wrote; a deletion names none."""
    return request.verb == "delete" or f"fieldManager={FIELD_MANAGER}" in request.uri


def _is_of_records(request: Request) -> bool:
    return any(map(request.uri.count, OURS)) or bool(OF_JOURNAL.match(request.target))


def target_of(request: Request) -> str:
    """The target of a request, with its API group."""
    parts = request.uri.partition("?")[0].split("/")
    resource, _space, name = request.target.partition(" ")
    # The audit log has a namespace in itself.
    name = name.rpartition("/")[2] if resource == "namespaces" else name
    return f"{parts[2] if parts[1] == 'apis' else ''} {resource} {name}"


def order_disagreements(
    plans: Iterable[Mapping[str, Any]], rehearsed: Iterable[Request], observed: Observed
) -> list[str]:
    """The removed objects that a plan deletes before other writes than its run does.

    Deletions of migrations are left out: those of one wave have no order.

    Args:
        plans: of the components or modules.
        rehearsed: the requests of the plan.
        observed: what the run did.
    """
    removed = {
        "/".join(filter(None, (change["namespace"], change["name"])))
        for plan in plans
        for change in plan["changes"]
        if change["action"] == "delete"
    }
    dry_runs = (one for one in rehearsed if "dryRun=All" in one.uri)
    planned, done = map(_places, (dry_runs, observed.requests))
    common = planned.keys() & done.keys()
    lines = []
    for key in sorted(common):
        is_recreated = ("write", key[1]) in done
        if key[0] != "delete" or key[1].rpartition(" ")[2] not in removed or is_recreated:
            continue
        orders = [{one for one in common if places[one] < places[key]} for places in (planned, done)]
        if others := sorted({target for verb, target in orders[0] ^ orders[1] if verb == "write"}):
            lines.append(f"{key[1]} is deleted in another order than planned, compared with {others}")
    return lines


def _places(requests: Iterable[Request]) -> dict[tuple[str, str], int]:
    """The position of the last deletion and of the last other write of each object."""
    own = (one for one in requests if one.status < 300 and _is_ours(one))
    return {
        ("delete" if one.verb == "delete" else "write", target_of(one)): place
        for place, one in enumerate(own)
    }


def kinds_of(objects: Iterable[Object]) -> set[tuple[str, str]]:
    """The kinds of some objects."""
    return {(obj["apiVersion"], obj["kind"]) for obj in objects}


def _defined_kinds(cluster: Cluster) -> set[tuple[str, str]]:
    """The kinds that the cluster's definitions bring, without those of our records."""
    definitions = [obj["spec"] for obj in cluster.list(*DEFINITION).items]
    return {
        (f"{spec['group']}/{version['name']}", spec["names"]["kind"])
        for spec in definitions
        if not spec["group"].startswith("lifecycle.")
        for version in spec["versions"]
        if version["storage"]
    }


def _read(cluster: Cluster, kinds: Iterable[tuple[str, str]]) -> dict[str, Object]:
    objects: dict[str, Object] = {}
    for api_version, kind in sorted(kinds):
        # A definition may have lost the version.
        with suppress(KindNotServed):
            objects |= {str(ref_of(obj)): obj for obj in cluster.list(api_version, kind).items}
    return objects


def shown_states(diff: Sequence[Mapping[str, str]]) -> dict[str, list[Object | None]]:
    """The states of each object that a diff shows, from the present one to the last."""
    states: dict[str, list[Object | None]] = {}
    for one in diff:
        header = one["before_header"].partition(" (absent)")[0].partition(" (2")[0].partition(" (1")[0]
        old, new = (
            yaml.load(one[key], yaml.CSafeLoader) if one[key] else None for key in ("before", "after")
        )
        states.setdefault(header, [old]).append(new)
    return {header: some for header, some in states.items() if some[0] != some[-1]}


def object_disagreements(
    diff: Sequence[Mapping[str, str]], observed: Observed, cluster: Cluster, *, is_complete: bool = True
) -> list[str]:
    """The disagreements of a plan's diff with what the run did to objects, each a line.

    Args:
        diff: of the plan.
        observed: what the run did.
        cluster: where it did it.
        is_complete: whether the run has succeeded; else it may have done a part.
    """
    states = shown_states(diff)
    lines: list[str] = []
    for header in sorted({*states, *observed.before, *observed.after}):
        live = observed.before.get(header), observed.after.get(header)
        is_written = _target(header, live, cluster) in observed.written
        if header not in states:
            if is_written and (fields := sorted(_changes(live))):
                lines.append(f"{header}: not planned, and the run changes {fields}")
            continue
        some = states[header]
        lines += _field_lines(f"{header} before", some[0], live[0], None)
        if not is_complete and not is_written:
            continue
        if not is_written and not (live[1] is None and some[-1] is None):
            lines.append(f"{header}: planned, and the run does not write it")
        ends = some[1:] if not is_complete else some[-1:]
        options = [_field_lines(header, end, live[1], live[0]) for end in ends]
        lines += sorted(options, key=len)[0]
    return lines


def _target(header: str, live: Pair, cluster: Cluster) -> str:
    obj = live[1] or live[0]
    if obj is None:
        return header
    ref = ref_of(obj)
    resource = cluster.resource(obj["apiVersion"], ref.kind)
    plural = resource.plural if resource else f"{ref.kind.lower()}s"
    return f"{ref.group} {plural} {'/'.join(filter(None, (ref.namespace, ref.name)))}"


def _field_lines(
    header: str, planned: Object | None, actual: Object | None, before: Object | None
) -> list[str]:
    """The fields of an object that differ from those shown.

    Args:
        header: of the object in a diff.
        planned, actual: the object.
        before: its live state before the run, if this is the one after it.
    """
    if planned is None or actual is None:
        return [] if planned is actual else [f"{header}: planned {_state(planned)}, and is {_state(actual)}"]
    planned_values, live_values = leaves(planned), leaves(_masked(before, actual))
    paths = [
        path
        for path in {*planned_values, *live_values}
        if planned_values.get(path, NO_VALUE) != live_values.get(path, NO_VALUE)
    ]
    if not paths:
        return []
    own, others = _owned(actual, is_own=True), _owned(actual, is_own=False)
    # A new object is shown as in the release; the server completes and normalizes it.
    is_new = before is None or before["metadata"]["uid"] != actual["metadata"]["uid"]
    return [
        f"{header}: {path} is planned as {planned_values.get(path, 'absent')!r:.80},"
        f" and is {live_values.get(path, 'absent')!r:.80}"
        for path in sorted(paths)
        if path not in OF_THE_SERVER
        and not (path not in planned_values and path not in own and (is_new or path in others))
        and not (is_new and _mean_the_same(planned_values.get(path), live_values.get(path)))
    ]


def _mean_the_same(planned: Any, actual: Any) -> bool:
    if not planned and not actual:
        return True
    try:
        return parse_quantity(planned) == parse_quantity(actual)
    except BadQuantity:
        return False


def _state(obj: Object | None) -> str:
    return "there" if obj else "absent"


def _changes(live: Pair) -> Iterable[str]:
    """The fields of an object that have changed, without those that only controllers own."""
    before, after = live
    if before is None or after is None:
        return [] if before is after else ["everything"]
    old, new, others = (
        leaves(_masked(None, before)),
        leaves(_masked(None, after)),
        _owned(after, is_own=False),
    )
    paths = {path for path in {*old, *new} if old.get(path, NO_VALUE) != new.get(path, NO_VALUE)}
    return paths - (others - _owned(after, is_own=True)) - OF_THE_SERVER


def _masked(before: Object | None, obj: Object) -> Object:
    """The manifest of an object; of a Secret without its values, as in a diff."""
    plain = manifest_of(obj)
    if obj["kind"] != "Secret":
        return plain
    old = (before or {}).get("data") or {}
    data = {
        key: HIDDEN if old.get(key, value) == value else HIDDEN_CHANGED
        for key, value in (plain.get("data") or {}).items()
    }
    return {**plain, **({"data": data} if data else {})}


def leaves(value: Any, path: str = "") -> dict[str, Any]:
    """The values of an object by their paths; an empty or plain list counts as a value."""
    if isinstance(value, Mapping) and value:
        return {p: one for key, child in value.items() for p, one in leaves(child, f"{path}.{key}").items()}
    if isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
        pairs = enumerate(value)
        return {p: one for index, child in pairs for p, one in leaves(child, f"{path}[{index}]").items()}
    return {} if value is None else {path: value}


def _owned(obj: Object, *, is_own: bool) -> set[str]:
    """The paths of the fields that our field managers own, or that others own.

    What server-side apply can't read is created as a whole: we then also own what the server fills in.
    """
    if is_own and LAST_APPLIED in (obj["metadata"].get("annotations") or {}):
        return set()
    entries = obj["metadata"].get("managedFields") or ()
    mine = [one for one in entries if str(one.get("manager")).startswith(FIELD_MANAGER) == is_own]
    return {path for one in mine for path in _paths(one.get("fieldsV1") or {}, obj, "", is_own=is_own)}


def _paths(fields: Mapping[str, Any], value: Any, path: str, *, is_own: bool) -> Iterator[str]:
    if not any(key != "." for key in fields):
        # The server completes the items of a list that has one owner.
        yield path
        yield from () if is_own else leaves(value, path)
    for key, below in fields.items():
        kind, _colon, name = key.partition(":")
        if kind == "f" and isinstance(value, Mapping) and name in value:
            yield from _paths(below, value[name], f"{path}.{name}", is_own=is_own)
        elif kind == "k" and isinstance(value, list):
            keys = yaml.safe_load(name).items()
            for index, item in enumerate(value):
                if isinstance(item, Mapping) and keys <= item.items():
                    yield from _paths(below, item, f"{path}[{index}]", is_own=is_own)
        elif kind == "v":
            yield path


def migration_disagreements(
    plan: Mapping[str, Any],
    ran: Mapping[str, Mapping[str, Any]],
    observed: Observed,
    *,
    is_complete: bool = True,
) -> list[str]:
    """The disagreements of a plan's verdicts and predicted writes with the migrations of its run.

    Args:
        plan: the plan.
        ran: the results of the migrations, by id.
        observed: what the run did.
        is_complete: whether the run has succeeded; else some may not have run.
    """
    lines: list[str] = []
    for one in plan["migrations"]:
        if one["id"] not in ran:
            # A run does not check the migrations of components that it leaves alone.
            if is_complete and one["verdict"] != "not_needed":
                lines.append(f"{one['id']}: planned as {one['verdict']}, and is not checked")
            continue
        did = ran[one["id"]]
        expected = {"needed": "done", "not_needed": "not needed"}.get(one["verdict"], "")
        # A neighbour may do it first; and after a failure the last phase is skipped.
        is_open = bool(one["depends_on"]) or (did["state"] == "skipped" and not is_complete)
        if expected and str(did["state"]).replace("_", " ") != expected and not is_open:
            lines.append(f"{one['id']}: planned as {one['verdict']}, and is {did['state']}")
        manager = manager_of(one["id"]).replace("/", "%2F")
        own = [r for r in observed.requests if manager in r.uri and r.status < 300]
        written = {target_of(r).rpartition(" ")[2] for r in own}
        planned = {
            "/".join(filter(None, (write["namespace"], write["name"])))
            for write in one["writes"]
            if write["action"] != "delete"
        }
        if did["state"] == "done" and not planned <= written:
            lines.append(f"{one['id']}: planned to write {sorted(planned)}, and writes {sorted(written)}")
    return lines


def count_disagreements(plan: Mapping[str, Any], components: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The disagreements of the number of planned changes with the counts of the run.

    They count for all components: an object that two have had is deleted by either.
    """
    lines = []
    changes = [change["action"] for one in plan["components"] for change in one["changes"]]
    for action, key in (("create", "created"), ("replace", "replaced"), ("delete", "deleted")):
        planned, ran = changes.count(action), sum(one.get(key, 0) for one in components.values())
        if planned != ran:
            lines.append(f"{planned} planned to {action}, and {ran} are {key}")
    return lines


def kinds_in(diff: Sequence[Mapping[str, str]]) -> Collection[tuple[str, str]]:
    """The kinds of the objects in a diff."""
    return kinds_of(state for states in shown_states(diff).values() for state in states if state)
