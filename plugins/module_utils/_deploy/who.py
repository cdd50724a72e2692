# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who is at work, as records tell it."""

from __future__ import annotations

import getpass
import os
import socket


def who() -> str:
    """The user and the host, as in ``alice@bastion``."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        # A container's user need not have a name.
        user = f"uid-{os.getuid()}"
    return f"{user}@{socket.gethostname()}"
