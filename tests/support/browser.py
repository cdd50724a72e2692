# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The headless Chromium of this machine."""

from __future__ import annotations

from tests.cluster import packages

PROGRAM = "chromium-headless-shell"
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
"""Root can have no sandbox, and a test asks for no page but its own."""


def why_no_browser() -> str:
    """Return why no browser can be started here, or nothing if one can."""
    if packages.find(PROGRAM) is None:
        return f"There is no {PROGRAM} on the PATH. Install it, or run make integration as root on Debian."
    return ""
