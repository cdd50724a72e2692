# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The headless Chromium of this machine, and the programs that read what it prints."""

from __future__ import annotations

from tests.cluster import packages

PROGRAM = "chromium-headless-shell"
TO_TEXT, TO_PIXELS = "pdftotext", "pdftoppm"
PROGRAMS = (PROGRAM, TO_TEXT, TO_PIXELS)
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
    """Return why no page can be drawn and printed here, or nothing if one can."""
    missing = [program for program in PROGRAMS if packages.find(program) is None]
    if missing:
        install = " ".join(sorted({package for one in missing for package in packages.PACKAGES[one]}))
        return f"There is no {' and no '.join(missing)} on the PATH. On Debian: apt-get install {install}"
    return ""
