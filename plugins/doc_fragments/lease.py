# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the options that say how a run gets the lease of its cluster."""

from __future__ import annotations


class ModuleDocFragment:
    """The fragment C(kyma.lifecycle.lease)."""

    DOCUMENTATION = r"""
options:
  lease_wait:
    description:
      - Seconds to wait for somebody else who is at work on the cluster, and has its lease.
      - With V(0) the task fails as soon as they are seen at work, which takes some seconds. Whoever is seen
        doing nothing for as long as their lease lasts counts as gone, and the lease is taken over.
      - It has no effect on a task that is part of a run. Such a task works under the lease that the run got
        when it began.
    type: float
    default: 0
  lease_seconds:
    description:
      - How long the lease lasts from each renewal on, and so for how long a run may be silent before another
        one takes over. While a task is at work it is renewed every ten seconds, or every quarter of its time
        where that is less.
      - At least V(6).
      - It has no effect on a task that is part of a run.
    type: int
    default: 45
  service_account:
    description:
      - The ServiceAccount in the namespace C(kyma-lifecycle) by whose tokens a run writes, so that the server
        itself refuses its writes once another one has taken the lease over.
      - Where it is not there, may not do what the run needs, or the user gets no token of it, the run writes
        as the user, and says so. With V("") it always does.
      - It only counts for what begins a run, deletes (C(state=absent)) or undoes (C(state=undone)). A task
        that is part of a run writes as the run does. What is deployed, pruned or migrated outside of a run is
        written as the user.
    type: str
    default: deployer
"""
