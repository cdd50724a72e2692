# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects that can lock out every later run, as they let the API server refuse what each run requests: pure.

A run that can't write can't repair what locks it out either.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ..._cluster.admission.matching import (
    BINDING_KINDS,
    CONFIGURATION_KINDS,
    AdmissionRequest,
    fail_closed_webhooks,
    is_called,
    is_judged,
    without_bundle,
)
from ..._cluster.cluster import Object, Ref, ref_of
from ..._cluster.kinds import API_SERVICE_KIND
from ..._objects.apply.change import ObjectChange
from ..._runs.lease.lease import LIFECYCLE_NAMESPACE
from ..._text import extra_variable

ADMISSION, FLOW_CONTROL = "admissionregistration.k8s.io", "flowcontrol.apiserver.k8s.io"
FLOW_SCHEMA, PRIORITY_LEVEL = (FLOW_CONTROL, "FlowSchema"), (FLOW_CONTROL, "PriorityLevelConfiguration")
QUOTA = ("", "ResourceQuota")
AUTOMANAGED = "kube-aggregator.kubernetes.io/automanaged"
"""The label of the APIServices of groups that the API server serves itself."""
PARTNERS = {
    **{(ADMISSION, kind): (ADMISSION, kind.removesuffix("Binding")) for kind in BINDING_KINDS},
    **{(ADMISSION, kind.removesuffix("Binding")): (ADMISSION, kind) for kind in BINDING_KINDS},
    PRIORITY_LEVEL: FLOW_SCHEMA,
}
"""For some kinds, the kind of objects without which they have no effect."""

_FULL = "While the priority level lets nothing through"

State: TypeAlias = Mapping[Ref, Object]


@dataclass(frozen=True)
class RunNeeds:
    """What the API server must let every run do.

    Attributes:
        requests: see :func:`~.run_requests.requests_of_runs`.
        namespace_labels: of the namespace of the Leases.
        user, groups: of the account that runs; an empty user may be any.
        server_groups: the API groups that the API server serves itself.
    """

    requests: Sequence[AdmissionRequest]
    namespace_labels: Mapping[str, str]
    user: str = ""
    groups: Collection[str] = ()
    server_groups: Collection[str] = ()


@dataclass(frozen=True)
class Lockout:
    """An object that can lock out every later run.

    Attributes:
        ref: the object.
        name: that the user allows: of a webhook, otherwise of the object.
        effect: what it does to the requests of runs, as the end of a sentence.
        danger: when that locks out, as the start of a sentence.
        remedy: how its author avoids that, in the same way.
        parts: the objects that have this effect together.
        requests: those of a run that it concerns, if it concerns only some.
    """

    ref: Ref
    name: str
    effect: str
    danger: str
    remedy: str
    parts: tuple[Ref, ...]
    requests: tuple[AdmissionRequest, ...] = field(default=(), compare=False)

    @property
    def deletion(self) -> str:
        """The command that ends it, which no webhook or policy can prevent."""
        return f"kubectl delete {self.ref.kind.lower()} {self.ref.name}"


def lockouts(state: State, needs: RunNeeds) -> list[Lockout]:
    """All lockouts in a state of the cluster."""
    results: list[Lockout] = []
    for obj in state.values():
        try:
            results += _FINDERS.get(ref_of(obj)[:2], _none)(obj, state, needs)
        except (AttributeError, KeyError, TypeError, ValueError):
            # The API server refuses an object of another form.
            continue
    return results


def new_lockouts(
    changes: Sequence[ObjectChange], live: State, needs: RunNeeds, allowed: Collection[str]
) -> list[Lockout]:
    """The lockouts that changes add or change, without those that the user allows by name.

    Args:
        changes: of the release.
        live: objects of the cluster whose kinds are partners of these, see :data:`PARTNERS`.
        needs: of runs.
        allowed: names.
    """
    before: dict[Ref, Object | None] = {}
    after = dict(live)
    for change in changes:
        before.setdefault(change.ref, change.before)
        after.pop(change.ref, None)
        if change.after is not None:
            after[change.ref] = change.after
    return [
        one
        for one in lockouts(after, needs)
        if one.name not in allowed
        and any(
            ref in before and _decisive(before[ref], one.name) != _decisive(after[ref], one.name)
            for ref in one.parts
        )
    ]


