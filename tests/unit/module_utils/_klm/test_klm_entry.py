# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From the user's options to an entry of the Kyma resource, and each refusal with its sentence: one table."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._klm.klm_entry import (
    desired_entry,
    entry_change,
    explain_refusal,
    in_channel,
    is_written,
    merged_entry,
    unmanaged_entry,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._klm.klm_module import (
    KlmModule,
    KlmWish,
    Operator,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._klm.kyma_resource import (
    KlmStatus,
)

CHANNELS = {"regular": "2.17.0", "fast": "2.18.1"}
CREATES, IGNORES = "CreateAndDelete", "Ignore"


def module(entry: Any = None, running: str = "", **facts: Any) -> KlmModule:
    operator = Operator(exists=True, version=running) if running else Operator()
    return KlmModule("keda", "regular", entry=entry, channels=CHANNELS, operator=operator, **facts)


def entry(**keys: Any) -> dict[str, Any]:
    return {"name": "keda", "customResourcePolicy": CREATES, "managed": True, **keys}


@pytest.mark.parametrize(
    ("wish", "before", "expected"),
    [
        (KlmWish(), None, entry()),
        (KlmWish(channel="fast"), None, entry(channel="fast")),
        (KlmWish(policy="create_and_delete"), None, entry()),
        (KlmWish(policy="ignore"), None, entry(customResourcePolicy=IGNORES)),
        (
            KlmWish(policy="create_and_delete", has_configuration=True),
            None,
            entry(customResourcePolicy=IGNORES),
        ),
        # What neither the user nor the record says stays as others have it.
        (KlmWish(), entry(customResourcePolicy=IGNORES), entry(customResourcePolicy=IGNORES)),
        (KlmWish(), entry(managed=False), entry()),
    ],
)
def test_options_become_keys_of_the_entry(wish: KlmWish, before: Any, expected: dict[str, Any]) -> None:
    assert desired_entry(module(before), wish) == expected


UNFIT = [
    (
        KlmWish(version="2.17.0"),
        module(entry(channel="fast"), "2.17.0"),
        "keda is managed by Kyma's lifecycle manager (KLM), whose Kyma resource has no field for a version."
        " Channel fast has 2.18.1 today: set channel: fast, or state: unmanaged to stay on 2.17.0",
    ),
    (KlmWish(version="2.17.0"), module(), "Channel regular has 2.17.0 today: set channel: regular"),
    (
        KlmWish(manifest="keda.yaml"),
        module(),
        "manifest has no effect on keda, which Kyma's lifecycle manager (KLM) manages: its manifest comes"
        " from KLM's registry",
    ),
    (
        KlmWish(takes_over=True),
        module(entry()),
        "would write it back every 30 s. Set state: unmanaged first",
    ),
    (
        KlmWish(channel="rapid"),
        module(),
        "module keda: Kyma's lifecycle manager (KLM) has no channel rapid of it. Channels: fast (2.18.1),"
        " regular (2.17.0)",
    ),
    (KlmWish(channel="fasst"), module(), "Did you mean fast?"),
    (
        KlmWish(),
        KlmModule("keda", "nightly", channels=CHANNELS),
        "has no channel nightly of it, which is the channel of the Kyma resource kyma-system/default",
    ),
    (
        KlmWish(channel="regular"),
        module(entry(channel="fast"), "2.18.1", status=KlmStatus("Ready", "2.18.1", "fast")),
        "keda 2.18.1 runs (channel fast), channel regular has 2.17.0. Kyma's lifecycle manager (KLM) does not"
        " go down: choose a channel with 2.18.1 or newer, or remove the module and install it",
    ),
    (
        KlmWish(),
        module(entry(managed=False), "2.18.1", status=KlmStatus("Unmanaged", "2.18.1")),
        "If Kyma's lifecycle manager (KLM) managed it again, it would really go down",
    ),
    (KlmWish(), module(None, "2.18.1"), "keda 2.18.1 runs, channel regular has 2.17.0"),
]


@pytest.mark.parametrize(("wish", "present", "words"), UNFIT)
def test_wishes_that_klm_lacks_are_refused_with_a_sentence(
    wish: KlmWish, present: KlmModule, words: str
) -> None:
    assert words in explain_refusal(present, wish)


@pytest.mark.parametrize(
    ("wish", "present"),
    [
        (KlmWish(), module()),
        (KlmWish(channel="fast"), module(entry(), "2.17.0")),
        (KlmWish(takes_over=True), module()),
        # Others have moved spec.channel: nobody writes anything, so it is a note and no refusal.
        (KlmWish(), module(entry(), "2.18.1")),
        (KlmWish(channel="fast"), module(entry(managed=False), "2.18.1")),
        # The channel was written by others, and the user names none.
        (KlmWish(), module(entry(channel="fast"), "2.18.1")),
        # A suffix that is a channel's name is a variant, and not an earlier version.
        (KlmWish(channel="fast"), module(entry(), "2.18.1-fast")),
    ],
)
def test_other_wishes_are_not_refused(wish: KlmWish, present: KlmModule) -> None:
    assert explain_refusal(present, wish) == ""


def test_nothing_is_written_that_is_there_already() -> None:
    assert not is_written(module(), entry())
    assert is_written(module(entry()), entry())
    assert is_written(module({"name": "keda"}), entry())
    assert is_written(module(entry(channel="fast", controller="x")), entry())
    assert not is_written(module(entry()), entry(channel="fast"))
    # Our own channel goes if the user names none any more; that of others stays.
    assert not is_written(module(entry(channel="fast"), sole_keys=frozenset({"channel"})), entry())


def test_an_apply_keeps_what_others_have_written() -> None:
    present = module(entry(channel="fast", controller="x"), sole_keys=frozenset({"channel", "managed"}))
    assert merged_entry(present, entry()) == entry(controller="x")
    assert present.channel_after(entry()) == "regular"
    assert module(entry(channel="fast")).channel_after(entry()) == "fast"
    assert unmanaged_entry(module(entry(channel="fast", controller="x"))) == entry(
        channel="fast", managed=False
    )
    assert in_channel(module(entry()), "fast") == entry(channel="fast")
    assert in_channel(module(entry(managed=False)), "fast") == entry(channel="fast", managed=False)


def test_a_change_shows_the_entry_and_nothing_else() -> None:
    change = entry_change(module(entry()), entry(channel="fast"))
    assert change is not None
    assert change.before is not None
    assert change.after is not None
    assert change.before["spec"] == {"modules": [entry()]}
    assert change.after["spec"] == {"modules": [entry(channel="fast")]}
    assert entry_change(module({"name": "keda"}), entry()) is None
