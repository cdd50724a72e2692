# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which namespaces are slow, and for how long."""

from __future__ import annotations

from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.slow_namespaces import (
    SLOW_SECONDS,
    SlowNamespaces,
)


def test_a_namespace_is_slow_for_ten_minutes_after_the_last_time() -> None:
    now = 1000.0
    slow = SlowNamespaces(lambda: now)
    assert "shop" not in slow
    slow.add("shop")
    now += 400
    slow.add("shop")
    now += SLOW_SECONDS - 1
    assert ("shop" in slow, "other" in slow) == (True, False)
    now += 2
    assert "shop" not in slow
    assert SLOW_SECONDS == 600
