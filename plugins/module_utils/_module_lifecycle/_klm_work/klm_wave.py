# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The work on the modules of a wave that Kyma's lifecycle manager (KLM) manages: write once, and wait.

KLM reconciles a Kyma resource as a whole, so all modules of a wave go into one write. After each write and
each change, the next step of each module is decided from what is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from ..._errors import LifecycleError
from ..._klm.klm_steps import TAKE_OUT, WRITE, KlmStep
from ..._klm.kyma_resource import Kyma
from ..._klm.kyma_writing import StaleKyma, apply_entries, take_out_entries
from ..module_context import ModuleContext
from ..module_work import ModuleOutcome
from ..planned_module import PlannedModule
from .klm_job import KlmJob
from .klm_reading import KlmReader

POLL_SECONDS, ROLLOUT_SECONDS = 10.0, 2.0
"""How often modules are read while nothing is heard of the Kyma resource, and while only operators start."""
MOST_ATTEMPTS = 5
"""How often a write is decided again because others have changed the Kyma resource."""
Steps = Sequence[tuple[KlmJob, KlmStep]]


@dataclass
class KlmWave:
    """The modules of a wave that KLM manages.

    Args:
        context: of the work.
        reader: reads them as they are.
        planned: the plan for each.
    """

    context: ModuleContext
    reader: KlmReader
    planned: Sequence[PlannedModule]
    _attempts: int = field(default=0, init=False)

    def run(self) -> list[ModuleOutcome]:
        """Work on all of them to their end; never raises for errors of a cluster."""
        jobs = [KlmJob(self.context, one) for one in self.planned]
        for job in jobs:
            job.attempt(job.begin)
        while working := [job for job in jobs if job.done is None]:
            try:
                kyma, modules = self.reader.read([job.name for job in working])
                self._take([(job, job.next_step(modules[job.name])) for job in working], kyma)
            except LifecycleError as error:
                for job in working:
                    job.fail(str(error))
        return [job.done for job in jobs if job.done is not None]

    def _take(self, steps: Steps, kyma: Kyma) -> None:
        """Take the next step of each module, and wait if none of them has written anything."""
        for job, step in steps:
            if step.is_over:
                job.attempt(partial(job.end, step))
            elif self.context.cancelled():
                job.cancel(step)
            elif step.action == TAKE_OUT:
                job.attempt(job.clear)
        left = [one for one in steps if one[0].done is None]
        writing = [one for one in left if one[1].action in (WRITE, TAKE_OUT)]
        try:
            self._write(writing, kyma)
            self._attempts = 0
        except StaleKyma:
            self._attempts += 1
            if self._attempts >= MOST_ATTEMPTS:
                raise
            return
        for job, step in left:
            if (job, step) not in writing:
                job.wait(step)
        if not writing and any(job.done is None for job, _step in left):
            is_rollout = all(job.is_ready_for_klm for job, _step in left)
            self.reader.wait_for_change(kyma, ROLLOUT_SECONDS if is_rollout else POLL_SECONDS)

    def _write(self, steps: Steps, kyma: Kyma) -> None:
        """Write all entries of a wave in one request, and take all out that go in another one."""
        entries = {job.name: step.entry for job, step in steps if step.entry is not None}
        leaving = [job.name for job, step in steps if step.action == TAKE_OUT]
        cluster = self.context.cluster
        if entries:
            kyma = apply_entries(cluster, kyma, entries)
            _note([job for job, _step in steps if job.name in entries])
        if leaving:
            take_out_entries(cluster, kyma, leaving)
            _note([job for job, _step in steps if job.name in leaving])


def _note(jobs: Sequence[KlmJob]) -> None:
    for job in jobs:
        job.wrote()
