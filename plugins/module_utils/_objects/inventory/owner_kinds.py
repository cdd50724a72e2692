# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kinds of owners of objects. Outcomes of all tasks have them, so this imports nothing."""

from __future__ import annotations

COMPONENT, MODULE = "component", "module"
"""The kinds of owners: components of a release, and modules."""
