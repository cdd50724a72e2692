# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine: it watches the errands of a cluster and reconciles them until it is cancelled."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus

from .._carrier.task import LEASE_SECONDS
from .._cluster.cluster import Cluster, Object
from .._cluster.fence import LeaseLost
from .._cluster.informer import Informer, InformerScope
from .._errors import LifecycleError
from .._redaction import describe_defect, without_secrets
from .._runs.lease.fence_token import Fence, fenced_cluster
from .._runs.lease.held_lease import HeldLease
from .._runs.lease.named_lease import hold_named_lease
from .._threads import map_in_threads
from .._work_queue import WorkQueue
from .endpoint.engine_health import EngineHealth
from .endpoint.http_endpoint import Answer, http_endpoint
from .endpoint.server_outage import ServerOutage
from .errand_index import ErrandIndex, watched_scopes
from .errand_model import ErrandKey
from .errand_view import WORKERS, RunOptions
from .metrics import EngineMetrics, Textfile
from .reconciler import Outcome, Reconciler, no_listener
from .reduced_objects import has_grown, reduced_object, reduced_quota
from .slow_namespaces import SlowNamespaces

LEASE = "errands"
"""The lease of the engine, in the namespace of all leases."""
TICK_SECONDS = 1.0
"""How often it looks whether it is to end, and whether it still has the lease."""
SYNC_SECONDS = 60.0
"""How long the first lists may take before a person is told."""
END_SECONDS = 30.0
"""How long what is in flight may take to end."""
QUOTA_SECONDS = 1.0
"""After how long to try again what a quota has refused, after it has grown."""
KNOWN_FAILURES = 8
"""How many failures of an errand in a row the line about an API server that does not answer stands for."""
REPEAT_SECONDS = 600.0
"""After how long the same trouble is told again."""

Report = Callable[[str, str], None]
"""Gets what a person should know: a state and a sentence."""


@dataclass(frozen=True, kw_only=True)
class EngineOptions(RunOptions):
    """How an engine works.

    Attributes:
        namespaces: whose errands it reconciles; all if empty.
        workers: how many errands are reconciled at the same time.
        metrics_file: where metrics are written; nowhere if empty.
        http_address: where liveness, readiness and metrics are served; nowhere if empty.
        lease_seconds: how long its lease lasts after each renewal. After that time, another engine takes over
            from one that was killed.
    """

    namespaces: tuple[str, ...] = ()
    workers: int = WORKERS
    metrics_file: str = ""
    http_address: str = ""
    lease_seconds: int = LEASE_SECONDS


