# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a module is ready, by its manager, and whether its manager was scaled to zero. Pure.

A module's state is that of its manager, or of its whole manifest if the template names none. The status of
its configuration does not affect it.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any, NamedTuple

from .._cluster.cluster import Object, Ref
from .._objects.health.status import CURRENT, assess_health
from .._objects.ownership.autoscaling import Target, is_scaled
from .._text import first_of


class ManagerHealth(NamedTuple):
    """Whether a module is ready.

    Attributes:
        is_ready: whether all objects that decide it are healthy.
        reason: what is not healthy and why, for a person; empty if the module is ready.
    """

    is_ready: bool
    reason: str = ""


def manager_health(
    manager: Ref, live: Object | None, autoscaled: Container[Target] = frozenset()
) -> ManagerHealth:
    """The health of a module by its manager.

    Args:
        manager: what the template names.
        live: the current manager; None if there is none.
        autoscaled: the targets of the cluster's autoscalers, which may be scaled to zero.
    """
    if live is not None and _replicas(live) == 0 and not is_scaled(live, autoscaled):
        return ManagerHealth(False, f"{manager}: it is scaled to 0 replicas")
    return manifest_health({manager: live})


def manifest_health(objects: Mapping[Ref, Object | None]) -> ManagerHealth:
    """The health of a module without a manager, by all objects of its manifest.

    Args:
        objects: in their current state; None for those that do not exist.
    """
    problems = [problem for ref, live in sorted(objects.items()) if (problem := _problem(ref, live))]
    if not problems:
        return ManagerHealth(True)
    first, *more = first_of(problems, 1)
    return ManagerHealth(False, " ".join([first, *(f"({one})" for one in more)]))


def _problem(ref: Ref, live: Object | None) -> str:
    if live is None:
        return f"{ref}: it does not exist"
    health = assess_health(live, by_state=False)
    return "" if health.state == CURRENT else f"{ref}: {health.message}"


def needs_scaling_back(live: Object, desired: Object, autoscaled: Container[Target] = frozenset()) -> bool:
    """Whether a manager was scaled to zero against its manifest.

    An apply does not always correct it. The server records no owner of ``replicas`` that the subresource
    ``scale`` set to 0: if the manifest lacks the field, even its metadata does not change. And a value that a
    controller has set is left to that controller.

    Args:
        live: the current manager.
        desired: the manager in its manifest.
        autoscaled: the targets of the cluster's autoscalers.
    """
    return _replicas(live) == 0 and _replicas(desired) != 0 and not is_scaled(live, autoscaled)


def scaling_patch(live: Object, desired: Object) -> dict[str, Any]:
    """The merge patch that scales a manager back, to one replica if its manifest has no number.

    It is for the object itself, not for its subresource ``scale``. So the next apply takes ``replicas`` over,
    or releases it if the manifest lacks it. It applies to this very object only.
    """
    return {"metadata": {"uid": live["metadata"]["uid"]}, "spec": {"replicas": _replicas(desired)}}


def _replicas(obj: Object) -> int:
    """The number of wanted replicas: one if there is none in the manifest, as for the kinds that scale."""
    spec = obj.get("spec")
    replicas = spec.get("replicas") if isinstance(spec, dict) else None
    return replicas if isinstance(replicas, int) else 1
