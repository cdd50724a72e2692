# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A connection that is the local one and does not say so: what leads elsewhere, without a second host."""

from __future__ import annotations

DOCUMENTATION = r"""
name: elsewhere
short_description: The local connection by another name
description:
  - For tests.
"""

from typing import ClassVar

from ansible.plugins.connection.local import Connection as LocalConnection


class Connection(LocalConnection):
    """The local connection by another name."""

    transport: ClassVar[str] = "kyma_test.carried.elsewhere"
