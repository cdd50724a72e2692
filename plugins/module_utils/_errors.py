# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The base class of the collection's exceptions."""

from __future__ import annotations

from typing import ClassVar


class LifecycleError(Exception):
    """An error for the user: what failed, on which object, why, and what to do.

    Every error that the collection raises on purpose derives from this class. A module turns it
    into a failed task with its message; any other exception is a defect and shows its traceback.

    Attributes:
        state: of a cluster whose deployment it ends.
    """

    state: ClassVar[str] = "failed"


MOST_REASONS = 5
"""How many hanging objects a message names: the others mostly hang for the same reason."""
