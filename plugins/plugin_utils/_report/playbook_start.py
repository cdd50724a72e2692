# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The time at which this ansible-playbook began to use the collection.

The main process imports the package of action plugins before it forks the first worker for one of them. So
all workers inherit this moment.
"""

from __future__ import annotations

from datetime import UTC, datetime

PLAYBOOK_START = datetime.now(UTC).replace(microsecond=0)
"""In whole seconds, as records have it."""
