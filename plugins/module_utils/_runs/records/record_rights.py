# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rights that reading and writing records needs."""

from __future__ import annotations

from collections.abc import Iterable

from ..._cluster.cluster import GROUP, Ref
from ..._cluster.kinds import SECRET_KIND, is_of_kind
from ..._migrations.journal.journal_entry import JournalEntry
from ..._objects.access.rights import CRDS, RBAC, READ, Resources, Right, right_for
from .definitions import RecordKinds

INSTALLATIONS = "kymainstallations"


def records_rights(kinds: RecordKinds, *, are_installed: bool = False) -> set[Right]:
    """The rights to read and write our own records.

    Args:
        kinds: of records.
        are_installed: whether the cluster has their definitions, or the work needs none, so that they need
            not be written.
    """
    written = [one.plural for one in kinds.written]
    rights = {Right(verb, GROUP, plural) for plural in (one.plural for one in kinds.all) for verb in READ}
    rights |= {Right(verb, GROUP, plural) for plural in written for verb in ("create", "patch")}
    statuses = [one.plural for one in kinds.written if one.has_status]
    rights |= {Right("patch", GROUP, f"{plural}/status") for plural in statuses}
    # There is one KymaInstallation as long as there are records.
    rights |= {Right("delete", GROUP, plural) for plural in written if plural != INSTALLATIONS}
    if are_installed:
        return rights
    return rights | {
        Right(verb, *one) for one in _installed_objects(kinds) for verb in ("get", "create", "patch")
    }


def records_deletion_rights(kinds: RecordKinds) -> set[Right]:
    """The rights to delete our own records, once everything that they describe is deleted."""
    installed = _installed_objects(kinds)
    rights = {Right(verb, *one) for one in installed for verb in ("get", "delete")}
    # API servers grant no list by name.
    return rights | {Right(verb, *one[:2]) for one in installed for verb in ("list", "watch")}


def _installed_objects(kinds: RecordKinds) -> list[tuple[str, str, str, str]]:
    """What is installed in a cluster for our records: group, resource, namespace, name."""
    crds = [(CRDS, "customresourcedefinitions", "", one.crd_name) for one in kinds.all]
    return [*crds, (RBAC, "clusterroles", "", kinds.viewers["metadata"]["name"])]


def undo_rights(entries: Iterable[JournalEntry], served: Resources) -> set[Right]:
    """The rights to undo these writes."""
    rights: set[Right] = set()
    for entry in entries:
        resource = served(entry.api_version, entry.ref.kind)
        if resource:
            verbs = ("get", "create", "patch", "delete")
            rights |= {right_for(verb, resource, entry.ref.namespace) for verb in verbs}
    return rights


def journal_rights(ref: Ref) -> set[Right]:
    """The rights, besides those for our records, to record an object before a migration writes it."""
    if not is_of_kind(ref, SECRET_KIND):
        return set()
    # The content of a Secret is stored in another Secret.
    return {Right(verb, "", "secrets", ref.namespace) for verb in ("get", "create", "patch")}
