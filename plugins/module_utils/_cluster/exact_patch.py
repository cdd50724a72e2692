# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes an object only if it is as it was read: under its uid and its resourceVersion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._loose_json import mapping_of
from .cluster import Cluster, Object, address_of


def patch_exactly(cluster: Cluster, live: Object, patch: Mapping[str, Any], subresource: str = "") -> Object:
    """The object after a merge patch.

    Args:
        cluster: where to write.
        live: the object as it was read.
        patch: the merge patch.
        subresource: to write instead of the object, such as ``status``.

    Raises:
        Conflict: others have changed the object meanwhile.
        NotFound: it is gone.
    """
    meta = live["metadata"]
    exact = {name: meta[name] for name in ("uid", "resourceVersion") if name in meta}
    whole = {**patch, "metadata": {**mapping_of(patch.get("metadata")), **exact}}
    return cluster.patch(*address_of(live), whole, subresource=subresource)
