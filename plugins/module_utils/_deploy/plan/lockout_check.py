# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks during a plan that the API server lets this run write, and will let later runs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from ..._cluster.admission.matching import BINDING_KINDS
from ..._cluster.cluster import Cluster, Object, ref_of
from ..._cluster.errors import ClusterError
from ..._cluster.kinds import API_SERVICE_KIND
from ..._components.component_plan import Blocker
from ..._objects.access.review import user_info
from ..._objects.apply.change import ObjectChange
from ..._runs.lease.lease import LIFECYCLE_NAMESPACE
from ..._runs.records.definitions import RecordKinds
from ..._threads import call_in_threads, map_in_threads
from .lockouts import (
    ADMISSION,
    AUTOMANAGED,
    FLOW_SCHEMA,
    LOCKING_KINDS,
    PARTNERS,
    PRIORITY_LEVEL,
    RunNeeds,
    assumed_partner,
    existing_lockout_warning,
    lockouts,
    new_lockout_problem,
    new_lockouts,
)
from .own_webhooks import OwnWebhooks
from .run_requests import NAME_LABEL, NEW_NAMESPACE_LABELS, refused_requests, requests_of_runs

_OPTION = "kyma_allow_webhooks"


class LockoutFindings(NamedTuple):
    """What locks runs out.

    Attributes:
        refusals: of what this run writes.
        additions: what the release adds or changes, each with its component.
        warnings: about what the cluster has.
    """

    refusals: list[Blocker]
    additions: list[Blocker]
    warnings: list[str]


def check_lockouts(
    cluster: Cluster,
    changes: Sequence[tuple[str, ObjectChange]],
    webhooks: OwnWebhooks,
    kinds: RecordKinds,
    allowed: Sequence[str],
    *,
    are_current: bool,
) -> LockoutFindings:
    """Ask the API server what it refuses now, and match what may be refused later.

    Args:
        cluster: the live one.
        changes: of the release and its migrations, each with its component.
        webhooks: reads their configurations.
        kinds: of the records that a run writes.
        allowed: the names of the webhooks, policies and other objects that the user allows.
        are_current: whether the cluster has the definitions of these kinds.
    """
    locking = [(name, one) for name, one in changes if one.ref[:2] in LOCKING_KINDS]
    objects = [one.after for _name, one in locking if one.after is not None]
    refused, configurations, partners, needs = call_in_threads(
        lambda: refused_requests(cluster, kinds, webhooks.configurations, are_current=are_current),
        webhooks.configurations,
        lambda: _partners(cluster, objects),
        lambda: _needs(cluster, kinds, {one.ref[:2] for _name, one in locking}),
    )
    live = {ref_of(one): one for one in [*configurations, *partners]}
    known = {*allowed, *(one.name for one in refused)}
    existing = [one for one in lockouts(live, needs) if one.ref.group == ADMISSION and one.name not in known]
    new = new_lockouts([one for _name, one in locking], live, needs, allowed)
    names = list(dict.fromkeys([*allowed, *(one.name for one in new)]))
    components = {one.ref: name for name, one in reversed(locking)}
    additions = [
        Blocker(
            next(components[ref] for ref in one.parts if ref in components),
            new_lockout_problem(one, names, _OPTION),
        )
        for one in new
    ]
    refusals = [Blocker("", one.message) for one in refused]
    return LockoutFindings(refusals, additions, [existing_lockout_warning(one) for one in existing])


def _partners(cluster: Cluster, objects: Sequence[Object]) -> list[Object]:
    """The live bindings, and what gives them and these objects their effect.

    What can't be read is assumed to be the worst possible, unless the objects have their own.
    """
    kinds = [(ADMISSION, kind) for kind in BINDING_KINDS]
    read = dict(zip(kinds, map_in_threads(partial(_list, cluster), kinds), strict=True))
    objects = [*objects, *(one for some in read.values() for one in some or ())]
    present = {ref_of(one)[:2] for one in objects}
    for partner in sorted({PARTNERS[kind] for kind in PARTNERS.keys() & present} - read.keys()):
        read[partner] = _list(cluster, partner)
    missing = {kind for kind, some in read.items() if some is None} - present
    assumed = [assumed_partner(one) for one in objects if PARTNERS.get(ref_of(one)[:2]) in missing]
    return [*assumed, *(one for some in read.values() for one in some or ())]


def _list(cluster: Cluster, kind: tuple[str, str]) -> list[Object] | None:
    """All objects of a kind; None if they can't be read."""
    try:
        served = cluster.served(*kind)
        return cluster.list(served[0].api_version, kind[1]).items if served else []
    except ClusterError:
        return None


def _needs(cluster: Cluster, kinds: RecordKinds, changed: Collection[tuple[str, str]]) -> RunNeeds:
    """What runs need, as far as changed kinds can prevent it."""
    labels = NEW_NAMESPACE_LABELS
    with suppress(ClusterError):
        if namespace := cluster.get("v1", "Namespace", LIFECYCLE_NAMESPACE):
            labels = {NAME_LABEL: LIFECYCLE_NAMESPACE, **(namespace["metadata"].get("labels") or {})}
    needs = RunNeeds(requests_of_runs(kinds, labels))
    if FLOW_SCHEMA in changed or PRIORITY_LEVEL in changed:
        info = user_info(cluster)
        needs = replace(needs, user=str(info.get("username") or ""), groups=info.get("groups") or ())
    if API_SERVICE_KIND in changed:
        services = _list(cluster, API_SERVICE_KIND) or ()
        own = [one["spec"] for one in services if AUTOMANAGED in (one["metadata"].get("labels") or {})]
        needs = replace(needs, server_groups=[one.get("group") or "" for one in own])
    return needs
