# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rehearses what a plan could not ask the server, right before a component's first write.

If a definition comes with the release, a plan checks its custom resources against the definition. For
types, required fields and enumerations this is as strict as the server. Only the server checks patterns,
bounds, combinations and CEL rules. And custom resources are applied last: a refusal then would leave half a
component.

For a namespace that comes with the release, the plan asked in another namespace. That covers all but what
depends on the namespace: which rights a role there may grant depends on the deploying user's rights there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from .._cluster.cluster import Cluster, Object, Ref, ref_of
from .._cluster.errors import ClusterError, Forbidden, Invalid, Untypeable
from .._cluster.kinds import Kind
from .._dry_run.crd_schema import leaves_to_server
from .._objects.access.rights import RBAC, is_escalation
from .._objects.apply.order import by_rank
from .._objects.apply.refusals import is_immutable
from .._threads import map_in_threads

Defined = Mapping[tuple[str, str], Kind]
"""The kinds (apiVersion, kind) that this run installed, so that no plan could ask the server about them."""


def unverified_objects(
    objects: Sequence[Object], defined: Defined, created_namespaces: Collection[str] = ()
) -> list[Object]:
    """The objects to rehearse before anything of the component is written: pure.

    An only object of the first rank is left out: nothing is written before it.

    Args:
        objects: of the component.
        defined: the kinds that this run installed.
        created_namespaces: the namespaces that this run may have created.
    """
    ranks = by_rank(objects)
    later = [obj for rank in ranks for obj in rank if rank is not ranks[0] or len(rank) > 1]
    own = frozenset(map(ref_of, objects)) if created_namespaces else frozenset()
    return [obj for obj in later if _is_left_to_server(obj, defined) or _grants(obj, created_namespaces, own)]


def _is_left_to_server(obj: Object, defined: Defined) -> bool:
    kind = defined.get((obj["apiVersion"], obj["kind"]))
    return kind is not None and leaves_to_server(obj, kind.schema or {})


def _grants(obj: Object, created_namespaces: Collection[str], own: Collection[Ref]) -> bool:
    """Whether this grants rights in one of these namespaces, and the server can check it.

    The server can't check a binding to a role of the same component before that role exists.
    """
    ref = ref_of(obj)
    if ref.group != RBAC or ref.namespace not in created_namespaces:
        return False
    # The server refuses a roleRef that is not a reference.
    role = reference if isinstance(reference := obj.get("roleRef"), dict) else {}
    role_namespace = ref.namespace if role.get("kind") == "Role" else ""
    return Ref(RBAC, str(role.get("kind")), role_namespace, str(role.get("name"))) not in own


def late_refusals(
    cluster: Cluster, objects: Sequence[Object], defined: Defined, created_namespaces: Collection[str] = ()
) -> list[ClusterError]:
    """The refusals of the server for a component, by its validation and its check of granted rights.

    Refusals of an admission webhook are left to the real write: it may need earlier objects to exist.

    Args:
        cluster: the live one.
        objects, defined, created_namespaces: see :func:`unverified_objects`.
    """

    def ask(obj: Object) -> ClusterError | None:
        # The definition may be part of this component.
        if cluster.resource(obj["apiVersion"], obj["kind"]) is None:
            return None
        try:
            cluster.apply(obj, force=True, dry_run=True)
        except Invalid as refusal:
            by_server = "admission webhook" not in refusal.api_message and not is_immutable(refusal)
            return refusal if by_server and not isinstance(refusal, Untypeable) else None
        except Forbidden as refusal:
            return refusal if is_escalation(refusal.api_message) else None
        except ClusterError:
            # The real write reports it, if it still happens then.
            return None
        return None

    unverified = unverified_objects(objects, defined, created_namespaces)
    return [error for error in map_in_threads(ask, unverified) if error is not None]
