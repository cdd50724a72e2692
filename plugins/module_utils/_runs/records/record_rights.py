# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rights that reading and writing records needs."""

from __future__ import annotations

from collections.abc import Iterable

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    GROUP,
    Ref,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.kinds import SECRET_KIND, is_of_kind
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.journal.journal_entry import (
    JournalEntry,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.access.rights import (
    CRDS,
    RBAC,
    READ,
    Resources,
    Right,
    right_for,
)

from .definitions import DEFINITIONS, VIEWERS


def records_rights() -> set[Right]:
    """What keeping our own records takes, on a cluster that never had them included."""
    found = {Right(verb, GROUP, resource) for resource in _OWN for verb in READ}
    found |= {Right(verb, GROUP, resource) for resource in _OWN for verb in ("create", "patch")}
    found |= {Right("delete", GROUP, resource) for resource in ("inventories", "journalentries", "runs")}
    found |= {Right(verb, *one) for one in _BROUGHT for verb in ("get", "create", "patch")}
    return found


def records_deletion_rights() -> set[Right]:
    """What deleting our own records takes, once nothing is left that they would tell of."""
    found = {Right(verb, *one) for one in _BROUGHT for verb in ("get", "delete")}
    # Servers grant no list by name.
    return found | {Right(verb, *one[:2]) for one in _BROUGHT for verb in ("list", "watch")}


_OWN = ("installations", "inventories", "journalentries", "runs")
_BROUGHT = (
    *((CRDS, "customresourcedefinitions", "", crd["metadata"]["name"]) for crd in DEFINITIONS),
    (RBAC, "clusterroles", "", VIEWERS["metadata"]["name"]),
)
"""What is brought to a cluster for our records: group, resource, namespace, name."""


def undo_rights(entries: Iterable[JournalEntry], served: Resources) -> set[Right]:
    """What bringing back how objects were before these writes takes."""
    found: set[Right] = set()
    for entry in entries:
        resource = served(entry.api_version, entry.ref.kind)
        if resource:
            verbs = ("get", "create", "patch", "delete")
            found |= {right_for(verb, resource, entry.ref.namespace) for verb in verbs}
    return found


def journal_rights(ref: Ref) -> set[Right]:
    """What keeping what an object was, before a migration writes it, takes beside our own records."""
    if not is_of_kind(ref, SECRET_KIND):
        return set()
    # What a Secret was is kept in another one beside it.
    return {Right(verb, "", "secrets", ref.namespace) for verb in ("get", "create", "patch")}
