# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the option that says how a cancellation goes."""

from __future__ import annotations


class ModuleDocFragment:
    """The fragment C(kyma.lifecycle.stopping)."""

    DOCUMENTATION = r"""
options:
  grace:
    description:
      - Seconds that running work gets to end after a cancellation.
    type: float
    default: 60
"""