def assumed_partner(obj: Object) -> Object:
    """The partner of an object if partners can't be read: the worst that there may be."""
    ref = ref_of(obj)
    group, kind = PARTNERS[ref[:2]]
    spec: Object = {"matchConstraints": {}}
    name = ref.name
    if kind in BINDING_KINDS:
        spec = {"policyName": name, "validationActions": ["Deny"]}
    elif (group, kind) == FLOW_SCHEMA:
        rules = [{"subjects": [{"kind": "User", "user": {"name": "*"}}]}]
        spec = {"priorityLevelConfiguration": {"name": name}, "rules": rules}
    else:
        name = obj["spec"]["policyName"]
    return {"apiVersion": f"{group}/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}


def new_lockout_problem(lockout: Lockout, names: Sequence[str], option: str) -> str:
    """Why a release must not bring a lockout, and the value of an option that allows all of these names."""
    return (
        f"{lockout.ref}: {lockout.effect}. {lockout.danger}, no run can write to the cluster, not even to"
        f" repair it. {lockout.remedy}, or allow it by name:\n    {extra_variable(option, names)}"
    )


def silent_webhook_problem(lockout: Lockout) -> str:
    """Why an existing webhook blocks each run, and what to do."""
    return (
        f"{lockout.ref}: {lockout.effect}. It does not answer, so this run could not write. Repair the server"
        f" behind it, or delete its configuration; then run the playbook again:\n    {lockout.deletion}"
    )


def existing_lockout_warning(lockout: Lockout) -> str:
    """The warning about an existing object that runs pass now, and that can lock them out later."""
    return (
        f"{lockout.ref}: {lockout.effect}. {lockout.danger}, no run can write until you delete it:"
        f" `{lockout.deletion}`"
    )


def _decisive(obj: Object | None, name: str) -> object:
    """The part of an object that decides about requests."""
    if obj is None or obj["kind"] in CONFIGURATION_KINDS:
        return fail_closed_webhooks(obj).get(name)
    return without_bundle(obj["spec"])


def _named(requests: Sequence[AdmissionRequest]) -> str:
    return " and ".join(dict.fromkeys(one.what for one in requests))


def _none(_obj: Object, _state: State, _needs: RunNeeds) -> Iterator[Lockout]:
    yield from ()


def _webhooks(configuration: Object, _state: State, needs: RunNeeds) -> Iterator[Lockout]:
    ref = ref_of(configuration)
    for name, webhook in fail_closed_webhooks(configuration).items():
        called = tuple(one for one in needs.requests if is_called(webhook, one, needs.namespace_labels))
        if called:
            effect = (
                f"its webhook {name} has the failurePolicy Fail, and the API server asks it about"
                f" {_named(called)}"
            )
            remedy = "Exclude these requests from its rules, set the failurePolicy Ignore"
            yield Lockout(ref, name, effect, "While it does not answer", remedy, (ref,), called)


def _policies(binding: Object, state: State, needs: RunNeeds) -> Iterator[Lockout]:
    bound = ref_of(binding)
    ref = Ref(ADMISSION, bound.kind.removesuffix("Binding"), "", binding["spec"]["policyName"])
    policy = state.get(ref)
    if policy is None:
        return
    judged = tuple(one for one in needs.requests if is_judged(policy, binding, one, needs.namespace_labels))
    if judged:
        effect = f"{bound} applies it to {_named(judged)}"
        remedy = "Exclude these requests from its resourceRules (matchConditions do not count)"
        yield Lockout(ref, ref.name, effect, "If it refuses or changes them", remedy, (ref, bound), judged)


def _quotas(quota: Object, _state: State, _needs: RunNeeds) -> Iterator[Lockout]:
    ref = ref_of(quota)
    if ref.namespace == LIFECYCLE_NAMESPACE:
        effect, danger = "it limits the namespace of the Leases of runs", "While it is used up"
        yield Lockout(ref, ref.name, effect, danger, "Put it into another namespace", (ref,))


def _flow_schemas(schema: Object, _state: State, needs: RunNeeds) -> Iterator[Lockout]:
    if _matches_runs(schema, needs):
        ref = ref_of(schema)
        effect = "it matches the account that runs"
        yield Lockout(ref, ref.name, effect, _FULL, "Give it other subjects", (ref,))


def _priority_levels(level: Object, state: State, needs: RunNeeds) -> Iterator[Lockout]:
    ref = ref_of(level)
    for schema in state.values():
        leads_here = ref_of(schema)[:2] == FLOW_SCHEMA and (
            schema["spec"]["priorityLevelConfiguration"]["name"] == ref.name
        )
        if leads_here and _matches_runs(schema, needs):
            effect = f"{ref_of(schema)}, which matches the account that runs, leads to it"
            yield Lockout(ref, ref.name, effect, _FULL, "Give it another name", (ref,))
            return


def _matches_runs(schema: Object, needs: RunNeeds) -> bool:
    subjects = [one for rule in schema["spec"].get("rules") or () for one in rule["subjects"]]
    return not needs.user or any(_is_runner(one, needs) for one in subjects)


def _is_runner(subject: Mapping[str, Any], needs: RunNeeds) -> bool:
    kind = subject["kind"]
    if kind == "ServiceAccount":
        # Those of fences are in the namespace of the Leases.
        account = subject["serviceAccount"]
        namespace, name = account["namespace"], account["name"]
        start, _colon, user = needs.user.rpartition(":")
        is_user = start == f"system:serviceaccount:{namespace}" and name in ("*", user)
        return is_user or namespace == LIFECYCLE_NAMESPACE
    fences = ("system:serviceaccounts", f"system:serviceaccounts:{LIFECYCLE_NAMESPACE}")
    names = (needs.user,) if kind == "User" else (*needs.groups, "system:authenticated", *fences)
    subject_name: str = subject[kind.lower()]["name"]
    is_fence = kind == "User" and subject_name.startswith(f"system:serviceaccount:{LIFECYCLE_NAMESPACE}:")
    return subject_name in ("*", *names) or is_fence


def _api_services(service: Object, _state: State, needs: RunNeeds) -> Iterator[Lockout]:
    ref, group = ref_of(service), service["spec"].get("group") or ""
    if group in needs.server_groups and service["spec"].get("service"):
        effect = f"it leads requests for {group}, which the API server serves itself, to another server"
        danger = "While that server does not answer"
        yield Lockout(ref, ref.name, effect, danger, "Serve another group", (ref,))


_FINDERS: Mapping[tuple[str, str], Callable[[Object, State, RunNeeds], Iterator[Lockout]]] = {
    **{(ADMISSION, kind): _webhooks for kind in CONFIGURATION_KINDS},
    **{(ADMISSION, kind): _policies for kind in BINDING_KINDS},
    QUOTA: _quotas,
    FLOW_SCHEMA: _flow_schemas,
    PRIORITY_LEVEL: _priority_levels,
    API_SERVICE_KIND: _api_services,
}
LOCKING_KINDS = frozenset({*_FINDERS, *PARTNERS})
