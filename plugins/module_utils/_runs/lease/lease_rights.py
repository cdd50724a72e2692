# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rights that holding a lease needs."""

from __future__ import annotations

from ..._objects.access.rights import LEASES, Right
from .lease import LEASE_NAME, LIFECYCLE_NAMESPACE


def lease_rights(name: str = LEASE_NAME) -> set[Right]:
    """The rights to hold a lease of a cluster, by default that of runs; also if it never had one."""
    rights = {Right(verb, LEASES, "leases", LIFECYCLE_NAMESPACE, name) for verb in ("get", "patch")}
    # API servers grant no creation by name, except for what is applied.
    rights |= {Right(verb, "", "namespaces", "", LIFECYCLE_NAMESPACE) for verb in ("create", "patch")}
    return rights | {Right("create", LEASES, "leases", LIFECYCLE_NAMESPACE)}


def lease_deletion_rights() -> set[Right]:
    """The rights to delete all traces of the lease, our namespace included if this collection created it."""
    rights = {Right("delete", LEASES, "leases", LIFECYCLE_NAMESPACE, LEASE_NAME)}
    return rights | {Right(verb, "", "namespaces", "", LIFECYCLE_NAMESPACE) for verb in ("get", "delete")}
