# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waiting in tests for what comes about by itself."""

from __future__ import annotations

import time
from collections.abc import Callable


def eventually(is_so: Callable[[], object], seconds: float = 30.0) -> None:
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, f"it has not come to be so within {seconds:g} s"
        time.sleep(0.05)
