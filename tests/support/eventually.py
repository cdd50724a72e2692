# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waits in tests for conditions that become true by themselves."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Answer = TypeVar("Answer")


def eventually(look: Callable[[], Answer | None], seconds: float = 60.0, *, pause: float = 0.05) -> Answer:
    """The first true answer to a repeated question.

    Args:
        look: returns an answer.
        seconds: after which the test fails.
        pause: seconds between two calls.
    """
    end = time.monotonic() + seconds
    while not (answer := look()):
        assert time.monotonic() < end, f"it has not come to be so within {seconds:g} s"
        time.sleep(pause)
    return answer
