# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether Kyma's lifecycle manager (KLM) manages a module, and what happens to it then. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ..._cluster.cluster import Ref
from ..._klm.klm_entry import POLICY, desired_entry, explain_refusal
from ..._klm.klm_module import KlmModule, KlmWish
from ..._klm.klm_steps import MANAGE, RELEASE, REMOVE, KlmGoal, next_klm_step
from ..._klm.klm_steps import UNMANAGE as LET_GO
from ..._klm.kyma_resource import KYMA_TEXT, Entry, Kyma
from ..._runs.records.modules import (
    ABSENT,
    DELETING,
    ERROR,
    GIVEN_UP,
    IGNORE,
    KLM,
    MANAGED,
    NOT_INSTALLED,
    PROCESSING,
    UNMANAGED,
    ModuleRecord,
)
from ..decision import (
    ADOPT,
    DELETE,
    INSTALL,
    KEEP,
    LEAVE,
    REFUSE,
    UNMANAGE,
    UPGRADE,
    ModuleDecision,
    ModuleFacts,
    decide_skipped,
)


class KlmFacts(NamedTuple):
    """What the decision on a module of KLM is made from, besides the facts that each module has.

    Attributes:
        module: as it is.
        wish: the user's.
        is_in_our_catalog: whether the catalog of the run has it, too.
        kinds: that its templates name: those that block its removal.
        default_configurations: what KLM itself creates and deletes of these kinds.
    """

    module: KlmModule
    wish: KlmWish
    is_in_our_catalog: bool = False
    kinds: frozenset[tuple[str, str]] = frozenset()
    default_configurations: frozenset[Ref] = frozenset()


def is_managed_by_klm(
    name: str,
    kyma: Kyma,
    record: ModuleRecord | None,
    wish: KlmWish,
    channels: Mapping[str, str] | None,
    *,
    is_new: bool,
    is_ours: bool,
) -> bool:
    """Whether KLM manages a module, or would if it were installed.

    Args:
        name: of the module.
        kyma: the Kyma resource of the cluster.
        record: our record of the module.
        wish: the user's.
        channels: the version of each channel in KLM's catalog; None if it has no such module.
        is_new: whether the user wants the module, so that somebody has to install it.
        is_ours: whether the catalog of the run has it.
    """
    if kyma.names(name):
        return True
    if record is not None and record.is_managed:
        return record.managed_by == KLM
    if channels is None or not is_new:
        return False
    is_refused = bool(wish.version or wish.manifest)
    return is_refused or (wish.channel or kyma.channel) in channels or not is_ours


def decide_on_klm(facts: ModuleFacts, klm: KlmFacts) -> ModuleDecision:
    """What happens to a module that KLM manages."""
    module = klm.module
    if not facts.desired_state:
        return ModuleDecision(LEAVE, facts.record.status.state if facts.record else PROCESSING)
    skipped = decide_skipped(facts)
    if skipped is not None:
        return skipped
    decision = _DECISIONS[facts.desired_state](facts, klm)
    if decision.action == REFUSE or decision.goal is None:
        return decision
    step = next_klm_step(decision.goal, module)
    if module.is_kyma_deleting and not step.is_over:
        return ModuleDecision(
            REFUSE, ERROR, f"{facts.name} is not changed: the runtime is being deleted, with its {KYMA_TEXT}"
        )
    return decision


def _decide_managed(facts: ModuleFacts, klm: KlmFacts) -> ModuleDecision:
    module, wish, record = klm.module, klm.wish, facts.record
    if reason := explain_refusal(module, wish):
        return ModuleDecision(REFUSE, ERROR, reason)
    entry = desired_entry(module, wish)
    version, running = module.version_after(entry), module.running
    is_ours = record is not None and record.state == MANAGED and record.managed_by == KLM
    action = INSTALL if module.entry is None and not running else KEEP if is_ours else ADOPT
    if running and version != running and not module.goes_down(version):
        action = UPGRADE
    return ModuleDecision(
        action,
        PROCESSING,
        version=version,
        takes_back=bool(record and record.deletion_since),
        goal=KlmGoal(MANAGE, entry),
        notes=tuple(_notes(klm, entry)),
    )


def _notes(klm: KlmFacts, entry: Entry) -> Iterator[str]:
    """What the user has to know of a managed module, each said once."""
    module, current = klm.module, klm.module.entry
    if current is None and klm.is_in_our_catalog:
        yield "the catalog of this run has it, too: Kyma's lifecycle manager (KLM) of the cluster manages it"
    for key, (manager, when) in module.writers.items():
        before, after = (current or {}).get(key), entry.get(key, (current or {}).get(key))
        if before != after:
            yield f"{key} {before} → {after} in the {KYMA_TEXT} ({before} was written by {manager} at {when})"
    is_same = module.version_after(entry) == module.running
    if current is not None and is_same and current.get(POLICY, entry[POLICY]) != entry[POLICY]:
        yield (
            f"KLM applies the policy {entry[POLICY]} with the next version of the module. To have it now, set"
            " state: unmanaged, and then state: managed"
        )
    version = module.version_after(entry)
    if current is not None and module.channel == module.channel_after(entry) and module.goes_down(version):
        yield (
            f"channel {module.channel} has {version}, and {module.running} runs: KLM does not go down, and"
            " waits for a newer version"
        )


def _decide_unmanaged(facts: ModuleFacts, klm: KlmFacts) -> ModuleDecision:
    module = klm.module
    if module.entry is None and module.status is None:
        return ModuleDecision(LEAVE, NOT_INSTALLED, "there is nothing to unmanage")
    if module.entry is None:
        return ModuleDecision(
            REFUSE,
            ERROR,
            f"{facts.name} has no entry in the {KYMA_TEXT}, and KLM still deletes it, so it can't be"
            " unmanaged. Set state: managed to have it back first",
        )
    is_known = facts.record is not None and facts.record.state == UNMANAGED
    if is_known and facts.record is not None and facts.record.managed_by != KLM and not module.is_given_up:
        note = (
            "this collection has given it up, and Kyma's lifecycle manager (KLM) manages it by an entry of"
            " others. To have KLM let it go, set state: managed first"
        )
        return ModuleDecision(LEAVE, GIVEN_UP, notes=(note,))
    action = LEAVE if is_known and module.is_unmanaged else UNMANAGE
    return ModuleDecision(action, GIVEN_UP, goal=KlmGoal(LET_GO))


def _decide_absent(facts: ModuleFacts, klm: KlmFacts) -> ModuleDecision:
    module, record = klm.module, facts.record
    if module.entry is None and record is None:
        return ModuleDecision(LEAVE, DELETING, "Kyma's lifecycle manager (KLM) is deleting it")
    stays = facts.policy == IGNORE and not facts.ignoring_deletes
    if stays or module.is_unmanaged:
        return ModuleDecision(UNMANAGE, GIVEN_UP, goal=KlmGoal(RELEASE))
    return ModuleDecision(DELETE, DELETING, goal=KlmGoal(REMOVE))


_DECISIONS = {MANAGED: _decide_managed, UNMANAGED: _decide_unmanaged, ABSENT: _decide_absent}
