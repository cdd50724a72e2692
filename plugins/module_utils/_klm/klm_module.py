# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is known at one moment of a module of Kyma's lifecycle manager (KLM), as plain values. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from .._module_catalog.semantic_version import is_downgrade
from .kyma_resource import Entry, KlmStatus, Kyma


class Operator(NamedTuple):
    """The manager of a module, as it runs.

    Attributes:
        exists: whether there is one.
        version: that runs; empty if it is unknown.
        problem: why it is not healthy; empty if it is.
        is_klms: whether it has the label of KLM.
        component: the value of the label that all objects have that KLM applies for the module.
    """

    exists: bool = False
    version: str = ""
    problem: str = ""
    is_klms: bool = False
    component: str = ""


NO_OPERATOR = Operator()


@dataclass(frozen=True)
class KlmWish:
    """The user's wish for a module, as far as it concerns KLM.

    Attributes:
        channel: that the user named; empty to follow the Kyma resource.
        version, manifest: that the user named, which KLM can't have.
        has_configuration: whether the user has a configuration in place of the default one.
        policy: of the user or of our record; empty if neither says one.
        takes_over: whether modules of other tools are to be taken over.
    """

    channel: str = ""
    version: str = ""
    manifest: str = ""
    has_configuration: bool = False
    policy: str = ""
    takes_over: bool = False


@dataclass(frozen=True)
class KlmModule:
    """A module at one moment.

    Attributes:
        name: of the module.
        kyma_channel: the channel of entries that name none.
        entry: of ``spec.modules``; None if there is none.
        status: what KLM says; None if it says nothing.
        channels: the version of each channel, by KLM's catalog.
        operator: as it runs.
        sole_keys: the keys of the entry that this collection alone owns.
        writers: the other field managers that own keys of the entry, and when each last wrote.
        last_operation: when KLM last wrote its status.
        recorded_channel: the last channel in which KLM reported it to be ready, by our record.
        is_kyma_deleting: whether the runtime is being deleted.
        is_kyma_skipped: whether KLM leaves the runtime alone.
    """

    name: str
    kyma_channel: str
    entry: Entry | None = None
    status: KlmStatus | None = None
    channels: Mapping[str, str] = field(default_factory=dict)
    operator: Operator = NO_OPERATOR
    sole_keys: frozenset[str] = frozenset()
    writers: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    last_operation: str = ""
    recorded_channel: str = ""
    is_kyma_deleting: bool = False
    is_kyma_skipped: bool = False

    @property
    def running(self) -> str:
        """The version that runs: of the manager, else the one that KLM says."""
        return self.operator.version or (self.status.version if self.status else "")

    @property
    def is_given_up(self) -> bool:
        """Whether the entry has KLM leave the module alone."""
        return self.entry is not None and self.entry.get("managed") is False

    @property
    def is_unmanaged(self) -> bool:
        """Whether KLM has let the module go: only then its entry may be removed without a deletion."""
        is_said = self.status is not None and self.status.state == "Unmanaged"
        return self.is_given_up and is_said and not self.operator.is_klms

    @property
    def is_lookup_error(self) -> bool:
        """Whether KLM does not find what the entry wants."""
        return self.status is not None and self.status.is_lookup_error

    @property
    def channel(self) -> str:
        """The channel that the entry follows now."""
        return str((self.entry or {}).get("channel") or self.kyma_channel)

    def channel_after(self, desired: Entry) -> str:
        """The channel once an entry is applied, which takes no channel from others that it does not name."""
        leaves = "channel" not in desired and "channel" not in self.sole_keys
        return self.channel if leaves else str(desired.get("channel") or self.kyma_channel)

    def version_after(self, desired: Entry) -> str:
        """The version that KLM runs once an entry is applied; empty if its channel has none."""
        return self.channels.get(self.channel_after(desired), "")

    def goes_down(self, version: str) -> bool:
        """Whether a version is older than the one that runs."""
        return bool(self.running and is_downgrade(self.running, version, self.channels))

    def safe_channel(self) -> str:
        """The channel with which KLM finds the module and does not go down; empty if none is known."""
        known = (self.recorded_channel, self.channel, self.kyma_channel, *self.channels)
        versions = ((one, self.channels.get(one, "")) for one in known)
        return next((one for one, version in versions if version and not self.goes_down(version)), "")

    def describe_channels(self) -> str:
        """The channels with their versions, for a message."""
        listed = ", ".join(f"{name} ({version})" for name, version in sorted(self.channels.items()))
        return f"Channels: {listed or 'none'}"


def module_at(
    name: str, kyma: Kyma, channels: Mapping[str, str], operator: Operator, recorded_channel: str
) -> KlmModule:
    """A module as the Kyma resource has it.

    Args:
        name: of the module.
        kyma: the resource as it was read.
        channels: the version of each channel, by KLM's catalog.
        operator: as it runs.
        recorded_channel: see :class:`KlmModule`.
    """
    entry = kyma.entries.get(name)
    writers = {key: kyma.writer_of(name, key) for key in entry or ()}
    return KlmModule(
        name,
        kyma.channel,
        entry=entry,
        status=kyma.statuses.get(name),
        channels=channels,
        operator=operator,
        sole_keys=kyma.sole_keys(name),
        writers={key: writer for key, writer in writers.items() if writer[0]},
        last_operation=kyma.last_operation,
        recorded_channel=recorded_channel,
        is_kyma_deleting=kyma.is_deleting,
        is_kyma_skipped=kyma.is_skipped,
    )
