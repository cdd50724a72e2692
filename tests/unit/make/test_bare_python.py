# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""In a fresh clone, tests.make has to start before anything is installed."""

from __future__ import annotations

import subprocess
import sys

from tests.cluster.paths import ROOT


def test_make_needs_nothing_but_python() -> None:
    # Without the folders of installed packages (-S, -I), and with the root of the project.
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import tests.make.report, tests.make.steps"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.returncode == 0
