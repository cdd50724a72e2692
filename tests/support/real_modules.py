# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The real modules of Kyma: templates, manifests and samples."""

from __future__ import annotations

import os
from pathlib import Path

from tests.support.needs import skip

ROOT = Path(__file__).resolve().parents[2]


def real_modules() -> Path:
    """The folder with the real modules of Kyma; the test is skipped if there is none."""
    data = Path(os.environ.get("KYMA_TEST_DATA") or ROOT.parent / "shared" / "data")
    if not (data / "kyma-modules").is_dir():
        skip(f"there are no real modules at {data}: set KYMA_TEST_DATA")
    return data / "kyma-modules"
