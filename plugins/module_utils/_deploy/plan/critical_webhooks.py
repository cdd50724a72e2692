# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Admission webhooks without which no run can write, as they fail closed and concern our requests: pure.

A run that can't write can't repair the server of such a webhook either.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from ..._cluster.admission.matching import (
    CONFIGURATION_KINDS,
    AdmissionRequest,
    fail_closed_webhooks,
    is_called,
)
from ..._cluster.cluster import FIELD_MANAGER, GROUP, MANAGED_BY, Object, Ref, ref_of
from ..._objects.apply.change import ObjectChange
from ..._runs.lease.lease import LEASE_API_VERSION, LEASE_NAME, LEASE_OBJECT_KIND, LIFECYCLE_NAMESPACE
from ..._runs.records.definitions import RecordKinds
from ..._runs.records.journal_records import JOURNAL_ENTRY_KIND, RUN_LABEL
from ..._runs.records.record_schema import OWNER_LABEL
from ..._text import extra_variable

_REVIEWS = {
    "selfsubjectaccessreviews": "SelfSubjectAccessReview",
    "selfsubjectrulesreviews": "SelfSubjectRulesReview",
}
NAME_LABEL = "kubernetes.io/metadata.name"
_WRITES = ("CREATE", "UPDATE", "DELETE")
_LABELS = {"Inventory": OWNER_LABEL, JOURNAL_ENTRY_KIND: RUN_LABEL}
"""The label that each record of a kind has."""
ACCESS_REVIEWS, RECORDS = "access reviews", "the records of this collection"
LEASES = f"Leases in {LIFECYCLE_NAMESPACE}"
NEW_NAMESPACE_LABELS = {NAME_LABEL: LIFECYCLE_NAMESPACE, MANAGED_BY: FIELD_MANAGER}
"""The labels of the namespace of the Leases, if a run creates it."""


@dataclass(frozen=True)
class CriticalWebhook:
    """A webhook that fails closed, and that the server asks about requests of a run.

    Attributes:
        ref: its configuration.
        name: its name.
        requests: those requests.
    """

    ref: Ref
    name: str
    requests: tuple[AdmissionRequest, ...]

    def __str__(self) -> str:
        return (
            f"{self.ref}: its webhook {self.name} has the failurePolicy Fail, and the API server asks it"
            f" about {' and '.join(dict.fromkeys(one.what for one in self.requests))}"
        )

    @property
    def deletion(self) -> str:
        """The command that deletes its configuration, which no webhook can prevent."""
        return f"kubectl delete {self.ref.kind.lower()} {self.ref.name}"


def requests_of_runs(kinds: RecordKinds) -> tuple[AdmissionRequest, ...]:
    """The requests that every run makes, besides those for the objects of its release."""
    reviews = [
        AdmissionRequest(ACCESS_REVIEWS, "CREATE", "authorization.k8s.io", resource, kind, ("v1",))
        for resource, kind in _REVIEWS.items()
    ]
    records = [
        AdmissionRequest(
            RECORDS,
            operation,
            GROUP,
            spec["names"]["plural"],
            kind := spec["names"]["kind"],
            tuple(version["name"] for version in spec["versions"]),
            labels={_LABELS[kind]: None} if kind in _LABELS else {},
        )
        for spec in (definition["spec"] for definition in kinds.written)
        for operation in _WRITES
    ]
    group, _slash, version = LEASE_API_VERSION.partition("/")
    lease = AdmissionRequest(
        LEASES, "CREATE", group, "leases", LEASE_OBJECT_KIND, (version,), LIFECYCLE_NAMESPACE, LEASE_NAME
    )
    leases = [replace(lease, operation=operation) for operation in _WRITES]
    return (*reviews, *records, *leases)


def critical_webhooks(
    configuration: Object, requests: Sequence[AdmissionRequest], namespace_labels: Mapping[str, str]
) -> list[CriticalWebhook]:
    """The critical ones of a configuration.

    Args:
        configuration: a ValidatingWebhookConfiguration or a MutatingWebhookConfiguration.
        requests: see :func:`requests_of_runs`.
        namespace_labels: of the namespace of the Leases.
    """
    try:
        return [
            CriticalWebhook(ref_of(configuration), name, called)
            for name, webhook in fail_closed_webhooks(configuration).items()
            if (called := tuple(one for one in requests if is_called(webhook, one, namespace_labels)))
        ]
    except (AttributeError, KeyError, TypeError, ValueError):
        # The API server refuses a configuration of another form.
        return []


def new_critical_webhooks(
    changes: Sequence[ObjectChange],
    requests: Sequence[AdmissionRequest],
    namespace_labels: Mapping[str, str],
    allowed: Collection[str],
) -> list[CriticalWebhook]:
    """The critical ones that changes add or change, without those that the user allows by name."""
    additions = []
    for change in changes:
        if change.after is None or change.ref.kind not in CONFIGURATION_KINDS:
            continue
        critical = critical_webhooks(change.after, requests, namespace_labels)
        if critical:
            before, after = fail_closed_webhooks(change.before), fail_closed_webhooks(change.after)
            changed = {name for name, webhook in after.items() if before.get(name) != webhook}
            additions += [one for one in critical if one.name in changed and one.name not in allowed]
    return additions


def new_webhook_problem(webhook: CriticalWebhook, names: Sequence[str], option: str) -> str:
    """Why a release must not bring a webhook, and the value of an option that allows all of these names."""
    return (
        f"{webhook}. While it does not answer, no run can write to the cluster, not even to repair it."
        f" Exclude these requests from its rules, set the failurePolicy Ignore, or allow it by name:"
        f"\n    {extra_variable(option, names)}"
    )


def silent_webhook_problem(webhook: CriticalWebhook) -> str:
    """Why an existing webhook blocks each run, and what to do."""
    return (
        f"{webhook}. It does not answer, so this run could not write. Repair the server behind it, or delete"
        f" its configuration; then run the playbook again:\n    {webhook.deletion}"
    )


def existing_webhook_warning(webhook: CriticalWebhook) -> str:
    """What an existing webhook that answers can do to runs."""
    return f"{webhook}. If it stops answering, no run can write until you delete it: `{webhook.deletion}`"
