# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The requests that every run makes, besides those for the objects of its release.

A plan asks the API server by dry runs whether it lets a run write. What a release brings is matched with
the requests themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

from ..._cluster.admission.denials import Denier, denier_of, is_denial
from ..._cluster.admission.matching import AdmissionRequest
from ..._cluster.cluster import FIELD_MANAGER, GROUP, MANAGED_BY, VERSION, Cluster, Object, address_of
from ..._cluster.errors import (
    ApiError,
    ClusterError,
    Forbidden,
    Invalid,
    NotFound,
    is_dry_run_refused,
    silent_webhook,
)
from ..._custom_resources.resource_kind import EXAMPLE_NAME
from ..._objects.access.rights import Right, access_review, refused_right
from ..._runs.lease.lease import LEASE_API_VERSION, LEASE_NAME, LEASE_OBJECT_KIND, LIFECYCLE_NAMESPACE
from ..._runs.records.definitions import RecordKinds
from ..._threads import map_in_threads

ACCESS_REVIEWS, RECORDS = "access reviews", "the records of this collection"
LEASES = f"Leases in {LIFECYCLE_NAMESPACE}"
NAME_LABEL = "kubernetes.io/metadata.name"
NEW_NAMESPACE_LABELS = {NAME_LABEL: LIFECYCLE_NAMESPACE, MANAGED_BY: FIELD_MANAGER}
"""The labels of the namespace of the Leases, if a run creates it."""
_WRITES = ("CREATE", "UPDATE", "DELETE")


def requests_of_runs(kinds: RecordKinds, namespace: Mapping[str, str]) -> list[AdmissionRequest]:
    """These requests, as admission sees them.

    Args:
        kinds: of the records that a run writes.
        namespace: the labels of the namespace of the Leases.
    """
    reviews = ("selfsubjectaccessreviews", "selfsubjectrulesreviews")
    requests = [
        AdmissionRequest(ACCESS_REVIEWS, "CREATE", "authorization.k8s.io", "v1", one) for one in reviews
    ]
    for one in kinds.written:
        status = [("UPDATE", f"{one.plural}/status")] if one.has_status else []
        requests += [
            AdmissionRequest(RECORDS, operation, GROUP, VERSION, resource, labels=dict.fromkeys(one.labels))
            for operation, resource in [*((each, one.plural) for each in _WRITES), *status]
        ]
    group, _slash, version = LEASE_API_VERSION.partition("/")
    place = (LIFECYCLE_NAMESPACE, LEASE_NAME)
    return requests + [
        AdmissionRequest(LEASES, each, group, version, "leases", *place, namespace_labels=namespace)
        for each in _WRITES
    ]


class RequestRefusal(NamedTuple):
    """A refusal of what every run writes.

    Attributes:
        name: of the webhook or other object that refuses it; empty if that is unknown.
        message: for the user, with what ends it.
    """

    name: str
    message: str


def refused_requests(
    cluster: Cluster, kinds: RecordKinds, configurations: Callable[[], Sequence[Object]], *, are_current: bool
) -> list[RequestRefusal]:
    """Why admission would refuse what every run writes: the server is asked by dry runs.

    A missing right is no such reason, and neither is a kind or a namespace that the run creates first.

    Args:
        cluster: the live one.
        kinds: of the records that a run writes.
        configurations: reads those of webhooks, see :func:`~.denials.webhook_configurations`.
        are_current: whether the server uses these definitions. Others may refuse the form of a record.
    """
    rules = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview", "metadata": {}}
    lease = {"name": LEASE_NAME, "namespace": LIFECYCLE_NAMESPACE}
    trials: list[tuple[str, Object, bool]] = [
        (ACCESS_REVIEWS, access_review(Right("get", "", "namespaces")), False),
        (ACCESS_REVIEWS, {**rules, "spec": {"namespace": "default"}}, False),
        *((RECORDS, one.example_object(), one.has_status) for one in kinds.written),
        (LEASES, {"apiVersion": LEASE_API_VERSION, "kind": LEASE_OBJECT_KIND, "metadata": lease}, False),
    ]
    errors = map_in_threads(lambda one: _refusal(cluster, *one[1:], are_current=are_current), trials)
    refused: dict[Denier, tuple[ApiError, list[str]]] = {}
    for (what, *_trial), error in zip(trials, errors, strict=True):
        if error:
            denier = denier_of(error, configurations) or Denier("", str(error), "")
            refused.setdefault(denier, (error, []))[1].append(what)
    return [RequestRefusal(one.name, _message(one, *some)) for one, some in refused.items()]


def _message(denier: Denier, error: ApiError, concerned: Sequence[str]) -> str:
    if not denier.command:
        return (
            f"{error}. A run writes such objects, so this one could not write. If nothing in the cluster"
            " refuses or changes them, this is a defect of kyma.lifecycle: report it"
        )
    if not silent_webhook(error):
        return f"{error}; {denier.note}"
    effect = webhook_effect(denier.name, concerned)
    return (
        f"{denier.description}: {effect}. It does not answer, so this run could not write. Repair the server"
        f" behind it, or delete its configuration; then run the playbook again:\n    {denier.command}"
    )


def webhook_effect(name: str, concerned: Iterable[str]) -> str:
    """What a webhook does to requests, as the end of a sentence."""
    what = " and ".join(dict.fromkeys(concerned))
    return f"its webhook {name} has the failurePolicy Fail, and the API server asks it about {what}"


def _refusal(cluster: Cluster, example: Object, has_status: bool, *, are_current: bool) -> ApiError | None:
    """The first refusal by admission of dry runs with an object, or with a live one of its kind."""
    for trial in _trials(cluster, example, has_status):
        try:
            trial()
        except ApiError as error:
            # A missing right is reported with the roles that grant it. A live record may have an old form.
            is_denied = is_denial(error) or (isinstance(error, Forbidden) and not refused_right(str(error)))
            is_misformed = isinstance(error, Invalid) and are_current and trial.func != cluster.patch
            if (is_denied or is_misformed) and not is_dry_run_refused(error):
                return error
        except ClusterError:
            # The kind is not served yet. If there is no answer, the plan ends anyway.
            break
    return None


def _trials(cluster: Cluster, example: Object, has_status: bool) -> Iterator[partial[Any]]:
    name = example["metadata"].get("name")
    if not name:
        yield partial(cluster.create, example, dry_run=True)
    elif name != EXAMPLE_NAME:
        # No run deletes it.
        yield partial(_change, cluster, example)
        if has_status:
            yield partial(cluster.patch, *address_of(example), {}, subresource="status", dry_run=True)
    else:
        yield partial(cluster.create, example, dry_run=True)
        for live in _first_of_kind(cluster, *address_of(example)[:2]):
            yield partial(cluster.patch, *address_of(live), {}, dry_run=True)
            if has_status:
                yield partial(cluster.patch, *address_of(live), {}, subresource="status", dry_run=True)
            yield partial(cluster.delete, *address_of(live), uid=live["metadata"]["uid"], dry_run=True)


def _change(cluster: Cluster, example: Object) -> None:
    """Change the only object of its kind, or create it: then the server checks no quota without need."""
    try:
        cluster.patch(*address_of(example), {}, dry_run=True)
    except NotFound:
        cluster.create(example, dry_run=True)


def _first_of_kind(cluster: Cluster, api_version: str, kind: str) -> list[Object]:
    with suppress(ClusterError):
        return cluster.list(api_version, kind, metadata_only=True).items[:1]
    return []
