# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Other clients of the Kyma resource, as they write it: Kyma's command line and its dashboard."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, Object

from tests.support.klm import PLACE

_KNOWN_TO_CLI = ("name", "channel", "customResourcePolicy", "managed", "controller")
Edit = Callable[[list[Object]], None]
"""Changes a list of entries in place."""


def _read(cluster: Cluster) -> Object:
    kyma = cluster.get(*PLACE)
    assert kyma is not None, "there is no Kyma resource"
    return kyma


@dataclass(frozen=True)
class KymaCli:
    """Kyma's command line (e215614): a GET, and a PUT of a struct that lacks fields.

    Attributes:
        cluster: of the Kyma.
        between: called between GET and PUT. A PUT that another write came before is a Conflict.
    """

    cluster: Cluster
    between: Callable[[], None] = lambda: None

    def add(self, name: str, channel: str = "", *, default_cr: bool = False) -> None:
        """Add a module, or overwrite channel and policy of its entry (internal/kube/kyma/kyma.go:304)."""
        policy = "CreateAndDelete" if default_cr else "Ignore"
        fields = {"customResourcePolicy": policy, **({"channel": channel} if channel else {})}

        def edit(entries: list[Object]) -> None:
            for entry in entries:
                if entry["name"] == name:
                    entry.pop("channel", None)
                    entry.update(fields)
                    return
            entries.append({"name": name, **fields})

        self._update(edit)

    def delete(self, name: str) -> None:
        """Remove the entry of a module (kyma.go:323)."""

        def edit(entries: list[Object]) -> None:
            entries[:] = [entry for entry in entries if entry["name"] != name]

        self._update(edit)

    def manage(self, name: str, policy: str = "CreateAndDelete") -> None:
        """Let KLM manage a module again (kyma.go:331)."""
        self._set(name, managed=True, customResourcePolicy=policy)

    def unmanage(self, name: str) -> None:
        """Let KLM give a module up; the policy becomes Ignore (kyma.go:345)."""
        self._set(name, managed=False, customResourcePolicy="Ignore")

    def _set(self, name: str, **fields: Any) -> None:
        def edit(entries: list[Object]) -> None:
            next(entry for entry in entries if entry["name"] == name).update(fields)

        self._update(edit)

    def _update(self, edit: Edit) -> None:
        kyma = _read(self.cluster)
        entries = [
            {key: entry[key] for key in _KNOWN_TO_CLI if key in entry}
            for entry in kyma["spec"].get("modules") or ()
        ]
        edit(entries)
        self.between()
        # A PUT replaces the spec (types.go:108): as a merge patch, what the struct lacks is null.
        spec: Object = dict.fromkeys(kyma["spec"])
        spec |= {"channel": kyma["spec"]["channel"], "modules": entries}
        patch = {"metadata": {"resourceVersion": kyma["metadata"]["resourceVersion"]}, "spec": spec}
        self.cluster.with_field_manager("kyma").patch(*PLACE, patch)


@dataclass(frozen=True)
class Busola:
    """Kyma's dashboard (5d1c5fb): a JSON patch by the index that a module had when the page was read.

    Without a ``test``, it may hit another entry (src/components/Modules/KymaModulesEdit.tsx:355).

    Attributes:
        cluster: of the Kyma.
        between: called between the read and the patch.
    """

    cluster: Cluster
    between: Callable[[], None] = lambda: None

    def set_channel(self, name: str, channel: str) -> None:
        """Choose the channel of a module."""
        self._patch(name, "add", "/channel", channel)

    def set_managed(self, name: str, *, is_managed: bool) -> None:
        """Set or clear the checkbox of a module."""
        self._patch(name, "replace", "/managed", is_managed)

    def remove(self, name: str) -> None:
        """Remove the entry of a module."""
        self._patch(name, "remove", "")

    def add(self, name: str, channel: str = "") -> None:
        """Append the entry of a module."""
        entry = {"name": name, "managed": True, **({"channel": channel} if channel else {})}
        path = "/spec/modules/-" if "modules" in _read(self.cluster)["spec"] else "/spec/modules"
        value = entry if path.endswith("-") else [entry]
        self._send({"op": "add", "path": path, "value": value})

    def _patch(self, name: str, operation: str, field: str, value: Any = None) -> None:
        entries = _read(self.cluster)["spec"]["modules"]
        index = next(number for number, entry in enumerate(entries) if entry["name"] == name)
        given = {} if operation == "remove" else {"value": value}
        self._send({"op": operation, "path": f"/spec/modules/{index}{field}", **given})

    def _send(self, operation: Object) -> None:
        self.between()
        self.cluster.with_field_manager("Mozilla").patch(*PLACE, [operation])
