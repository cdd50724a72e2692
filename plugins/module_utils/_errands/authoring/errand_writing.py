# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads and applies an errand."""

from __future__ import annotations

from ..._cluster.cluster import Cluster, Object
from ..._cluster.errors import Conflict
from ..._text import one_line
from ..errand_model import FIELD_MANAGER, ErrandKey, Strategy, errand_from
from .errand_object import DesiredErrand

_AFTERWARDS = {Strategy.ONCE: Strategy.DONE, Strategy.NOW: Strategy.MANUAL}
"""What the strategies become after a run."""
AUTHOR_MANAGER = "kyma-lifecycle/errand"
"""The field manager of authors, unless they name another one."""


def read_errand(cluster: Cluster, key: ErrandKey) -> Object | None:
    """An errand as it is in the cluster."""
    return cluster.get(*key.address)


def adjusted_to(desired: DesiredErrand, live: Object | None) -> DesiredErrand:
    """The errand to apply, given the existing one.

    If its template has run, ``once`` is ``done`` and ``now`` is ``manual``, as the engine set them after the
    run.
    """
    strategy = desired.errand.spec.strategy
    if live is None or strategy not in _AFTERWARDS:
        return desired
    there, digest = errand_from(live), desired.errand.spec.template_digest
    run = there.status.run
    ran = there.status.once_digest if strategy is Strategy.ONCE else run.template_digest if run else ""
    is_set_back = there.spec.strategy is _AFTERWARDS[strategy]
    return desired.with_strategy(there.spec.strategy) if is_set_back and ran == digest else desired


def apply_errand(cluster: Cluster, obj: Object, *, force: bool, dry_run: bool = False) -> Object:
    """Apply an errand server-side. It overwrites the fields that the engine has set.

    Raises:
        Conflict: another field manager owns some of its fields.
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
    """Which fields another manager owns, and what to do."""
    fields = "; ".join(
        f"{one_line(cause.field.lstrip('.'), 200)}: {one_line(cause.message, 200)}"
        for cause in conflict.causes
    )
    return (
        f"another author manages the same fields: {fields or one_line(conflict.api_message)}. Change the"
        " errand there, or set force_conflicts: true to overwrite them"
    )