class ErrandEngine:
    """Watches errands and what they depend on, and reconciles each errand when any of that changes.

    It works under a lease; a second engine stands by. Its first pass finds all that was missed while no
    engine worked, because decisions are made from the whole state.

    Args:
        cluster: the live one.
        options: its options.
        report: called with each message for people.
        on_outcome: called with each change of phase, in one of the engine's threads.
    """

    def __init__(
        self,
        cluster: Cluster,
        options: EngineOptions,
        *,
        report: Report = lambda _state, _text: None,
        on_outcome: Callable[[Outcome], None] = no_listener,
    ) -> None:
        self._cluster = cluster
        self._options = options
        self._health = EngineHealth()
        self._report = self._with_note(report)
        self._on_outcome = on_outcome
        self._metrics = EngineMetrics()
        self._textfile = Textfile(options.metrics_file)
        self._troubles = _TroubleLog(self._report)
        self._outage = ServerOutage(self._report)
        self._metrics_text = self._idle_metrics
        self._slow = SlowNamespaces()

    def run(self, cancelled: Callable[[], bool]) -> None:
        """Work until it is cancelled; if the lease is lost, stand by for it again.

        Raises:
            ClusterError: the engine can't get the lease, because it lacks rights or a login. It waits for an
                unreachable server.
            LifecycleError: the address of its endpoint can't be used.
        """
        cancelled = self._health.turns(cancelled)
        with http_endpoint(self._options.http_address, self._answers()):
            try:
                while not cancelled():
                    self._write_idle_metrics()
                    with hold_named_lease(
                        self._cluster, LEASE, cancelled, self._report, seconds=self._options.lease_seconds
                    ) as lease:
                        if lease is not None:
                            self._work(lease, cancelled)
            finally:
                self._write_idle_metrics()

    def _answers(self) -> Mapping[str, Callable[[], Answer]]:
        def live() -> Answer:
            death = self._health.death()
            return (HTTPStatus.SERVICE_UNAVAILABLE, death) if death else (HTTPStatus.OK, "ok")

        def ready() -> Answer:
            is_ready, text = self._health.readiness()
            return (HTTPStatus.OK if is_ready else HTTPStatus.SERVICE_UNAVAILABLE, text)

        return {
            "/livez": live,
            "/readyz": ready,
            "/metrics": lambda: (HTTPStatus.OK, self._metrics_text()),
        }

    def _with_note(self, report: Report) -> Report:
        def note_and_report(state: str, text: str) -> None:
            self._health.note(state, text)
            report(state, text)

        return note_and_report

    def _work(self, lease: HeldLease, cancelled: Callable[[], bool]) -> None:
        index: ErrandIndex = ErrandIndex()
        queue: WorkQueue[ErrandKey] = WorkQueue(slow_group=self._slow.group)
        reconciler = Reconciler(
            fenced_cluster(self._cluster, lease, Fence()),
            index,
            options=self._options,
            on_outcome=self._count_and_hand_on,
            slow=self._slow,
        )

        def is_over() -> bool:
            return cancelled() or bool(lease.loss_reason)

        self._health.follow(lambda: len(index.keys()), lease.seconds_left)
        with self._watched(index, queue) as informers:
            self._metrics_text = lambda: self._working_metrics(index, queue)
            self._write(self._metrics_text)
            if self._is_synced(informers, lease, is_over):
                self._report("watching", f"{len(index.keys())} errands")
                with self._working(queue, reconciler):
                    pause = threading.Event()
                    while not is_over():
                        self._check_server(informers, lease)
                        self._write(self._metrics_text)
                        pause.wait(TICK_SECONDS)
        if lease.loss_reason:
            self._report("lost", f"the lease: {lease.loss_reason}. This engine stands by")

    @contextmanager
    def _watched(self, index: ErrandIndex, queue: WorkQueue[ErrandKey]) -> Iterator[list[Informer]]:
        scopes = watched_scopes(self._options.namespaces)
        informers = [self._informer(scope, index, queue) for scope in scopes]
        # The engine does not wait for these: without them, it only reacts later to a quota that grows.
        quotas = [
            self._quota_informer(namespace, index, queue) for namespace in self._options.namespaces or ("",)
        ]
        for one in (*informers, *quotas):
            one.start()
        try:
            yield informers
        finally:
            # In parallel, as each may wait for an unreachable server.
            map_in_threads(Informer.stop, [*informers, *quotas])

    def _informer(self, scope: InformerScope, index: ErrandIndex, queue: WorkQueue[ErrandKey]) -> Informer:
        kind = scope[:2]

        def on_change(old: Object | None, new: Object | None) -> None:
            gone = index.discard(kind, old) if old is not None and new is None else set()
            for key in gone | (index.put(kind, new) if new is not None else set()):
                queue.add(key)

        return self._informer_of(scope, on_change, lambda obj: reduced_object(kind, obj))

    def _quota_informer(self, namespace: str, index: ErrandIndex, queue: WorkQueue[ErrandKey]) -> Informer:
        def on_change(old: Object | None, new: Object | None) -> None:
            if has_grown(old, new):
                quota_namespace = str((new or old or {})["metadata"]["namespace"])
                for key in index.record_grown_quota(quota_namespace, datetime.now(UTC)):
                    queue.add(key)
                    # The server's own check of the quota may be a moment behind.
                    queue.add_after(key, QUOTA_SECONDS)

        return self._informer_of(InformerScope("v1", "ResourceQuota", namespace), on_change, reduced_quota)

    def _informer_of(
        self,
        watched: InformerScope,
        on_change: Callable[[Object | None, Object | None], None],
        keep: Callable[[Object], Object],
    ) -> Informer:
        def on_error(error: Exception) -> None:
            if not self._outage.is_unanswered(error):
                self._troubles.add("retrying", f"watch {watched}: {without_secrets(str(error))}")

        return Informer(self._cluster, watched, on_change, keep, on_error=on_error)

    def _is_synced(
        self, informers: Sequence[Informer], lease: HeldLease, is_over: Callable[[], bool]
    ) -> bool:
        """Wait for the first lists, as decisions from half of the state would be wrong."""
        patience = time.monotonic() + SYNC_SECONDS
        for informer in informers:
            while not informer.is_synced_within(TICK_SECONDS):
                self._check_server(informers, lease)
                if is_over():
                    return False
                if time.monotonic() > patience:
                    self._troubles.add(
                        "waiting",
                        f"the cluster has not answered the list of {informer.subject}. The engine retries,"
                        " and reconciles nothing until then",
                    )
        return not is_over()

    def _check_server(self, informers: Sequence[Informer], lease: HeldLease) -> None:
        failing = [str(one.subject) for one in informers if not one.is_following]
        self._health.note_watches(failing)
        self._outage.check(
            has_failing_watches=bool(failing),
            lease_age=lease.seconds - lease.seconds_left(),
            lease_seconds=lease.seconds,
        )

    @contextmanager
    def _working(self, queue: WorkQueue[ErrandKey], reconciler: Reconciler) -> Iterator[None]:
        threads = [
            threading.Thread(
                target=self._reconcile_from, args=(queue, reconciler), name=f"errands {number}", daemon=True
            )
            for number in range(self._options.workers)
        ]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            queue.close()
            end = time.monotonic() + END_SECONDS
            for thread in threads:
                thread.join(max(0.0, end - time.monotonic()))

    def _reconcile_from(self, queue: WorkQueue[ErrandKey], reconciler: Reconciler) -> None:
        while (key := queue.take()) is not None:
            try:
                # If many are due, all of them get their Jobs before any gets the next step.
                reconciled = reconciler.reconcile(key, queue.has_ready)
            except LeaseLost:
                # One message covers all errands; the holder of the lease then reconciles this one.
                queue.retry(key)
            except LifecycleError as error:
                failures = queue.retry(key)
                is_known = self._outage.is_unanswered(error) and (
                    failures < KNOWN_FAILURES or self._outage.is_reported
                )
                self._record_failure(failures, key, "" if is_known else str(error))
            except Exception as error:
                # One errand must not keep the others from being reconciled.
                text = f"this is a defect, please report it: {describe_defect(error)[1]}"
                self._record_failure(queue.retry(key), key, text)
            else:
                self._metrics.count_reconciliation(key, has_failed=False)
                queue.done(key)
                if reconciled.recheck_seconds is not None:
                    queue.add_after(key, reconciled.recheck_seconds)

    def _record_failure(self, failures: int, key: ErrandKey, text: str) -> None:
        self._metrics.count_reconciliation(key, has_failed=True)
        # Report it the first time, and then at doubling numbers.
        if text and failures & (failures - 1) == 0:
            cause = text.removeprefix(f"{key}: ")
            self._report("failed", f"{key}: {cause}; it is tried again ({failures} failures in a row)")

    def _count_and_hand_on(self, outcome: Outcome) -> None:
        self._metrics.count_outcome(outcome)
        self._on_outcome(outcome)

    def _working_metrics(self, index: ErrandIndex, queue: WorkQueue[ErrandKey]) -> str:
        longest = queue.longest_seconds
        return self._metrics.text(
            index.errands(),
            is_leader=True,
            waiting=len(queue),
            oldest_reconciliation=time.time() - longest if longest else None,
            failing_watches=self._health.failing_watches,
        )

    def _idle_metrics(self) -> str:
        return self._metrics.text((), is_leader=False, waiting=0)

    def _write_idle_metrics(self) -> None:
        """Write metrics without the lease at once: another engine may get it in the next moment."""
        self._metrics_text = self._idle_metrics
        self._write(self._metrics_text, now=True)

    def _write(self, text: Callable[[], str], *, now: bool = False) -> None:
        try:
            self._textfile.write(text, now=now)
        except OSError as error:
            problem = f"{self._options.metrics_file} can't be written: {error.strerror}"
            self._troubles.add(
                "metrics", f"{problem}. Name a file in a folder that exists, and that we may write"
            )


class _TroubleLog:
    """Reports failures, the same one only once in a while. Usable from several threads."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._lock = threading.Lock()
        self._reported: dict[str, float] = {}

    def add(self, state: str, text: str) -> None:
        """Report it, unless it was reported lately."""
        now = time.monotonic()
        with self._lock:
            self._reported = {one: at for one, at in self._reported.items() if now - at < REPEAT_SECONDS}
            if text in self._reported:
                return
            self._reported[text] = now
        self._report(state, text)
