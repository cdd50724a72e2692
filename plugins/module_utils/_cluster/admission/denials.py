# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who lets the API server refuse the collection's own records, and the command that ends it.

No run can repair that, so its message must not advise to run again first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress

from ..cluster import Cluster, Object, Ref, ref_of
from ..errors import ApiError, ClusterError
from ..own_objects import LIFECYCLE_NAMESPACE
from .matching import CONFIGURATION_KINDS

ENDED_BY = "no run can write until you have run"

_API_VERSION = "admissionregistration.k8s.io/v1"
_NAME = r"([\w.:-]+)"
_WEBHOOK = re.compile(rf'(?:failed calling webhook|admission webhook) "{_NAME}"')
_CONDITION = re.compile(r"expression '(.*)' resulted in error", re.DOTALL)
_DENIERS = {
    "ValidatingAdmissionPolicy": re.compile(rf"ValidatingAdmissionPolicy '{_NAME}' (?:with|denied)"),
    "MutatingAdmissionPolicy": re.compile(rf"policy ['\"]{_NAME}['\"] (?:with|denied)"),
    "ResourceQuota": re.compile(rf"is forbidden: (?:exceeded|failed) quota: {_NAME}[,:]"),
}


def name_denier(cluster: Cluster, error: ApiError) -> None:
    """Add to the error of a write of an own record who denies it, and the command that ends it.

    Args:
        cluster: is read only for a denial whose message does not name an object.
        error: is changed if something known denies the write.
    """
    if ENDED_BY not in str(error) and (note := _denier_note(cluster, error)):
        error.args = (f"{error}; {note}",)


def _denier_note(cluster: Cluster, error: ApiError) -> str:
    """Who denies, in a sentence with the command that ends it; empty if nothing known does."""
    webhook, condition = _WEBHOOK.search(error.api_message), _CONDITION.search(error.api_message)
    if webhook:
        return _webhook_note(_configurations(cluster), name=webhook[1])
    for kind, pattern in _DENIERS.items():
        if match := pattern.search(error.api_message):
            denier_namespace = LIFECYCLE_NAMESPACE if kind == "ResourceQuota" else ""
            return _note(Ref("", kind, denier_namespace, match[1]))
    return _webhook_note(_configurations(cluster), condition=condition[1]) if condition else ""


def _note(ref: Ref) -> str:
    namespace_option = f" --namespace {ref.namespace}" if ref.namespace else ""
    return f"{ref} denies it, and {ENDED_BY} `kubectl delete {ref.kind.lower()} {ref.name}{namespace_option}`"


def _webhook_note(configurations: Sequence[Object], *, name: str = "", condition: str = "") -> str:
    for one in configurations:
        for webhook in one.get("webhooks") or ():
            conditions = [each.get("expression") for each in webhook.get("matchConditions") or ()]
            if webhook["name"] == name or (condition and condition in conditions):
                return _note(ref_of(one))
    what = f"the admission webhook {name}" if name else "an admission webhook with that condition"
    return (
        f"{what} denies it, and {ENDED_BY} `kubectl delete` with its configuration, which `kubectl get"
        " validatingwebhookconfigurations,mutatingwebhookconfigurations -o yaml` shows"
    )


def _configurations(cluster: Cluster) -> list[Object]:
    configurations: list[Object] = []
    for kind in CONFIGURATION_KINDS:
        # A user without the right to list them gets a command that shows them.
        with suppress(ClusterError):
            configurations += cluster.list(_API_VERSION, kind).items
    return configurations
