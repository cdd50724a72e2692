# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who lets the API server refuse the collection's own records, and the command that ends it.

No run can repair that, so its message must not advise to run again first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..._threads import map_in_threads
from ..cluster import Cluster, Object, Ref, ref_of
from ..errors import ApiError, ClusterError
from ..own_objects import ENDED_BY, LIFECYCLE_NAMESPACE
from .matching import CONFIGURATION_KINDS

_API_VERSION = "admissionregistration.k8s.io/v1"
_NAME = r"([\w.:-]+)"
_WEBHOOK, _CONDITION = "webhook", "condition"
_DENIALS = {
    _WEBHOOK: re.compile(rf'(?:failed calling webhook|admission webhook) "{_NAME}"'),
    "ValidatingAdmissionPolicy": re.compile(rf"ValidatingAdmissionPolicy '{_NAME}' (?:with|denied)"),
    "MutatingAdmissionPolicy": re.compile(rf"policy ['\"]{_NAME}['\"] (?:with|denied)"),
    "ResourceQuota": re.compile(rf"is forbidden: (?:exceeded|failed) quota: {_NAME}[,:]"),
    _CONDITION: re.compile(r"expression '(.*)' resulted in error", re.DOTALL),
}
"""The server's words, by what denies. The first one counts: a webhook may say what it likes."""


class Denier(NamedTuple):
    """Who denies a write.

    Attributes:
        name: of the webhook, policy or quota; empty if it is unknown.
        description: of its object, as far as it is known.
        command: that deletes this object, or shows the objects that it may be.
    """

    name: str
    description: str
    command: str

    @property
    def note(self) -> str:
        """Who denies, in a sentence with the command that ends it."""
        denial = f"{self.description} denies it, and {ENDED_BY}"
        if self.command.startswith("kubectl delete "):
            return f"{denial} `{self.command}`"
        return f"{denial} `kubectl delete` with its configuration, which `{self.command}` shows"


def name_denier(cluster: Cluster, error: ApiError) -> None:
    """Add to the error of a write of an own record who denies it, and the command that ends it.

    Args:
        cluster: is read only for a denial whose message does not name an object.
        error: is changed if something known denies the write.
    """
    if ENDED_BY not in str(error) and (denier := denier_of(error, lambda: webhook_configurations(cluster))):
        error.args = (f"{error}; {denier.note}",)


def is_denial(error: ApiError) -> bool:
    """Whether something known denies a write."""
    return any(pattern.search(error.api_message) for pattern in _DENIALS.values())


def denier_of(error: ApiError, configurations: Callable[[], Sequence[Object]]) -> Denier | None:
    """Who denies a write; None if nothing known does.

    Args:
        error: of the write.
        configurations: reads those of webhooks, if one of them denies.
    """
    matches = ((kind, pattern.search(error.api_message)) for kind, pattern in _DENIALS.items())
    kind, name = next(((kind, match[1]) for kind, match in matches if match), ("", ""))
    if not kind:
        return None
    if kind not in (_WEBHOOK, _CONDITION):
        return _denier(name, Ref("", kind, LIFECYCLE_NAMESPACE if kind == "ResourceQuota" else "", name))
    for one in configurations():
        for webhook in one.get("webhooks") or ():
            conditions = [each.get("expression") for each in webhook.get("matchConditions") or ()]
            if name in ([webhook["name"]] if kind == _WEBHOOK else conditions):
                return _denier(webhook["name"], ref_of(one))
    show = "kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations -o yaml"
    if kind == _WEBHOOK:
        return Denier(name, f"the admission webhook {name}", show)
    return Denier("", "an admission webhook with that condition", show)


def deletion_command(ref: Ref) -> str:
    """The command that deletes an object, which no webhook or policy can prevent."""
    place = f" --namespace {ref.namespace}" if ref.namespace else ""
    return f"kubectl delete {ref.kind.lower()} {ref.name}{place}"


def webhook_configurations(cluster: Cluster) -> list[Object]:
    """All configurations of admission webhooks; none of a kind that can't be read."""

    def configurations(kind: str) -> list[Object]:
        try:
            return cluster.list(_API_VERSION, kind).items
        except ClusterError:
            # Their owners are unknown then, and a message has a command that shows them.
            return []

    return [one for some in map_in_threads(configurations, CONFIGURATION_KINDS) for one in some]


def _denier(name: str, ref: Ref) -> Denier:
    return Denier(name, str(ref), deletion_command(ref))
