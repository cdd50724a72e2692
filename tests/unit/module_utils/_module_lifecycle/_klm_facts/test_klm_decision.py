# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who manages a module, and what happens to one of KLM: two tables."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._klm.klm_module import (
    KlmModule,
    KlmWish,
    Operator,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._klm.klm_steps import (
    MANAGE,
    RELEASE,
    REMOVE,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._klm.klm_steps import (
    UNMANAGE as LET_GO,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._klm.kyma_resource import (
    KlmStatus,
    Kyma,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._module_lifecycle._klm_facts import klm_decision
from ansible_collections.kyma.lifecycle.plugins.module_utils._module_lifecycle.decision import (
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
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.modules import ModuleRecord

CHANNELS = {"regular": "1.0.0", "fast": "2.0.0"}
NAMED, REPORTED, EMPTY = (
    ({"modules": [{"name": "keda"}]}, {}),
    ({}, {"modules": [{"name": "keda"}]}),
    ({}, {}),
)
OURS, KLMS = ModuleRecord("keda"), ModuleRecord("keda", managed_by="klm")
LEFT = ModuleRecord("keda", state="unmanaged", managed_by="klm")
NO_OFFER = {"channels": None}


@pytest.mark.parametrize(
    ("kyma", "record", "wish", "more", "expected"),
    [
        # An entry or a report decides, whatever else there is.
        (NAMED, None, KlmWish(), {}, True),
        (REPORTED, None, KlmWish(), {}, True),
        (NAMED, OURS, KlmWish(version="1.0.0"), NO_OFFER, True),
        # Our record counts if the Kyma resource does not name it, also beside an offer.
        (EMPTY, OURS, KlmWish(), {}, False),
        (EMPTY, KLMS, KlmWish(), {}, True),
        (EMPTY, KLMS, KlmWish(), {"is_new": False}, True),
        (EMPTY, LEFT, KlmWish(), {"is_new": False}, False),
        # A new module is of whoever offers it. In both catalogs it is KLM's.
        (EMPTY, None, KlmWish(), {}, True),
        (EMPTY, None, KlmWish(channel="fast"), {"is_ours": True}, True),
        (EMPTY, None, KlmWish(channel="rapid"), {"is_ours": True}, False),
        (EMPTY, None, KlmWish(channel="rapid"), {}, True),
        (EMPTY, None, KlmWish(), {**NO_OFFER, "is_ours": True}, False),
        (EMPTY, None, KlmWish(), NO_OFFER, False),
        # A version of a module that KLM offers is refused, and not installed beside KLM.
        (EMPTY, None, KlmWish(version="1.0.0"), {"is_ours": True}, True),
        (EMPTY, None, KlmWish(manifest="keda.yaml"), {"is_ours": True}, True),
        (EMPTY, None, KlmWish(version="1.0.0"), {**NO_OFFER, "is_ours": True}, False),
        # Nobody wants it.
        (EMPTY, None, KlmWish(), {"is_new": False}, False),
    ],
)
def test_the_manager_of_a_module_is_derived(
    kyma: Any, record: ModuleRecord | None, wish: KlmWish, more: dict[str, Any], *, expected: bool
) -> None:
    spec, status = kyma
    resource = Kyma({"metadata": {"uid": "1"}, "spec": spec, "status": status})
    facts = {"channels": CHANNELS, "is_new": True, "is_ours": False, **more}
    assert (
        klm_decision.is_managed_by_klm("keda", resource, record, wish, facts.pop("channels"), **facts)
        is expected
    )


ENTRY = {"name": "keda", "customResourcePolicy": "CreateAndDelete", "managed": True}
READY = KlmStatus("Ready", "1.0.0", "regular", has_template=True)
LET = KlmStatus("Unmanaged", "1.0.0", "regular")
RUNS = Operator(exists=True, version="1.0.0")
INSTALLED = {"entry": ENTRY, "status": READY, "operator": RUNS}
GIVEN_UP = {"entry": {**ENTRY, "managed": False}, "status": LET, "operator": RUNS}
DELETING = {"status": KlmStatus("Deleting", "1.0.0", "regular", has_template=True), "operator": RUNS}
BEING_REMOVED = ModuleRecord("keda", state="absent", managed_by="klm", deletion_since="2026-11-30T10:00:00Z")


def decided(
    state: str,
    present: Any,
    record: ModuleRecord | None = None,
    policy: str = "create_and_delete",
    **more: Any,
) -> ModuleDecision:
    wish = more.pop("wish", KlmWish())
    module = KlmModule("keda", "regular", channels=CHANNELS, **{**present, **more.pop("module", {})})
    return klm_decision.decide_on_klm(
        ModuleFacts("keda", state, policy, record=record, **more), klm_decision.KlmFacts(module, wish)
    )


@pytest.mark.parametrize(
    ("state", "present", "record", "more", "action", "goal"),
    [
        ("managed", {}, None, {}, INSTALL, MANAGE),
        ("managed", INSTALLED, None, {}, ADOPT, MANAGE),
        ("managed", INSTALLED, KLMS, {}, KEEP, MANAGE),
        ("managed", INSTALLED, KLMS, {"wish": KlmWish(channel="fast")}, UPGRADE, MANAGE),
        ("managed", GIVEN_UP, LEFT, {}, ADOPT, MANAGE),
        ("managed", DELETING, BEING_REMOVED, {}, ADOPT, MANAGE),
        ("managed", {}, None, {"wish": KlmWish(version="1.0.0")}, REFUSE, None),
        ("managed", INSTALLED, KLMS, {"module": {"is_kyma_deleting": True}}, KEEP, MANAGE),
        ("managed", {}, None, {"module": {"is_kyma_deleting": True}}, REFUSE, None),
        ("unmanaged", INSTALLED, KLMS, {}, UNMANAGE, LET_GO),
        ("unmanaged", GIVEN_UP, LEFT, {}, LEAVE, LET_GO),
        ("unmanaged", GIVEN_UP, KLMS, {}, UNMANAGE, LET_GO),
        ("unmanaged", DELETING, BEING_REMOVED, {}, REFUSE, None),
        ("unmanaged", {}, KLMS, {}, LEAVE, None),
        ("unmanaged", INSTALLED, KLMS, {"module": {"is_kyma_deleting": True}}, REFUSE, None),
        ("absent", INSTALLED, KLMS, {}, DELETE, REMOVE),
        ("absent", INSTALLED, None, {}, DELETE, REMOVE),
        ("absent", INSTALLED, KLMS, {"policy": "ignore"}, UNMANAGE, RELEASE),
        ("absent", INSTALLED, KLMS, {"policy": "ignore", "ignoring_deletes": True}, DELETE, REMOVE),
        ("absent", GIVEN_UP, LEFT, {}, UNMANAGE, RELEASE),
        ("absent", DELETING, BEING_REMOVED, {}, DELETE, REMOVE),
        ("absent", {}, BEING_REMOVED, {}, DELETE, REMOVE),
        ("absent", DELETING, None, {}, LEAVE, None),
        ("", INSTALLED, KLMS, {}, LEAVE, None),
        ("managed", INSTALLED, ModuleRecord("keda", is_skipped=True), {}, LEAVE, None),
    ],
)
def test_each_situation_of_a_module_of_klm_has_an_action(
    state: str, present: Any, record: ModuleRecord | None, more: dict[str, Any], action: str, goal: str | None
) -> None:
    decision = decided(state, present, record, **more)
    assert (decision.action, decision.goal.kind if decision.goal else None) == (action, goal)


def test_only_a_deletion_that_has_begun_is_taken_back() -> None:
    assert decided("managed", DELETING, BEING_REMOVED).takes_back
    assert not decided("managed", INSTALLED, KLMS).takes_back


IGNORING = {**ENTRY, "customResourcePolicy": "Ignore"}


@pytest.mark.parametrize(
    ("decision", "words"),
    [
        (
            decided("managed", INSTALLED, KLMS, wish=KlmWish(policy="ignore")),
            "KLM applies the policy Ignore with the next version of the module",
        ),
        (
            decided("managed", {**INSTALLED, "operator": Operator(exists=True, version="2.0.0")}, KLMS),
            "channel regular has 1.0.0, and 2.0.0 runs: KLM does not go down",
        ),
        (
            decided(
                "managed",
                {
                    **INSTALLED,
                    "entry": {**ENTRY, "channel": "slow"},
                    "writers": {"channel": ("Mozilla", "now")},
                },
                KLMS,
                wish=KlmWish(channel="fast"),
            ),
            "slow → fast in the Kyma resource kyma-system/default (slow was written by Mozilla at now)",
        ),
    ],
)
def test_news_for_the_user_are_notes(decision: ModuleDecision, words: str) -> None:
    assert [one for one in decision.notes if words in one]
    assert decided("managed", INSTALLED, KLMS).notes == ()
