# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From the user's options to the entry of a module in the Kyma resource, with each refusal. Pure."""

from __future__ import annotations

from .._cluster.cluster import Object
from .._module_catalog.documents import API_VERSION
from .._objects.apply.change import ObjectChange
from .._runs.records.modules import CREATE_AND_DELETE
from .._text import suggestion
from .klm_module import KlmModule, KlmWish
from .klm_rights import KYMA
from .kyma_resource import KYMA_TEXT, Entry

POLICY = "customResourcePolicy"
CREATES, IGNORES = "CreateAndDelete", "Ignore"


def desired_entry(module: KlmModule, wish: KlmWish) -> Entry:
    """The entry of a managed module, with only the keys that this collection writes."""
    current = (module.entry or {}).get(POLICY) or CREATES
    policy = (CREATES if wish.policy == CREATE_AND_DELETE else IGNORES) if wish.policy else current
    if wish.has_configuration:
        policy = IGNORES
    channel = {"channel": wish.channel} if wish.channel else {}
    return {"name": module.name, **channel, POLICY: policy, "managed": True}


def unmanaged_entry(module: KlmModule) -> Entry:
    """The entry with which KLM lets the module go; its channel and policy stay."""
    known = {key: value for key, value in (module.entry or {}).items() if key in ("channel", POLICY)}
    return {"name": module.name, **known, "managed": False}


def in_channel(module: KlmModule, channel: str) -> Entry:
    """The entry as it is, in another channel."""
    return {**unmanaged_entry(module), "channel": channel, "managed": not module.is_given_up}


def merged_entry(module: KlmModule, desired: Entry) -> Entry:
    """The entry after an apply: the keys of others stay, and our own that are not desired go."""
    staying = {key: value for key, value in (module.entry or {}).items() if key not in module.sole_keys}
    return {**staying, **desired}


def entry_change(module: KlmModule, after: Entry | None) -> ObjectChange | None:
    """The change of an entry, as one of the Kyma resource without anything else; None if there is none."""

    def kyma_with(entry: Entry | None) -> Object:
        meta = {"name": KYMA.name, "namespace": KYMA.namespace}
        modules = [dict(entry)] if entry is not None else []
        return {"apiVersion": API_VERSION, "kind": KYMA.kind, "metadata": meta, "spec": {"modules": modules}}

    before = None if module.entry is None else {POLICY: CREATES, "managed": True, **module.entry}
    return None if before == after else ObjectChange(KYMA, kyma_with(before), kyma_with(after))


def is_written(module: KlmModule, desired: Entry) -> bool:
    """Whether the Kyma resource has an entry already: nothing is written then."""
    if module.entry is None:
        return False
    entry = {POLICY: CREATES, "managed": True, **module.entry}
    is_equal = all(entry.get(key) == value for key, value in desired.items())
    return is_equal and module.sole_keys <= desired.keys()


def explain_refusal(module: KlmModule, wish: KlmWish) -> str:
    """Why KLM can't have a managed module as the user wants it, and what to do; empty if it can."""
    name = module.name
    if wish.version:
        channel = wish.channel or module.channel
        today = module.channels.get(channel, "")
        offer = f"Channel {channel} has {today} today: set channel: {channel}" if today else "Set a channel"
        stay = f", or state: unmanaged to stay on {module.running}" if module.running else ""
        return (
            f"{name} is managed by Kyma's lifecycle manager (KLM), whose Kyma resource has no field for a"
            f" version. {offer}{stay}"
        )
    if wish.manifest:
        return (
            f"manifest has no effect on {name}, which Kyma's lifecycle manager (KLM) manages: its manifest"
            " comes from KLM's registry. Remove the option"
        )
    if wish.takes_over and module.entry is not None:
        return (
            f"{name} can't be taken over while the {KYMA_TEXT} has an entry for it: Kyma's lifecycle manager"
            " (KLM) would write it back every 30 s. Set state: unmanaged first"
        )
    return _explain_channel(module, desired_entry(module, wish))


def _explain_channel(module: KlmModule, desired: Entry) -> str:
    name, channel, version = module.name, module.channel_after(desired), module.version_after(desired)
    if not version:
        hint = f"D{text[1:]} " if (text := suggestion(channel, module.channels)) else ""
        where = "" if "channel" in desired else f", which is the channel of the {KYMA_TEXT}"
        return (
            f"module {name}: Kyma's lifecycle manager (KLM) has no channel {channel} of it{where}."
            f" {hint}{module.describe_channels()}"
        )
    moves = module.entry is None or module.is_given_up or module.channel != channel
    if not (moves and module.goes_down(version)):
        return ""
    current = module.status.channel if module.status and module.status.channel else ""
    where = f" (channel {current})" if current else ""
    if module.is_given_up:
        return (
            f"{name} {module.running} runs, and channel {channel} has {version}. If Kyma's lifecycle manager"
            " (KLM) managed it again, it would really go down. Choose a channel with"
            f" {module.running} or newer, or remove the module and install it. {module.describe_channels()}"
        )
    return (
        f"{name} {module.running} runs{where}, channel {channel} has {version}. Kyma's lifecycle manager"
        f" (KLM) does not go down: choose a channel with {module.running} or newer, or remove the module and"
        f" install it. {module.describe_channels()}"
    )
