# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects that can lock out every later run, as they let the API server refuse what each run requests: pure.

A run that can't write can't repair what locks it out either.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..._cluster.admission.denials import deletion_command
from ..._cluster.admission.matching import (
    BINDING_KINDS,
    CONFIGURATION_KINDS,
    AdmissionRequest,
    fail_closed_webhooks,
    is_called,
    is_judged,
)
from ..._cluster.cluster import Object, Ref, ref_of
from ..._cluster.kinds import API_SERVICE_KIND
from ..._objects.apply.change import ObjectChange
from ..._runs.lease.lease import LIFECYCLE_NAMESPACE
from ..._text import extra_variable
from .run_requests import webhook_effect

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

State: TypeAlias = Mapping[Ref, Object]


@dataclass(frozen=True)
class RunNeeds:
    """What the API server must let every run do.

    Attributes:
        requests: see :func:`~.run_requests.requests_of_runs`.
        user, groups: of the account that runs; an empty user may be any.
        server_groups: the API groups that the API server serves itself.
    """

    requests: Sequence[AdmissionRequest]
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
        cause: what they say about it.
    """

    ref: Ref
    name: str
    effect: str
    danger: str
    remedy: str
    parts: tuple[Ref, ...]
    cause: Object


def lockouts(state: State, needs: RunNeeds) -> list[Lockout]:
    """All lockouts in a state of the cluster."""
    results: list[Lockout] = []
    for obj in state.values():
        try:
            results += _lockouts_of(obj, state, needs)
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
    before = {**live, **{one.ref: one.before for one in reversed(changes)}}
    after = {**before, **{one.ref: one.after for one in changes}}
    old, new = (lockouts({ref: one for ref, one in state.items() if one}, needs) for state in (before, after))
    return [one for one in new if one not in old and one.name not in allowed]


def assumed_partner(obj: Object) -> Object:
    """The partner of an object if partners can't be read: the worst that there may be."""
    ref = ref_of(obj)
    group, kind = PARTNERS[ref[:2]]
    name = obj["spec"]["policyName"] if ref.kind in BINDING_KINDS else ref.name
    # A policy applies to everything, a binding denies, and a FlowSchema matches every user.
    spec = {
        "policyName": name,
        "validationActions": ["Deny"],
        "priorityLevelConfiguration": {"name": name},
        "rules": [{"subjects": [{"kind": "User", "user": {"name": "*"}}]}],
    }
    return {"apiVersion": f"{group}/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}


def new_lockout_problem(lockout: Lockout, names: Sequence[str], option: str) -> str:
    """Why a release must not bring a lockout, and the value of an option that allows all of these names."""
    return (
        f"{lockout.ref}: {lockout.effect}. {lockout.danger}, no run can write to the cluster, not even to"
        f" repair it. {lockout.remedy}, or allow it by name:\n    {extra_variable(option, names)}"
    )


def existing_lockout_warning(lockout: Lockout) -> str:
    """The warning about an existing object that runs pass now, and that can lock them out later."""
    return (
        f"{lockout.ref}: {lockout.effect}. {lockout.danger}, no run can write until you delete it:"
        f" `{deletion_command(lockout.ref)}`"
    )


def _lockouts_of(obj: Object, state: State, needs: RunNeeds) -> Iterator[Lockout]:
    ref = ref_of(obj)
    if ref.group == ADMISSION and ref.kind in CONFIGURATION_KINDS:
        for name, webhook in fail_closed_webhooks(obj).items():
            if called := [one.what for one in needs.requests if is_called(webhook, one)]:
                effect = webhook_effect(name, called)
                remedy = "Exclude these requests from its rules, set the failurePolicy Ignore"
                cause = {**webhook, "clientConfig": _without_bundle(webhook.get("clientConfig") or {})}
                yield Lockout(ref, name, effect, "While it does not answer", remedy, (ref,), cause)
    elif ref.group == ADMISSION and ref.kind in BINDING_KINDS:
        policy_ref = Ref(ADMISSION, ref.kind.removesuffix("Binding"), "", obj["spec"]["policyName"])
        policy = state.get(policy_ref)
        judged = dict.fromkeys(one.what for one in needs.requests if policy and is_judged(policy, obj, one))
        if policy and judged:
            effect, danger = f"{ref} applies it to {' and '.join(judged)}", "If it refuses or changes them"
            remedy = "Exclude these requests from its resourceRules (matchConditions do not count)"
            cause = {"policy": policy["spec"], "binding": obj["spec"]}
            yield Lockout(policy_ref, policy_ref.name, effect, danger, remedy, (policy_ref, ref), cause)
    elif ref[:2] in _EFFECTS:
        effect_of, danger, remedy = _EFFECTS[ref[:2]]
        if effect := effect_of(obj, state, needs):
            yield Lockout(ref, ref.name, effect, danger, remedy, (ref,), _without_bundle(obj["spec"]))


def _without_bundle(config: Mapping[str, Any]) -> Object:
    """How the API server calls another server, without the CA certificates, which controllers write."""
    return {key: value for key, value in config.items() if key != "caBundle"}


def _quota(quota: Object, _state: State, _needs: RunNeeds) -> str:
    is_ours = ref_of(quota).namespace == LIFECYCLE_NAMESPACE
    return "it limits the namespace of the Leases of runs" if is_ours else ""


def _flow_schema(schema: Object, _state: State, needs: RunNeeds) -> str:
    return "it matches the account that runs" if _matches_runs(schema, needs) else ""


def _priority_level(level: Object, state: State, needs: RunNeeds) -> str:
    for schema in state.values():
        leads_here = ref_of(schema)[:2] == FLOW_SCHEMA and (
            schema["spec"]["priorityLevelConfiguration"]["name"] == ref_of(level).name
        )
        if leads_here and _matches_runs(schema, needs):
            return f"{ref_of(schema)}, which matches the account that runs, leads to it"
    return ""


def _matches_runs(schema: Object, needs: RunNeeds) -> bool:
    accounts = f"system:serviceaccounts:{LIFECYCLE_NAMESPACE}"
    groups = {*needs.groups, "system:authenticated", "system:serviceaccounts", accounts, "*"}
    names = {f"User {needs.user}", "User *", *(f"Group {one}" for one in groups)}
    subjects = [_subject(one) for rule in schema["spec"].get("rules") or () for one in rule["subjects"]]
    # Fences have accounts in the namespace of the Leases.
    fences = f"User system:serviceaccount:{LIFECYCLE_NAMESPACE}:"
    return not needs.user or any(one in names or one.startswith(fences) for one in subjects)


def _subject(subject: Mapping[str, Any]) -> str:
    kind = subject["kind"]
    if kind != "ServiceAccount":
        return f"{kind} {subject[kind.lower()]['name']}"
    namespace, name = subject["serviceAccount"]["namespace"], subject["serviceAccount"]["name"]
    if name == "*":
        return f"Group system:serviceaccounts:{namespace}"
    return f"User system:serviceaccount:{namespace}:{name}"


def _api_service(service: Object, _state: State, needs: RunNeeds) -> str:
    group = service["spec"].get("group") or ""
    if group in needs.server_groups and service["spec"].get("service"):
        return f"it leads requests for {group}, which the API server serves itself, to another server"
    return ""


_FULL = "While the priority level lets nothing through"
_EFFECTS: Mapping[tuple[str, str], tuple[Callable[[Object, State, RunNeeds], str], str, str]] = {
    QUOTA: (_quota, "While it is used up", "Put it into another namespace"),
    FLOW_SCHEMA: (_flow_schema, _FULL, "Give it other subjects"),
    PRIORITY_LEVEL: (_priority_level, _FULL, "Give it another name"),
    API_SERVICE_KIND: (_api_service, "While that server does not answer", "Serve another group"),
}
"""For some kinds: what an object does to the requests of runs, when that locks out, and how to avoid it."""
LOCKING_KINDS = frozenset({*((ADMISSION, kind) for kind in CONFIGURATION_KINDS), *PARTNERS, *_EFFECTS})
