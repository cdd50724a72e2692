# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The root of the collection's one exception tree."""

from __future__ import annotations


class LifecycleError(Exception):
    """Something a person has to know: what failed, on which object, why, and what to do now.

    Every error that the collection raises on purpose derives from this one, so that a module turns it
    into a failed task with its message, while anything else is a defect and shows its traceback.
    """


MOST_REASONS = 5
"""How many hanging objects are told of: what else hangs mostly hangs for the same reason."""
