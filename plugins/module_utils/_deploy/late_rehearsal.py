# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rehearsing what a plan could not ask the server about, right before a component's first write.

A plan checks custom resources whose definitions come with the release against these definitions. That is as
strict as the server where they tell types, required fields and enumerations; patterns, bounds, combinations
and CEL rules only the server checks. And custom resources are applied last: one that is refused then would
leave half a component. All else that a plan could not ask for was asked in another namespace.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import (
    ClusterError,
    Invalid,
    Untypeable,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.kinds import Kind
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.schema import leaves_to_server
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.immutable import is_immutable
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.order import by_rank
from ansible_collections.kyma.lifecycle.plugins.module_utils._threads import side_by_side

Defined = Mapping[tuple[str, str], Kind]
"""The kinds (apiVersion, kind) that came with this run, so that no plan could ask the server about them."""


def unasked(objects: Sequence[Object], defined: Defined) -> list[Object]:
    """The objects that are worth asking about before anything of the component is written: pure.

    Those of the first rank are not: nothing is written before them.
    """
    later = [obj for rank in by_rank(objects)[1:] for obj in rank]
    known = ((obj, defined.get((obj["apiVersion"], obj["kind"]))) for obj in later)
    return [obj for obj, kind in known if kind and leaves_to_server(obj, kind.schema or {})]


def late_refusals(cluster: Cluster, objects: Sequence[Object], defined: Defined) -> list[ClusterError]:
    """What the server would refuse of a component's custom resources, by its own validation.

    What an admission webhook says is left to the real write: it may want to see the objects before.
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
        except ClusterError:
            # Told by the real write, if it is still so then.
            return None
        return None

    return [error for error in side_by_side(ask, unasked(objects, defined)) if error is not None]
