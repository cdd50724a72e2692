# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the deployed objects of components are healthy, by the rules for waiting: pure, from one read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._cluster.cluster import Object, Ref, group_of
from .._cluster.kinds import is_built_in
from .._errors import MOST_REASONS
from .._objects.health.result import conditions, is_true
from .._objects.health.status import CURRENT, VERDICTS, assess_health, is_always_current
from .._objects.inventory.inventory import Inventory
from .._result_codec import returned_as
from .._text import counted, first_of

_BUILT_IN_GROUPS = frozenset({"apps", "apiregistration.k8s.io"})
"""The built-in groups whose objects are judged. Others are not: of Pods, Jobs, Services and claims a cluster
has too many for a plan to read them all, and a definition is too large."""
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
"""How Kubernetes writes times. The status of a custom resource may have any text instead."""


@dataclass(frozen=True)
class HealthProblem:
    """A deployed object that is not healthy.

    Attributes:
        component: The component whose inventory has the object.
        ref: Its kind, namespace and name.
        reason: Why it is not healthy, such as ``0 of 1 replicas are available``.
    """

    component: str
    ref: Ref = field(metadata=returned_as("object"))
    reason: str

    def __str__(self) -> str:
        return f"{self.component}: {self.ref} is not healthy: {self.reason}"


@dataclass(frozen=True)
class ObservedHealth:
    """The health of the deployed objects of components.

    Attributes:
        problems: the objects that are not healthy.
        since: the newest time at which an object became ``Ready`` or ``Available``, in RFC 3339, by the clock
            of its controller; empty if none says so.
    """

    problems: tuple[HealthProblem, ...] = ()
    since: str = ""


def has_health(api_version: str, kind: str) -> bool:
    """Whether a plan judges the objects of a kind, so that it reads whole objects and not their metadata.

    These are workloads, aggregated APIs and custom resources.
    """
    group = group_of(api_version)
    return not is_always_current(api_version, kind) and (group in _BUILT_IN_GROUPS or not is_built_in(group))


def observed_health(inventories: Iterable[Inventory], live: Mapping[Ref, Object]) -> ObservedHealth:
    """Which objects are not healthy now, also if they may still become so, and since when others are.

    A run has waited until all of them were healthy, by the same rules. A paused Deployment is left out while
    it is available: a person holds its rollout.

    Args:
        inventories: of the components.
        live: whole objects of the kinds that :func:`has_health` names, by reference.
    """
    problems, times = [], [""]
    for component, obj, ref in _judged(inventories, live):
        times += _times_of_health(obj)
        health = assess_health(obj)
        is_held = health.reason == "DeploymentPaused" and is_true(conditions(obj).get("Available"))
        if health.state != CURRENT and not is_held:
            problems.append(HealthProblem(component, ref, health.message or health.reason))
    ordered = sorted(problems, key=lambda one: (one.component, one.ref))
    return ObservedHealth(tuple(ordered), max(times))


def health_warnings(problems: Sequence[HealthProblem]) -> list[str]:
    """A warning for each problem; many are counted in the last one."""
    return first_of([str(one) for one in problems], MOST_REASONS, "more objects are not healthy")


def unhealthy_result(version: str, problems: Sequence[HealthProblem]) -> dict[str, Any]:
    """The part of a task's result that fails it, as objects of a deployed release are not healthy."""
    are = "is" if len(problems) == 1 else "are"
    return {
        "failed": True,
        "failures": [str(one) for one in problems],
        "msg": (
            f"Kyma {version} is deployed, and {counted(len(problems), 'object')} {are} not healthy, which"
            " require_healthy (kyma_require_healthy) does not allow:"
            + "".join(f"\n- {one}" for one in problems)
        ),
    }


def _judged(
    inventories: Iterable[Inventory], live: Mapping[Ref, Object]
) -> Iterator[tuple[str, Object, Ref]]:
    for inventory in inventories:
        for entry in inventory.entries:
            obj = live.get(entry.ref)
            if obj is not None and not entry.dropped and has_health(entry.api_version, entry.ref.kind):
                yield inventory.owner, obj, entry.ref


def _times_of_health(obj: Object) -> Iterator[str]:
    for kind, condition in conditions(obj).items():
        time = str(condition.get("lastTransitionTime"))
        if kind in VERDICTS and is_true(condition) and _TIME.fullmatch(time):
            yield time
