# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which namespaces are slow, and for how long."""

from __future__ import annotations

from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_model import ErrandKey
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.slow_namespaces import (
    SLOW_SECONDS,
    SlowNamespaces,
)

SLOW, SIBLING, OTHER = ErrandKey("shop", "slow"), ErrandKey("shop", "sibling"), ErrandKey("other", "slow")


def test_a_namespace_is_slow_for_ten_minutes_after_the_last_time() -> None:
    now = 1000.0
    slow = SlowNamespaces(lambda: now)
    assert slow.group(SLOW) is None
    slow.add(SLOW)
    now += 400
    slow.add(SLOW)
    now += SLOW_SECONDS - 1
    assert (slow.group(SIBLING), slow.group(OTHER)) == (("shop", False), None)
    now += 2
    assert slow.group(SLOW) is None
    assert SLOW_SECONDS == 600


def test_an_errand_that_is_not_slow_itself_is_of_another_group_than_those_that_are() -> None:
    now = 1000.0
    slow = SlowNamespaces(lambda: now)
    slow.add(SLOW)
    assert (slow.group(SLOW), slow.group(SIBLING)) == (("shop", True), ("shop", False))
    now += 400
    slow.add(SIBLING)
    now += 400
    assert (slow.group(SLOW), slow.group(SIBLING)) == (("shop", False), ("shop", True))
