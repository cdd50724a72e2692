# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running rulebooks with the real ansible-rulebook."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.java import why_no_java
from tests.support.needs import skip
from tests.support.rulebook_run import PROGRAM, RulebookRunner


@pytest.fixture
def rulebook_runner(tmp_path: Path) -> RulebookRunner:
    """What starts ansible-rulebook in a folder of the test's own."""
    reason = why_no_java()
    if reason:
        skip(reason)
    if not PROGRAM.exists():
        skip(
            f"There is no ansible-rulebook, because {PROGRAM} does not exist. To install it: make integration"
        )
    return RulebookRunner(tmp_path)
