# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rights that holding a lease needs."""

from __future__ import annotations

from ..._objects.access.rights import LEASES, Right
from .lease import LEASE_NAME, LIFECYCLE_NAMESPACE


def lease_rights(name: str = LEASE_NAME) -> set[Right]:
    """What having a lease of a cluster takes, by default that of runs; on one that never had it included."""
    found = {Right(verb, LEASES, "leases", LIFECYCLE_NAMESPACE, name) for verb in ("get", "patch")}
    # Servers grant no creation by name; that of what is applied they do.
    found |= {Right(verb, "", "namespaces", "", LIFECYCLE_NAMESPACE) for verb in ("create", "patch")}
    return found | {Right("create", LEASES, "leases", LIFECYCLE_NAMESPACE)}


def lease_deletion_rights() -> set[Right]:
    """What leaving nothing of the lease takes: our namespace goes with it, where we have made it."""
    found = {Right("delete", LEASES, "leases", LIFECYCLE_NAMESPACE, LEASE_NAME)}
    return found | {Right(verb, "", "namespaces", "", LIFECYCLE_NAMESPACE) for verb in ("get", "delete")}
