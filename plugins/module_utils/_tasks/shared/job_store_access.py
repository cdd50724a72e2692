# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Shared by the tasks of the job store: whether it is installed, who may read it, its counters."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..._carrier.task import Task
from ..._cluster.cluster import Cluster
from ..._cluster.errors import Forbidden
from ..._errors import LifecycleError
from ..._store.counters import JobCounter, store_metrics
from ..._store.snapshot import StoreSnapshot, read_snapshot
from ..._store.store_kinds import INSTALL_COMMAND, KINDS, MANAGER_ROLE, STORE_KINDS
from ..._text import one_line
from ..._textfile import write_textfile

if TYPE_CHECKING:
    from ..._objects.access.rights import Right

_INSTALL_IT = f"Install it:\n{INSTALL_COMMAND}"
IMPORT_COMMAND = "ansible-playbook kyma.lifecycle.import_jobs"


def missing_kinds(cluster: Cluster) -> tuple[str, ...]:
    """The kinds of the job store that the API server does not serve."""
    return tuple(one.kind for one in KINDS if cluster.resource(*one.address) is None)


def lost_kinds(cluster: Cluster) -> tuple[str, ...]:
    """The missing kinds of a job store that is installed; empty if it is not installed at all."""
    missing = missing_kinds(cluster)
    return missing if len(missing) < len(KINDS) else ()


def store_cluster(task: Task) -> Cluster:
    """The cluster that a task reads and writes.

    In check mode it is a rehearsal, which the API server validates.
    """
    if not task.check_mode:
        return task.cluster
    from ..._dry_run.dry_run_cluster import DryRunCluster

    return DryRunCluster(task.cluster, STORE_KINDS.definitions)


def cluster_to_write(task: Task) -> tuple[Cluster, list[str]]:
    """The cluster for writes to an installed store, see :func:`store_cluster`; and warnings.

    If the store is missing, check mode rehearses its installation too: an earlier task may install it.

    Raises:
        LifecycleError: it is not installed, and this is not check mode or the user may not install it.
    """
    cluster = store_cluster(task)
    missing = missing_kinds(cluster)
    if not missing:
        return cluster, []
    if not task.check_mode:
        _refuse_lost_kinds(cluster)
        raise LifecycleError(f"the cluster has no job store, and nothing was written. {_INSTALL_IT}")
    STORE_KINDS.update(cluster, STORE_KINDS.state(cluster))
    return cluster, [f"the cluster does not serve {', '.join(missing)} of the job store. {_INSTALL_IT}"]


def read_jobs(
    cluster: Cluster,
    namespaces: Sequence[str],
    label_selectors: Sequence[str] = (),
    role: Mapping[str, Any] = MANAGER_ROLE,
) -> StoreSnapshot:
    """All jobs of some namespaces, or of all.

    Args:
        cluster: to read from.
        namespaces: to read; empty for all.
        label_selectors: labels that jobs must have.
        role: the ClusterRole with the necessary rights, for the message.

    Raises:
        LifecycleError: the user may not read them, the cluster does not answer, or kinds of the store are
            missing, without which the jobs would be incomplete.
    """
    try:
        snapshot = read_snapshot(cluster, namespaces, ",".join(label_selectors))
    except Forbidden as refusal:
        narrower = "" if namespaces else ", or set namespaces to those where you have it"
        raise LifecycleError(
            f"cannot read the jobs of the store: {one_line(refusal.api_message)}. Have the ClusterRole"
            f" {role['metadata']['name']} granted to you{narrower}"
        ) from refusal
    _refuse_lost_kinds(cluster)
    return snapshot


def _refuse_lost_kinds(cluster: Cluster) -> None:
    if lost := lost_kinds(cluster):
        raise LifecycleError(
            f"the job store is incomplete, and so would be each list of jobs: the API server does not serve"
            f" {', '.join(lost)}, and what was stored as such is lost. Install the store again, and then"
            f" create the definitions of what runs:\n{INSTALL_COMMAND}\n{IMPORT_COMMAND}"
        )


class RightsGuard:
    """A :class:`WriteFence` that demands all rights of some work before its first write."""

    def __init__(self, cluster: Cluster, rights: Iterable[Right], what: str) -> None:
        self._cluster = cluster
        self._unchecked = set(rights)
        self._what = what
        self._lock = threading.Lock()

    def guard_write(self) -> AbstractContextManager[None]:
        # Imported here, as a task that only reads needs no review.
        from ..._objects.access.review import demand

        with self._lock:
            demand(self._cluster, self._unchecked, self._what)
            self._unchecked.clear()
        return nullcontext()


def counter_rows(counters: Mapping[str, JobCounter]) -> list[dict[str, Any]]:
    """The counters in the form of results, by namespace."""
    return [
        {
            "namespace": namespace,
            "only_in_kubernetes": one.only_in_kubernetes,
            "only_in_storage": one.only_in_storage,
        }
        for namespace, one in sorted(counters.items())
    ]


def write_metrics(path: str | None, counters: Mapping[str, JobCounter], *, check_mode: bool) -> list[str]:
    """Write the counters to a file, if there is a path; returns warnings. Check mode writes nothing."""
    if not path:
        return []
    if check_mode:
        folder = Path(path).absolute().parent
        is_writable = os.access(folder, os.W_OK | os.X_OK)
        return [] if is_writable else [f"cannot write metrics_file {path}: {folder} is no writable folder"]
    try:
        write_textfile(path, store_metrics(counters))
    except OSError as error:
        return [f"cannot write metrics_file {path}: {error.strerror}"]
    return []
