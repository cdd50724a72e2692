# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rehearsing what a plan could not ask the server about, right before a component's first write.

A plan checks custom resources whose definitions come with the release against these definitions. That is as
strict as the server where they tell types, required fields and enumerations; patterns, bounds, combinations
and CEL rules only the server checks. And custom resources are applied last: one that is refused then would
leave half a component.

What goes to a namespace that comes with the release was asked in another one. That tells all but what depends
on the namespace: what a role there may grant, which takes the rights that whoever deploys it has there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ..._cluster.cluster import Cluster, Object, Ref, ref_of
from ..._cluster.errors import ClusterError, Forbidden, Invalid, Untypeable
from ..._cluster.kinds import Kind
from ..._dry_run.crd_schema import leaves_to_server
from ..._threads import map_in_threads
from ..access.rights import RBAC, is_escalation
from .order import by_rank
from .refusals import is_immutable

Defined = Mapping[tuple[str, str], Kind]
"""The kinds (apiVersion, kind) that came with this run, so that no plan could ask the server about them."""


def unverified_objects(
    objects: Sequence[Object], defined: Defined, places: Collection[str] = ()
) -> list[Object]:
    """The objects that are worth asking about before anything of the component is written: pure.

    Those of the first rank are not: nothing is written before them.

    Args:
        objects: of the component.
        defined: the kinds that came with this run.
        places: the namespaces that may have come with this run.
    """
    later = [obj for rank in by_rank(objects)[1:] for obj in rank]
    own = frozenset(map(ref_of, objects)) if places else frozenset()
    return [obj for obj in later if _is_left_to_server(obj, defined) or _grants(obj, places, own)]


def _is_left_to_server(obj: Object, defined: Defined) -> bool:
    kind = defined.get((obj["apiVersion"], obj["kind"]))
    return kind is not None and leaves_to_server(obj, kind.schema or {})


def _grants(obj: Object, places: Collection[str], own: Collection[Ref]) -> bool:
    """Whether this grants rights in one of these namespaces, and the server can be asked whether it may.

    It can't of what binds a role that comes with the component, before that is there.
    """
    ref = ref_of(obj)
    if ref.group != RBAC or ref.namespace not in places:
        return False
    # What is no reference to a role is the server's to refuse.
    role = given if isinstance(given := obj.get("roleRef"), dict) else {}
    place = ref.namespace if role.get("kind") == "Role" else ""
    return Ref(RBAC, str(role.get("kind")), place, str(role.get("name"))) not in own


def late_refusals(
    cluster: Cluster, objects: Sequence[Object], defined: Defined, places: Collection[str] = ()
) -> list[ClusterError]:
    """What the server would refuse of a component, by its own validation and by who may grant what.

    What an admission webhook says is left to the real write: it may want to see the objects before.

    Args:
        cluster: the live one.
        objects, defined, places: see :func:`unasked`.
    """

    def ask(obj: Object) -> ClusterError | None:
        # The definition may be part of this component, and come with it.
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
            # Told by the real write, if it is still so then.
            return None
        return None

    asked = unverified_objects(objects, defined, places)
    return [error for error in map_in_threads(ask, asked) if error is not None]
