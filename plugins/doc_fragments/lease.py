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
      - Seconds to wait if another run holds the lease of the cluster.
      - With V(0) the task fails as soon as it sees that the holder is active, which takes some seconds. If
        the holder does nothing until its lease expires, the task takes the lease over.
      - It has no effect on a task that is part of a run. Such a task uses the lease of the run.
    type: float
    default: 0
  lease_seconds:
    description:
      - Seconds for which each renewal extends the lease. After that time without a renewal another run takes
        over. An active task renews the lease every ten seconds, or after a quarter of its time if that is
        less.
      - At least V(6).
      - It has no effect on a task that is part of a run.
    type: int
    default: 45
"""

    ACCOUNT = r"""
options:
  service_account:
    description:
      - The ServiceAccount in the namespace C(kyma-lifecycle) whose tokens a run uses to write. The API server
        then refuses the writes of a run that has lost its lease.
      - If the account does not exist or lacks rights, or the user gets no token of it, the run writes as the
        user, and warns. With V("") it always writes as the user.
      - It applies only to tasks that begin a run, delete (C(state=absent)) or undo (C(state=undone)). A task
        that is part of a run writes as the run does. Tasks outside of a run write as the user.
    type: str
    default: deployer
"""
