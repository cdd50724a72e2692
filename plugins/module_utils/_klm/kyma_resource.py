# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Kyma resource, in which Kyma's lifecycle manager (KLM) gets its orders and reports: read as a value."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

from .._cluster.cluster import FIELD_MANAGER, Cluster, Object
from .._cluster.errors import ClusterError, Forbidden
from .._cluster.fields.field_owners import entries_of, owned_names, owns
from .._errors import LifecycleError
from .._loose_json import fields_at, mapping_of, mappings_in, text_of
from .._module_catalog.documents import GROUP
from .klm_rights import KYMA, klm_rights

SKIP_LABEL = f"{GROUP}/skip-reconciliation"
"""A label with which KLM leaves a whole runtime alone, if it is "true"."""
DEFAULT_CHANNEL = "regular"
"""The channel of KLM where the Kyma resource names none."""
KYMA_TEXT = f"Kyma resource {KYMA.namespace}/{KYMA.name}"

Entry: TypeAlias = Mapping[str, Any]
"""An entry of ``spec.modules``."""


class KlmStatus(NamedTuple):
    """What KLM says of a module, in ``status.modules``.

    Attributes:
        state: Ready, Processing, Warning, Error, Deleting, Unmanaged, or empty.
        version: the version that KLM wants to run; empty after an error of its lookup.
        channel: the channel of that version.
        message: of KLM; mostly empty.
        awaits_window: whether the version waits for KLM's maintenance window.
        has_template: whether KLM knows a template for it: only then it refuses to go down.
    """

    state: str = ""
    version: str = ""
    channel: str = ""
    message: str = ""
    awaits_window: bool = False
    has_template: bool = False

    @property
    def is_lookup_error(self) -> bool:
        """Whether KLM does not find what the entry wants. It unmanages and deletes nothing meanwhile."""
        is_bad = self.state in ("Error", "Warning")
        return is_bad and (not (self.version and self.has_template) or "update not allowed" in self.message)


@dataclass(frozen=True)
class Kyma:
    """The Kyma resource at one moment.

    Attributes:
        object: as it was read.
    """

    object: Object

    @property
    def uid(self) -> str:
        return str(self.object["metadata"]["uid"])

    @property
    def channel(self) -> str:
        """The channel of entries that name none."""
        return str(mapping_of(self.object.get("spec")).get("channel") or DEFAULT_CHANNEL)

    @property
    def is_deleting(self) -> bool:
        return bool(self.object["metadata"].get("deletionTimestamp"))

    @property
    def is_skipped(self) -> bool:
        """Whether a label has KLM leave the runtime alone."""
        labels = mapping_of(self.object["metadata"].get("labels"))
        return str(labels.get(SKIP_LABEL)).lower() == "true"

    @property
    def state(self) -> str:
        """The state of the runtime by KLM; empty if it has never said one."""
        return str(mapping_of(self.object.get("status")).get("state") or "")

    @property
    def last_operation(self) -> str:
        """When KLM last wrote the status, by its own clock; empty if it never did."""
        return str(fields_at(self.object, "status", "lastOperation").get("lastUpdateTime") or "")

    @cached_property
    def entries(self) -> Mapping[str, Entry]:
        """The entries of ``spec.modules``, by name, in their order."""
        listed = mappings_in(mapping_of(self.object.get("spec")).get("modules"))
        return {str(one.get("name")): one for one in listed}

    @cached_property
    def statuses(self) -> Mapping[str, KlmStatus]:
        """What KLM says of each module."""
        return {str(one.get("name")): _status(one) for one in _status_entries(self.object)}

    def names(self, module: str) -> bool:
        """Whether it names a module, as an order or in the report."""
        return module in self.entries or module in self.statuses

    def own_keys(self, module: str) -> frozenset[str]:
        """The keys of an entry that this collection owns, alone or with others."""
        ours = filter(_is_our_apply, entries_of(self.object))
        return frozenset(key for one in ours for key in owned_names(one, *_path(module)))

    def sole_keys(self, module: str) -> frozenset[str]:
        """The keys of an entry that this collection alone owns: they go if an apply leaves them out."""
        return frozenset(key for key in self.own_keys(module) if not self.writer_of(module, key)[0])

    def writer_of(self, module: str, key: str) -> tuple[str, str]:
        """The other field manager that last wrote a key of an entry, and when; empty texts if none did."""
        owners = [
            (str(one.get("time") or ""), str(one.get("manager") or ""))
            for one in entries_of(self.object)
            if not _is_our_apply(one) and owns(one, *_path(module), f"f:{key}")
        ]
        when, manager = max(owners, default=("", ""))
        return manager, when


def may_have_klm(cluster: Cluster) -> bool:
    """Whether the kind of the Kyma resource is served, by discovery, which every user may read."""
    return bool(cluster.served(KYMA.group, KYMA.kind))


def read_kyma(cluster: Cluster) -> Kyma | None:
    """The Kyma resource; None if its kind is not served, or if it does not exist: there is no KLM then.

    Every user may read discovery, so a cluster without KLM needs no right for this.

    Raises:
        LifecycleError: the kind is served, and the resource can't be read: that is no proof of anything.
    """
    served = cluster.served(KYMA.group, KYMA.kind)
    if not served:
        return None
    try:
        live = cluster.get(*KYMA.in_version(served[0].api_version))
    except ClusterError as error:
        raise LifecycleError(
            f"whether Kyma's lifecycle manager manages this cluster can't be read, so nothing is done: the"
            f" {KYMA_TEXT} can't be read: {_reason(cluster, error)}"
        ) from error
    return Kyma(live) if live else None


def _reason(cluster: Cluster, error: ClusterError) -> str:
    if not isinstance(error, Forbidden):
        return str(error)
    from .._objects.access.review import describe_missing_rights, missing_rights

    missing = missing_rights(cluster, klm_rights())
    return describe_missing_rights(cluster, missing, "module")[0] if missing else str(error)


def _status_entries(kyma: Object) -> list[Mapping[str, Any]]:
    return list(mappings_in(mapping_of(kyma.get("status")).get("modules")))


def _status(entry: Mapping[str, Any]) -> KlmStatus:
    return KlmStatus(
        state=text_of(entry.get("state")),
        version=text_of(entry.get("version")),
        channel=text_of(entry.get("channel")),
        message=text_of(entry.get("message")),
        awaits_window=bool(entry.get("maintenance")),
        has_template=bool(entry.get("template")),
    )


def _is_our_apply(owner: Mapping[str, Any]) -> bool:
    return (owner.get("manager"), owner.get("operation"), owner.get("subresource") or "") == (
        FIELD_MANAGER,
        "Apply",
        "",
    )


def _path(module: str) -> tuple[str, ...]:
    """The path of an entry in the fields of an owner."""
    return "f:spec", "f:modules", f"k:{json.dumps({'name': module}, separators=(',', ':'))}"
