# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests a run of an errand, and waits for its end."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ..._cluster.cluster import Cluster, Object, ref_of
from ..._cluster.errors import ClusterError
from ..._cluster.informer import InformerScope
from ..._errors import LifecycleError
from ..._jobs.pod_references import pod_references
from ..._jobs.run_history import SUCCEEDED
from ..._objects.health.diagnosis import diagnose
from ..._objects.health.status import assess_health
from ..._objects.health.wait import UnhealthyObject
from ..._progress import REASON_SECONDS, Progress, Step
from ..._threads import map_in_threads
from ..._timestamp import timestamp
from ..due_run import needs_configuration, triggered_run
from ..errand_index import JOB, POD, ErrandIndex, watched_scopes
from ..errand_model import ERRAND_LABEL, RUN_REQUEST, Errand, ErrandKey, ErrandPhase, errand_from, label_value
from ..errand_reader import FULL_QUOTA
from ..errand_view import RunOptions
from ..reconciler import Reconciled, Reconciler
from .errand_report import errand_run_report, log_command
from .run_log import RunLog

PAUSES = (0.2, 0.3, 0.5, 1.0, 1.0, 2.0)
"""Seconds between two looks, the last again and again."""
TIDY_SECONDS = 10.0
"""How long to wait at the end until a succeeded run's Job can go."""
REFUSAL_SECONDS = 15.0
"""After how long a refusal that an engine has noted counts: it may be from before."""
REPEAT_SECONDS = 10.0
"""How long a reason is reported before it is searched again."""
SLICE_SECONDS = 0.2
"""How often to look whether a person has asked to stop."""


def request_run(cluster: Cluster, key: ErrandKey) -> Object:
    """Request a run of an errand with its annotation; return the errand after that.

    Raises:
        ClusterError: the server does not answer, or refuses it.
    """
    value = f"{timestamp(datetime.now(UTC))}-{secrets.token_hex(3)}"
    return cluster.patch(*key.address, {"metadata": {"annotations": {RUN_REQUEST: value}}})


def run_to_follow(errand: Errand, *, is_requested: bool) -> int:
    """The number of the run that answers the request or the trigger; 0 if nothing runs for it.

    A run is recorded with the version of the errand that the engine saw. So the first run that is recorded
    after a request, or after a change, has seen it.

    Args:
        errand: as it is after the request, or after it was applied.
        is_requested: whether a run was requested.
    """
    last = errand.status.run
    number = last.number if last else 0
    if is_requested or triggered_run(errand):
        return number + 1
    return number


@dataclass(frozen=True, kw_only=True)
class WaitOptions(RunOptions):
    """How to wait for a run.

    Attributes:
        seconds: how long to wait.
        reconciles: whether to reconcile the errand here; otherwise an engine must.
    """

    seconds: float
    reconciles: bool = True


