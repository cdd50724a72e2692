# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nothing hangs silently."""

from __future__ import annotations

import time

from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.reminder import Reminder


def test_what_is_silent_is_said_again_until_it_ends() -> None:
    told: list[tuple[str, str, str]] = []

    def progress(subject: str, state: str, detail: str = "") -> None:
        told.append((subject, state, detail))

    with Reminder(progress, silence=0.05) as reminder:
        reminder("a", "waiting", "for b")
        reminder("a", "info", "a line of a log")
        reminder("c", "done")
        end = time.monotonic() + 5
        while len(told) < 5 and time.monotonic() < end:
            time.sleep(0.01)
        reminder("a", "done")
        time.sleep(0.1)
    assert told[:3] == [("a", "waiting", "for b"), ("a", "info", "a line of a log"), ("c", "done", "")]
    assert all(line[:2] == ("a", "waiting") and line[2].endswith("for b") for line in told[3:-1])
    assert told[-1] == ("a", "done", "")
