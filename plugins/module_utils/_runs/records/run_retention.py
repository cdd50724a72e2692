# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deletes the records of old runs, and with each the journal of its migrations: the newest 20 stay."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from ..._cluster.cluster import API_VERSION, Cluster, Object
from ..._cluster.errors import Conflict
from .record_schema import RUNNING
from .run_record import run_status

MAX_RUNS = 20


def delete_old_runs(cluster: Cluster, runs: Sequence[Object], last_run: str) -> None:
    """Delete the records of all but the newest runs, so that the history stays bounded.

    Args:
        cluster: that has the records.
        runs: all, as they were just read, the newest first.
        last_run: the installation's: its record stays, and with it the journal of its migrations.
    """
    for run in _surplus_runs(runs, last_run):
        meta = run["metadata"]
        precondition = {"uid": meta["uid"], "resource_version": meta["resourceVersion"]}
        # A record that another process writes to is deleted the next time.
        with suppress(Conflict):
            cluster.delete(API_VERSION, "KymaRun", meta["name"], **precondition)


def _surplus_runs(runs: Sequence[Object], last_run: str) -> list[Object]:
    """Those of the runs, the newest first, that are beyond the history and that nobody works on."""
    return [
        run
        for run in runs[MAX_RUNS:]
        if run["metadata"]["name"] != last_run and run_status(run)["state"] != RUNNING
    ]
