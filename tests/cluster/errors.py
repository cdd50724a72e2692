# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one exception of this package."""

from __future__ import annotations


class ClusterError(Exception):
    """An error and its remedy, in a sentence for a person."""
