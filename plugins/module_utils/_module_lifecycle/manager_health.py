# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a module is ready, by its manager, and whether that is scaled to zero or of another version. Pure.

A module's state is that of its manager, or of its whole manifest if the template names none. The status of
its configuration does not affect it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from typing import Any, NamedTuple

from .._cluster.cluster import FIELD_MANAGER, Object, Ref, ref_of
from .._cluster.fields.field_owners import owners_of
from .._cluster.pod_templates import pod_template
from .._objects.health.status import CURRENT, assess_health
from .._objects.ownership.autoscaling import Target, is_scaled
from .._text import first_of
from .running_version import image_tag, label_versions, manager_images


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


def version_problem(desired: Object, live: Object) -> str:
    """Why an operator does not run what its manifest says, in a sentence; empty if it does.

    Args:
        desired: the operator in the manifest.
        live: the operator after the apply.
    """
    difference = _difference(desired, live)
    if not difference:
        return ""
    holders = _holders_of_image(live)
    reason = "something changes it with each write"
    if holders:
        reason = f"{' and '.join(holders)} {'holds' if len(holders) == 1 else 'hold'} its image"
    return (
        f"{ref_of(live)} runs {difference}: {reason}. Release the field there, or take all fields of others"
        " with force_conflicts=true (kyma_force_conflicts)"
    )


def _difference(desired: Object, live: Object) -> str:
    """The version that runs, and the wanted one; empty if they are equal, or nothing can be compared.

    Registries in images can be rewritten, so tags and digests are compared, and labels if there are neither.
    """
    images = [_pair(_tags, desired, live), _pair(_digests, desired, live)]
    comparable = list(filter(all, images)) or [_pair(_labels, desired, live)]
    for expected, actual in comparable:
        if expected and actual and not expected <= actual:
            return f"{', '.join(sorted(actual))}, not {', '.join(sorted(expected))}"
    return ""


def _pair(
    texts_of: Callable[[Object], Iterable[str]], desired: Object, live: Object
) -> tuple[frozenset[str], frozenset[str]]:
    return frozenset(texts_of(desired)), frozenset(texts_of(live))


def _labels(obj: Object) -> Iterable[str]:
    return label_versions([obj]).values()


def _tags(obj: Object) -> Iterable[str]:
    return filter(None, map(image_tag, manager_images(obj)))


def _digests(obj: Object) -> Iterable[str]:
    return filter(None, (image.partition("@")[2] for image in manager_images(obj)))


def _holders_of_image(live: Object) -> list[str]:
    """The other field managers of images in the operator's pods."""
    containers = (pod_template(live).get("spec") or {}).get("containers") or ()
    path = ("f:spec", "f:template", "f:spec", "f:containers")
    owners = (owner for one in containers for owner in owners_of(live, *path, one, "f:image"))
    return sorted({str(owner.get("manager")) for owner in owners} - {FIELD_MANAGER})
