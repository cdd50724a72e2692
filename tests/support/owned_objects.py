# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects that belong to others."""

from __future__ import annotations

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object


def owned_by(obj: Object, *owners: Object) -> Object:
    """The object with references to its owners, which have their uids."""
    references = [
        {key: owner[key] for key in ("apiVersion", "kind")}
        | {key: owner["metadata"][key] for key in ("name", "uid")}
        for owner in owners
    ]
    return {**obj, "metadata": {**obj["metadata"], "ownerReferences": references}}
