# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The hops of a call of the playbook after one more of its tasks. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .cluster_state import UNCHANGED, Hop, count_ended, with_end


def hops_after(before: Sequence[Hop], given: Sequence[Hop], number: int) -> tuple[Hop, ...]:
    """The hops of a call after one more of its tasks.

    Args:
        before: those so far.
        given: by the task: the hop that it works on, and those that its plan sees ahead.
        number: of the hop that the task plans; 0 for a task of a run.
    """
    current, *ahead = given
    runs = [hop.run for hop in before if hop.run]
    position = runs.index(current.run) if current.run in runs else count_ended(before)
    if number == 1:
        # After a run, a plan with nothing to do adds nothing.
        return (*before[:position], *(() if position and current.state == UNCHANGED else with_end(given)))
    earlier, *ahead = before[position:] or (Hop(),)
    current = replace(
        current,
        previous=current.previous or earlier.previous,
        version=current.version or earlier.version,
        seconds=current.seconds or earlier.seconds,
        planned=earlier.planned if current.planned is None else current.planned,
    )
    return (*before[:position], *with_end((current, *ahead)))
