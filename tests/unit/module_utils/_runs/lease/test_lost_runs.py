# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a run without an end is lost, by the lease that a reader sees."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.lease import Lease
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.lease_availability import is_run_lost

NOW = datetime(2026, 11, 21, 13, 0, 0, tzinfo=UTC)
OWN, OTHER = "r1 alice@bastion 7", "r2 alice@bastion 7"


@pytest.mark.parametrize(
    ("holder", "renewed", "is_lost"),
    [
        (OWN, "2026-11-21T12:59:50.000000Z", False),
        # The clock of the holder may be a minute late, or early.
        (OWN, "2026-11-21T12:58:16.000000Z", False),
        (OWN, "2026-11-21T12:58:14.000000Z", True),
        (OWN, "2026-11-21T14:00:00.000000Z", False),
        (OWN, "", False),
        ("r1 john doe@bastion 7", "2026-11-21T12:59:50.000000Z", False),
        (OWN, "yesterday", False),
        (OTHER, "2026-11-21T12:59:50.000000Z", True),
        ("", "2026-11-21T12:59:50.000000Z", True),
        ("", "", True),
    ],
)
def test_a_run_is_lost_without_its_lease_or_long_after_it_has_expired(
    holder: str, renewed: str, is_lost: bool
) -> None:
    assert is_run_lost("r1", Lease(holder=holder, seconds=45, renewed=renewed), NOW) is is_lost
