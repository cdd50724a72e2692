# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The requests that every run makes, besides those for the objects of its release: pure."""

from __future__ import annotations

from dataclasses import replace

from ..._cluster.admission.matching import AdmissionRequest
from ..._cluster.cluster import FIELD_MANAGER, GROUP, MANAGED_BY
from ..._runs.lease.lease import LEASE_API_VERSION, LEASE_NAME, LEASE_OBJECT_KIND, LIFECYCLE_NAMESPACE
from ..._runs.records.definitions import RecordKinds
from ..._runs.records.journal_records import JOURNAL_ENTRY_KIND, RUN_LABEL
from ..._runs.records.record_schema import OWNER_LABEL

_REVIEWS = {
    "selfsubjectaccessreviews": "SelfSubjectAccessReview",
    "selfsubjectrulesreviews": "SelfSubjectRulesReview",
}
NAME_LABEL = "kubernetes.io/metadata.name"
_WRITES = ("CREATE", "UPDATE", "DELETE")
_LABELS = {"KymaInventory": OWNER_LABEL, JOURNAL_ENTRY_KIND: RUN_LABEL}
"""The label that each record of a kind has."""
ACCESS_REVIEWS, RECORDS = "access reviews", "the records of this collection"
LEASES = f"Leases in {LIFECYCLE_NAMESPACE}"
NEW_NAMESPACE_LABELS = {NAME_LABEL: LIFECYCLE_NAMESPACE, MANAGED_BY: FIELD_MANAGER}
"""The labels of the namespace of the Leases, if a run creates it."""


def requests_of_runs(kinds: RecordKinds) -> tuple[AdmissionRequest, ...]:
    """These requests, given the kinds of the records that a run writes."""
    reviews = [
        AdmissionRequest(ACCESS_REVIEWS, "CREATE", "authorization.k8s.io", resource, kind, ("v1",))
        for resource, kind in _REVIEWS.items()
    ]
    records = [
        AdmissionRequest(
            RECORDS,
            operation,
            GROUP,
            one.plural,
            one.kind,
            (one.address[0].rpartition("/")[2],),
            labels={_LABELS[one.kind]: None} if one.kind in _LABELS else {},
        )
        for one in kinds.written
        for operation in _WRITES
    ]
    statuses = {one.plural for one in kinds.written if one.has_status}
    records += [
        replace(one, resource=f"{one.resource}/status")
        for one in records
        if one.operation == "UPDATE" and one.resource in statuses
    ]
    group, _slash, version = LEASE_API_VERSION.partition("/")
    lease = AdmissionRequest(
        LEASES, "CREATE", group, "leases", LEASE_OBJECT_KIND, (version,), LIFECYCLE_NAMESPACE, LEASE_NAME
    )
    leases = [replace(lease, operation=operation) for operation in _WRITES]
    return (*reviews, *records, *leases)
