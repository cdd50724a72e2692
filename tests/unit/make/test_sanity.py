# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What counts as a failure of ``ansible-test sanity``."""

from __future__ import annotations

import pytest

from tests.make import sanity
from tests.make.environments import Environment

NOT_INSTALLED = "ERROR: Could not install packages due to an OSError: HTTPSConnectionPool(host='example.org')"
FINDINGS = "ERROR: Found 1 pylint issue(s) which need to be resolved:"


@pytest.mark.parametrize(
    ("code", "printed", "may_lack", "counts"),
    [
        (0, "", False, (1, 0)),
        (0, "All targets skipped", False, (0, 1)),
        (1, FINDINGS, False, (0, 1)),
        (1, FINDINGS, True, (0, 1)),
        (1, NOT_INSTALLED, False, (0, 1)),
        (1, NOT_INSTALLED, True, (0, 0)),
    ],
)
def test_only_a_release_candidate_may_need_what_is_not_at_hand(
    code: int, printed: str, may_lack: bool, counts: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sanity, "read", lambda *_command, **_more: (code, printed))
    outcome = sanity._with(Environment("core-next"), "2.22.0rc1", may_lack=may_lack)
    assert (outcome.passed, outcome.failed) == counts
    assert ("2.22.0rc1" in outcome.left_out) is (counts == (0, 0))
