# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Installing the definition of errands if it is needed, and applying an errand."""

from __future__ import annotations

from dataclasses import dataclass

from ..._cluster.cluster import Cluster, Object
from ..._cluster.errors import Conflict, Forbidden
from ..._errors import LifecycleError
from ..._text import one_line
from ..errand import API_VERSION, FIELD_MANAGER, KIND, ErrandKey, Strategy, errand_from
from ..errand_definition import CRD_NAME, install_definition, is_current
from .errand_object import WantedErrand

_AFTERWARDS = {Strategy.ONCE: Strategy.DONE, Strategy.NOW: Strategy.MANUAL}
"""What the strategies become after a run."""
AUTHOR_MANAGER = "kyma-lifecycle/errand"
"""The field manager of authors, unless they name another one."""
INSTALL_RIGHTS = (
    "get, list, watch, create and patch customresourcedefinitions.apiextensions.k8s.io, and to get, create,"
    " patch and escalate clusterroles.rbac.authorization.k8s.io"
)


@dataclass(frozen=True)
class DefinitionState:
    """What the cluster has of the definition of errands.

    Attributes:
        is_served: whether the API server knows errands.
        is_current: whether it is the definition of this version; True also where we may not read it.
    """

    is_served: bool
    is_current: bool


def definition_state(cluster: Cluster) -> DefinitionState:
    """What the cluster has of the definition of errands; one request beside discovery.

    Raises:
        ClusterError: the server does not answer.
    """
    is_served = cluster.resource(API_VERSION, KIND) is not None
    try:
        return DefinitionState(is_served, is_current(cluster))
    except Forbidden:
        # Authors may not read it; without it there would be nothing to go on with.
        return DefinitionState(is_served, is_current=is_served)


def update_definition(cluster: Cluster, state: DefinitionState) -> tuple[bool, tuple[str, ...]]:
    """Install the definition where it is missing or not current; whether it was, and warnings.

    Raises:
        LifecycleError: it is missing, and can't be installed.
    """
    if state.is_current:
        return False, ()
    try:
        install_definition(cluster)
    except Forbidden as refusal:
        problem = install_problem(refusal)
        if not state.is_served:
            raise LifecycleError(problem) from refusal
        return False, (problem,)
    return True, ()


def install_problem(refusal: Forbidden) -> str:
    """Why the definition can't be installed, and what to do."""
    return (
        f"the definition {CRD_NAME} is missing or not the one of this version, and you may not install it:"
        f" {one_line(refusal.api_message)}. It takes the rights to {INSTALL_RIGHTS}. Get them, or have an"
        " administrator run this:\nansible-playbook kyma.lifecycle.reconcile_errands"
    )


def read_errand(cluster: Cluster, key: ErrandKey) -> Object | None:
    """An errand as it stands in the cluster."""
    return cluster.get(API_VERSION, KIND, key.name, key.namespace)


def adjusted_to(wanted: WantedErrand, live: Object | None) -> WantedErrand:
    """The errand to apply, given the one that is there.

    With a template that has run, ``once`` is ``done`` and ``now`` is ``manual``, as it was set after the run.
    """
    strategy = wanted.errand.spec.strategy
    if live is None or strategy not in _AFTERWARDS:
        return wanted
    there, digest = errand_from(live), wanted.errand.spec.template_digest
    run = there.status.run
    ran = there.status.once_digest if strategy is Strategy.ONCE else run.template_digest if run else ""
    is_set_back = there.spec.strategy is _AFTERWARDS[strategy]
    return wanted.with_strategy(there.spec.strategy) if is_set_back and ran == digest else wanted


def apply_errand(cluster: Cluster, obj: Object, *, force: bool, dry_run: bool = False) -> Object:
    """Apply an errand server-side. What the engine has set of it is overwritten.

    Raises:
        Conflict: another manager has fields of it.
        ClusterError: the server does not answer, or refuses it.
    """
    try:
        return cluster.apply(obj, force=force, dry_run=dry_run)
    except Conflict as conflict:
        if force or not conflict.causes or not all(_is_engines(one.message) for one in conflict.causes):
            raise
    return cluster.apply(obj, force=True, dry_run=dry_run)


def _is_engines(message: str) -> bool:
    return f'"{FIELD_MANAGER}"' in message


def conflict_problem(conflict: Conflict) -> str:
    """Which fields another manager has, and what to do."""
    fields = "; ".join(
        f"{one_line(cause.field.lstrip('.'), 200)}: {one_line(cause.message, 200)}"
        for cause in conflict.causes
    )
    return (
        f"another author manages the same fields: {fields or one_line(conflict.api_message)}. Change the"
        " errand there, or set force_conflicts: true to overwrite them"
    )
