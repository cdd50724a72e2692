# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What all kinds of record share: API version, label of owners, actions of a run, and its first state."""

from __future__ import annotations

from ..._cluster.cluster import GROUP

API_VERSION = f"{GROUP}/v1alpha1"
OWNER_LABEL = f"{GROUP}/owner"
"""On inventories: their owner."""
DEPLOY, DELETE, MODULES = "deploy", "delete", "modules"
"""What a run does."""
RUNNING = "running"
"""The state of a run without an end."""
