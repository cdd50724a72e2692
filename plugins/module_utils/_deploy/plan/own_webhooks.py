# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Webhooks of a release that don't answer, during the plan of a run that may repair them."""

from __future__ import annotations

import threading
from collections.abc import Collection

from ..._cluster.admission.denials import webhook_configurations
from ..._cluster.cluster import Cluster, Object, Ref, ref_of


class OwnWebhooks:
    """Decides which webhooks of a cluster are ours, and records those that were asked for.

    It reads the cluster only when first asked; usable from several threads.

    Args:
        cluster: the live one.
        ours: all objects of the release and of the inventories.
    """

    def __init__(self, cluster: Cluster, ours: Collection[Ref]) -> None:
        self._cluster = cluster
        self._ours = ours
        self._lock = threading.RLock()
        self._configurations: list[Object] | None = None
        self._silent: dict[str, Ref] = {}

    def is_own(self, name: str) -> bool:
        """Whether a webhook that doesn't answer is in a configuration of ours.

        Args:
            name: the name of the webhook, not of its configuration.
        """
        with self._lock:
            if name not in self._silent:
                refs = [ref_of(one) for one in self.configurations() if _has(one, name)]
                self._silent.update((name, ref) for ref in refs if ref in self._ours)
            return name in self._silent

    @property
    def warnings(self) -> list[str]:
        """One warning for each of our webhooks that doesn't answer."""
        return [
            f"{ref}: its webhook {name} does not answer; objects that it validates are unverified. If the "
            f"run fails because of it, delete {ref.kind} {ref.name}, and run the playbook again: it "
            f"recreates it"
            for name, ref in sorted(self._silent.items())
        ]

    def configurations(self) -> list[Object]:
        """All configurations of webhooks, see :func:`~.denials.webhook_configurations`."""
        with self._lock:
            if self._configurations is None:
                self._configurations = webhook_configurations(self._cluster)
            return self._configurations


def _has(configuration: Object, name: str) -> bool:
    return any(webhook.get("name") == name for webhook in configuration.get("webhooks") or ())
