# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The answers of an API server about an object that is missing, or not as expected: in its own words."""

from __future__ import annotations

from .._cluster.cluster import Object, Ref, ref_of
from .._cluster.errors import ApiError, ClusterError, api_error
from .._cluster.kinds import Kind
from .._deep_copy import deep_copy


def problem(verb: str, ref: Ref, status: int, reason: str, message: str) -> ApiError:
    """The error of a refusal."""
    return api_error(f"{verb} {ref}", status, {"reason": reason, "message": message})


def not_found_error(verb: str, kind: Kind, ref: Ref) -> ApiError:
    """The error that the object does not exist."""
    return problem(verb, ref, 404, "NotFound", f"{_qualified_name(kind, ref)} not found")


def already_exists_error(kind: Kind, ref: Ref) -> ApiError:
    """The error that the object already exists."""
    return problem("create", ref, 409, "AlreadyExists", f"{_qualified_name(kind, ref)} already exists")


def refuse_namespace(verb: str, kind: Kind, ref: Ref, namespace: Object | None) -> None:
    """Raise NotFound or Forbidden if nothing can be created in a namespace, given as the present object."""
    if not ref.namespace:
        return
    if namespace is None:
        raise problem(verb, ref, 404, "NotFound", f'namespaces "{ref.namespace}" not found')
    if namespace["metadata"].get("deletionTimestamp"):
        why = f"unable to create new content in namespace {ref.namespace} because it is being terminated"
        raise problem(verb, ref, 403, "Forbidden", f"{_qualified_name(kind, ref)} is forbidden: {why}")


def refuse_precondition(kind: Kind, obj: Object, uid: str | None, resource_version: str | None) -> None:
    """Raise Conflict unless the object is the one to delete."""
    meta = obj["metadata"]
    for name, required, actual in (
        ("UID", uid, meta.get("uid")),
        ("ResourceVersion", resource_version, meta.get("resourceVersion")),
    ):
        if required is not None and required != actual:
            message = (
                f'Operation cannot be fulfilled on {kind.qualified} "{meta["name"]}": the {name} in the '
                f"precondition ({required}) does not match the {name} in record ({actual})."
            )
            raise problem("delete", ref_of(obj), 409, "Conflict", message)


def validated_ref(kind: Kind, name: str, namespace: str | None) -> Ref:
    """The reference of one object. Raises ClusterError if it lacks a part of its address."""
    if kind.resource.namespaced and not namespace:
        raise ClusterError(f"a {kind.resource.kind} lives in a namespace, and none was given")
    if not name:
        raise ClusterError(f"a {kind.resource.kind} without a name can't be addressed")
    return kind.ref(name, namespace)


def copy_in_version(obj: Object, api_version: str, *, metadata_only: bool = False) -> Object:
    """A copy of an object in the requested version."""
    parts = ("kind", "metadata") if metadata_only else obj
    return {**{key: deep_copy(obj[key]) for key in parts}, "apiVersion": api_version}


def _qualified_name(kind: Kind, ref: Ref) -> str:
    return f'{kind.qualified_plural} "{ref.name}"'
