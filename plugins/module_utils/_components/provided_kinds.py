# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kinds that a component of the release installs when it runs (``provides``), like an operator: pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .._cluster.cluster import Object, group_of, ref_of
from .._errors import MOST_REASONS
from .._objects.access.rights import Resources
from .._text import short_list

ApiKind = tuple[str, str]
"""apiVersion and kind."""


def kind_of(obj: Object) -> ApiKind:
    """The apiVersion and kind of an object."""
    return obj["apiVersion"], obj["kind"]


def awaited_kinds(
    objects: Sequence[Object], providers: Mapping[str, str], served: Resources
) -> dict[ApiKind, str]:
    """The kinds of some objects that are not served yet, each with the component that provides it.

    Args:
        objects: of one component.
        providers: the components that provide kinds, by API group.
        served: returns the served resource of a kind.
    """
    provided = {kind_of(obj): providers.get(group_of(obj["apiVersion"]), "") for obj in objects}
    return {kind: name for kind, name in provided.items() if name and served(*kind) is None}


def unverified_warning(component: str, objects: Sequence[Object], awaited: Mapping[ApiKind, str]) -> str:
    """A plan's warning about the objects of a component whose kinds are awaited; empty if there are none."""
    late = _names(objects, awaited)
    if not late:
        return ""
    return (
        f"unverified: {short_list(late, MOST_REASONS)}. The cluster does not serve"
        f" {describe_awaited(awaited)};"
        f" {component} will wait for that. Neither can it be asked now whether you may write them"
    )


def unserved_error(objects: Sequence[Object], awaited: Mapping[ApiKind, str]) -> str:
    """The error when a component's wait for kinds ends: the kinds, their objects, and what to do."""
    names = short_list(sorted(set(awaited.values())), MOST_REASONS)
    return (
        f"the cluster does not serve {describe_awaited(awaited)}: see the log of the operator in {names}, and"
        f" run the playbook again. Not applied: {short_list(_names(objects, awaited), MOST_REASONS)}"
    )


def describe_awaited(awaited: Mapping[ApiKind, str]) -> str:
    """Kinds with their components: ``Gateway in networking.istio.io/v1beta1 (provided by istio)``."""
    places: dict[tuple[str, str], list[str]] = {}
    for (api_version, kind), provider in sorted(awaited.items()):
        places.setdefault((api_version, provider), []).append(kind)
    return "; ".join(
        f"{', '.join(kinds)} in {api_version} (provided by {provider})"
        for (api_version, provider), kinds in places.items()
    )


def _names(objects: Sequence[Object], awaited: Mapping[ApiKind, str]) -> list[str]:
    return [str(ref_of(obj)) for obj in objects if kind_of(obj) in awaited]
