# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects that use Secrets: pure. A workload uses what its pod template refers to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .._cluster.cluster import ref_of
from .._loose_json import mapping_of
from .pod_references import SECRET, pod_references

SecretUsers = Mapping[str, tuple[str, ...]]
"""Names of Secrets of one namespace, each with its users as messages name them, such as ``Pod shop/a``."""
MoreUsers = Callable[[], SecretUsers]
"""Reads users of other kinds, such as errands."""

USER_KINDS = (
    ("v1", "Pod"),
    ("apps/v1", "Deployment"),
    ("apps/v1", "StatefulSet"),
    ("apps/v1", "DaemonSet"),
    ("batch/v1", "Job"),
    ("batch/v1", "CronJob"),
)
"""The kinds that are searched for users: apiVersion and kind."""


def no_more_users() -> SecretUsers:
    """No users of other kinds."""
    return {}


def pod_template_of(obj: Mapping[str, Any]) -> Mapping[str, Any]:
    """The pod template of a workload, with ``metadata`` and ``spec``. A pod is its own template."""
    if obj.get("kind") == "Pod":
        return obj
    spec = mapping_of(obj.get("spec"))
    if obj.get("kind") == "CronJob":
        spec = mapping_of(mapping_of(spec.get("jobTemplate")).get("spec"))
    return mapping_of(spec.get("template"))


def secret_users(
    objects: Iterable[Mapping[str, Any]],
    template_of: Callable[[Mapping[str, Any]], Mapping[str, Any]] = pod_template_of,
) -> dict[str, tuple[str, ...]]:
    """The Secrets that objects of one namespace use, each with its users.

    Args:
        objects: of the kinds above, or of others.
        template_of: returns the pod template of an object.
    """
    users: dict[str, tuple[str, ...]] = {}
    for obj in objects:
        for reference in pod_references(template_of(obj)):
            if reference.kind == SECRET:
                users[reference.name] = (*users.get(reference.name, ()), str(ref_of(obj)))
    return users


def merged_users(first: SecretUsers, second: SecretUsers) -> dict[str, tuple[str, ...]]:
    """The users of both sources."""
    return {name: (*first.get(name, ()), *second.get(name, ())) for name in {*first, *second}}
