# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook of this collection, compared with one that does nothing."""

from __future__ import annotations

import re

from ..measurements import Sample
from ..migrations import write_migrations
from ..modules import write_modules
from ..names import MIGRATING, MODULES, OURS, PING
from ..running import ANSIBLE_PLAYBOOK, BenchmarkError, Done
from ..workload import PROFILE
from .tool import Samples, Tool

DEPLOY = "kyma.lifecycle.deploy_kyma"
MANAGE_MODULES = "kyma.lifecycle.modules"
AGENT = "kyma-lifecycle"
PING_PLAYBOOK = """\
- hosts: "{{ groups['all'] or 'localhost' }}"
  gather_facts: false
  connection: local
  tasks:
    - ansible.builtin.ping:
"""


class Ours(Tool):
    """It waits until everything is healthy, Jobs included."""

    row = OURS
    _has_modules = False

    def first(self) -> Samples:
        """Deploy to an empty cluster.

        Deploy again, uncounted, so that the fields that controllers have taken since are recorded.
        """
        done = self._deploy()
        self._deploy()
        return {OURS: done.sample}

    def unchanged(self) -> Samples:
        """Deploy again, which takes one task, with many migrations too; read modules; run a ping."""
        ping, migrations = self.place.folder / "ping.yml", self.place.folder / "migrations"
        ping.write_text(PING_PLAYBOOK, encoding="utf-8")
        if not migrations.exists():  # Python compiles a file again after it was written
            write_migrations(migrations)
        if not self._has_modules:
            # Twice: only after controllers have settled can the next run skip the close comparison.
            for _time in range(2):
                self._manage_modules()
            self._has_modules = True
        return {
            OURS: self._nothing_to_do(),
            MIGRATING: self._nothing_to_do(f" kyma_migration_paths={migrations}"),
            MODULES: _unchanged(self._manage_modules()),
            PING: self.place.run([ANSIBLE_PLAYBOOK, ping], self.cluster).sample,
        }

    def changed(self) -> Samples:
        """Deploy a release with one changed component."""
        self.workload.change()
        return {OURS: self._deploy().sample}

    def _nothing_to_do(self, variables: str = "") -> Sample:
        return _unchanged(self._deploy(variables))

    def _manage_modules(self) -> Done:
        """Manage twenty modules."""
        variables = write_modules(self.place.folder / "modules")
        return self.place.run([ANSIBLE_PLAYBOOK, MANAGE_MODULES, "-e", f"@{variables}"], self.cluster, AGENT)

    def _deploy(self, more: str = "") -> Done:
        variables = f"kyma_release={self.workload.release} kyma_profile={PROFILE}{more}"
        return self.place.run([ANSIBLE_PLAYBOOK, DEPLOY, "-e", variables], self.cluster, AGENT)


def _unchanged(done: Done) -> Sample:
    """The usage of a run with nothing to do, in one task."""
    if not re.search(r"ok=1 +changed=0 ", done.printed):
        raise BenchmarkError(f"There was something to do:\n{done.printed[-4000:]}")
    return done.sample
