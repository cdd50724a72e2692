# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kit finds one flaw in each flawed migration, names it, and finds none in others."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from ansible_collections.kyma.lifecycle.plugins.plugin_utils import migration_testing
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.proofs import PROOFS
from ansible_collections.kyma.lifecycle.plugins.plugin_utils.migration_testing import (
    Disproved,
    assert_migration,
)

from tests.support.extent import sample
from tests.unit.plugin_utils._migration_testing import flawed_twins as twins

SOME = sample([*twins.PAIRS], 6)


@pytest.fixture(autouse=True)
def restored_process() -> Iterator[None]:
    yield
    twins.restore_process()


def said_of(pair: twins.Pair) -> str:
    """What the kit says of a flawed migration. It has to say all that the pair expects."""
    with pytest.raises(Disproved) as caught:
        assert_migration(pair.flawed, pair.before, pair.after, **pair.options)
    assert [text for text in pair.says if text not in str(caught.value)] == []
    return str(caught.value)


@pytest.mark.parametrize("name", twins.PAIRS)
def test_a_flaw_is_found_and_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = twins.PAIRS[name]
    # Most pairs name their proof. All others take a second of a processor.
    texts = (*pair.says, *(["after an error"] if pair.needs_an_error else []))
    named = [proof for proof in PROOFS if any(text in proof.name for text in texts)]
    monkeypatch.setattr(migration_testing, "PROOFS", named or PROOFS)
    assert said_of(pair)


@pytest.mark.parametrize("name", SOME)
def test_one_proof_alone_finds_a_flaw(name: str) -> None:
    said = said_of(twins.PAIRS[name])
    headings = {line.split(":")[0] for line in said.splitlines() if line.startswith("  - ")}
    assert len({one for one in headings if "more proofs wait" not in one}) == 1, said


@pytest.mark.parametrize("name", SOME)
def test_the_repaired_twin_of_a_flaw_passes(name: str) -> None:
    pair = twins.PAIRS[name]
    assert_migration(pair.repaired, pair.before, pair.after, **pair.options)


@pytest.mark.parametrize("name", sample([*twins.GOOD], 6))
def test_a_good_one_passes(name: str) -> None:
    good = twins.GOOD[name]
    assert_migration(good.migration, good.before, good.after, **good.options)