class RunWait:
    """Reconciles one errand, and waits for the end of a run.

    Args:
        cluster: the live one.
        key: of the errand.
        options: how to wait.
        progress: called with each change of what it waits for.
        cancelled: whether a person has asked to stop.
        log: of the run; None if it is not asked for.

    Attributes:
        errand: as it was last read; None before that, and if it is gone.
    """

    errand: Errand | None = None

    def __init__(
        self,
        cluster: Cluster,
        key: ErrandKey,
        options: WaitOptions,
        *,
        progress: Progress,
        cancelled: Callable[[], bool],
        log: RunLog | None = None,
    ) -> None:
        self._cluster = cluster
        self._log = log
        self._key = key
        self._options = options
        self._progress = progress
        self._cancelled = cancelled
        self._reader = _ErrandReader(cluster, key)
        self._reconciler = Reconciler(cluster, self._reader.index, options=options)
        self._reported = ("", "", "")
        self._begun = time.monotonic()
        self._explain_at = self._begun + REASON_SECONDS
        self._explained = ""
        self._recheck: float | None = None

    def step(self) -> Errand | None:
        """Read and reconcile the errand once; return it, or None if it is gone.

        Raises:
            LifecycleError: the server does not answer, or refuses a write.
        """
        if not self._options.reconciles:
            obj = self._cluster.get(*self._key.address)
            self.errand = errand_from(obj) if obj else None
            if self._log and self.errand:
                self._log.look(self.errand)
            return self.errand
        self.errand = self._reader.refresh()
        if self.errand is not None:
            if FULL_QUOTA in self.errand.status.message:
                # Only an engine watches quotas; here it may have grown at any time.
                self._reader.index.record_grown_quota(self._key.namespace, datetime.now(UTC))
            if self._log:
                self._log.look(self.errand, self._reader.index.owned(POD, self._key))
            reconciled: Reconciled = self._reconciler.reconcile(self._key)
            self._recheck = reconciled.recheck_seconds
            self.errand = self._reader.index.errand(self._key)
        return self.errand

    def until_ended(self, number: int) -> tuple[Errand, Mapping[str, Any]]:
        """Wait until a run has ended; return the errand, and the run as :func:`errand_run_report` shows it.

        Raises:
            LifecycleError: the run did not end in time, can't start, or a person has asked to stop.
        """
        self._begun = begun = time.monotonic()
        problem, looks, errand = "", 0, None
        while True:
            try:
                errand, problem = self.step(), ""
                if errand is None:
                    raise LifecycleError(f"{self._key}: it was deleted before run {number} ended")
                self._report_progress(errand)
                ended = errand_run_report(errand, number)
                if ended["state"] != "running":
                    if self._log:
                        self._log.look(errand, is_end=True)
                    self._tidy()
                    return self.errand or errand, ended
            except ClusterError as error:
                # Such as a quota, which may accept a Job later.
                problem = str(error)
                self._report("retrying", problem)
            waited = time.monotonic() - begun
            self._refuse_end(number, errand, problem, waited)
            self._pause(PAUSES[min(looks, len(PAUSES) - 1)])
            looks += 1

    def _refuse_end(self, number: int, errand: Errand | None, problem: str, waited: float) -> None:
        """Raise an error if it is of no use to wait any longer."""
        if self._cancelled():
            raise LifecycleError(f"{self._key}: waiting was cancelled. {self._goes_on(number, errand)}")
        status = errand.status if errand else None
        is_fresh = self._options.reconciles or waited > REFUSAL_SECONDS
        if status and status.phase is ErrandPhase.REFUSED and is_fresh:
            raise LifecycleError(f"{self._key}: it can't run: {status.message}")
        if waited > self._options.seconds:
            at = f"phase {status.phase}" if status else "it could not be read"
            cause = problem or (status.message if status else "") or self._hint(number, errand)
            raise LifecycleError(
                f"{self._key}: run {number} did not end within {self._options.seconds:g} s ({at}"
                + (f": {cause}" if cause else "")
                + f"). {self._goes_on(number, errand)}"
            )

    def _hint(self, number: int, errand: Errand | None) -> str:
        has_begun = errand and errand.status.run and errand.status.run.number >= number
        if has_begun or self._options.reconciles:
            return ""
        return "no engine has started it. Check that an engine runs, or set reconcile: true"

    def _goes_on(self, number: int, errand: Errand | None) -> str:
        if errand is None or errand.status.run is None or errand.status.run.number < number:
            return "The errand stays, and runs at the next reconciliation"
        return (
            "The run continues in the cluster; an engine or kyma.lifecycle.reconcile_errands collects its"
            f" output. Read its log:\n{log_command(self._key, number)}"
        )

    def _tidy(self) -> None:
        """Delete a succeeded run's Job as soon as its pod has ended."""
        end = time.monotonic() + TIDY_SECONDS
        # Otherwise, the next engine or task deletes it.
        with suppress(LifecycleError):
            while self._options.reconciles and self._recheck and time.monotonic() < end:
                self._pause(min(self._recheck, 1.0))
                self.step()

    def _report_progress(self, errand: Errand) -> None:
        status = errand.status
        number = f"run {status.run.number}" if status.run else ""
        detail = ": ".join(one for one in (number, status.message) if one)
        self._report(str(status.phase).lower(), detail, self._cause(errand))

    def _cause(self, errand: Errand) -> str:
        """Why the Job of an open run is not complete; read only when that takes long."""
        run, now = errand.status.run, time.monotonic()
        if run is None or not run.is_open or not run.job or now < self._explain_at:
            return self._explained
        self._explain_at, self._explained = now + REPEAT_SECONDS, ""
        with suppress(ClusterError):
            job = self._cluster.get(*JOB, run.job, self._key.namespace)
            if job is not None:
                hanging = UnhealthyObject(JOB[0], ref_of(job), assess_health(job), job)
                self._explained = diagnose(self._cluster, hanging)
        return self._explained

    def _report(self, state: str, detail: str, cause: str = "") -> None:
        if (state, detail, cause) != self._reported:
            self._reported = (state, detail, cause)
            spent = time.monotonic() - self._begun
            step = Step(limit=self._options.seconds, spent=spent, reason=cause or detail)
            # The task itself says why a run failed.
            self._progress(str(self._key), state, detail, None if state == SUCCEEDED else step)

    def _pause(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and not self._cancelled():
            time.sleep(min(SLICE_SECONDS, left))


class _ErrandReader:
    """Fills an index with the objects that one errand depends on: its namespace, and no foreign pods.

    The other errands of its namespace count, too, because they may use the versions that it writes.

    Args:
        cluster: the live one.
        key: of the errand.

    Attributes:
        index: to decide from.
    """

    def __init__(self, cluster: Cluster, key: ErrandKey) -> None:
        self.index = ErrandIndex()
        self._cluster = cluster
        self._key = key
        self._known: dict[tuple[str, str], dict[str, Object]] = {}

    def refresh(self) -> Errand | None:
        """Read all objects again; return the errand, or None if it is gone.

        Raises:
            ClusterError: the server does not answer, or refuses a list.
        """
        errands, jobs, pods, *configuration = watched_scopes([self._key.namespace])
        selector = f"{ERRAND_LABEL}={label_value(self._key.name)}"
        self._read([errands, *(one._replace(label_selector=selector) for one in (jobs, pods))])
        errand = self.index.errand(self._key)
        if errand and needs_configuration(errand):
            # The list has only their versions; whole objects are read one by one.
            kinds = {one.kind for one in pod_references(errand.spec.pod_template)}
            self._read([one for one in configuration if one.kind in kinds])
        return errand

    def _read(self, scopes: Sequence[InformerScope]) -> None:
        pages = map_in_threads(lambda one: one.list(self._cluster), scopes)
        for scope, page in zip(scopes, pages, strict=True):
            kind, objects = scope[:2], {str(obj["metadata"]["name"]): obj for obj in page.items}
            for name, obj in self._known.get(kind, {}).items():
                if name not in objects:
                    self.index.discard(kind, obj)
            for obj in objects.values():
                self.index.put(kind, obj)
            self._known[kind] = objects
