# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The results of deployments on all hosts of a playbook, and their table when Ansible ends.

No task can print that table. The last play of a playbook does not begin if all hosts of an earlier one have
failed, and no task of a host runs after it has failed. So each task writes a line to a file, and Ansible's
main process reads it at its exit. It imports an action plugin before it forks the first worker for it, so it
has imported this module too.
"""

from __future__ import annotations

import atexit
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ansible import constants as C

from ...module_utils._runs.cluster_state import ClusterState, cluster_state
from ...module_utils._runs.cluster_table import render_clusters
from .screen.console import print_banner, print_block

NAME = "kyma-clusters.jsonl"


class ClusterLog:
    """The file of one ``ansible-playbook``; the process that creates this prints the table at its end."""

    def __init__(self) -> None:
        self._owner = os.getpid()
        atexit.register(self._print_table)

    def write(self, hosts: Iterable[str], attempt: ClusterState) -> None:
        """Add what a task has made of a host.

        Args:
            hosts: all hosts that the play deploys to, before or after their turn.
            attempt: of the host.
        """
        entry = json.dumps({"hosts": list(hosts), "attempt": asdict(attempt)}) + "\n"
        # One write to the end of a file never mixes with those of other workers.
        number = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(number, entry.encode())
        finally:
            os.close(number)

    def states(self, *, is_over: bool) -> list[ClusterState]:
        """The states of all clusters so far, in the order of their hosts; see :func:`~.cluster_state`."""
        try:
            lines = self._file.read_text("utf-8").splitlines()
        except OSError:
            return []
        entries = list(_entries_in(lines))
        attempts: dict[str, list[ClusterState]] = {host: [] for one in entries for host in one["hosts"]}
        for attempt in (ClusterState(**entry["attempt"]) for entry in entries):
            attempts.get(attempt.cluster, []).append(attempt)
        return [cluster_state(host, those, is_over=is_over) for host, those in attempts.items()]

    def table(self) -> list[str]:
        """The table of all clusters; empty if there is only one, or none."""
        states = self.states(is_over=True)
        return render_clusters(states) if len(states) > 1 else []

    @property
    def _file(self) -> Path:
        return Path(C.DEFAULT_LOCAL_TMP) / NAME

    def _print_table(self) -> None:
        if os.getpid() == self._owner and (lines := self.table()):
            print_banner("CLUSTERS")
            print_block(lines)


def _entries_in(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    for line in lines:
        # A worker that was killed, or a full disk, cuts a line off.
        with suppress(ValueError):
            yield json.loads(line)


CLUSTER_LOG = ClusterLog()
