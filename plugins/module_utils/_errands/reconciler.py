# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reconciles errands: read, decide, act, and repeat until nothing is left to do now."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from .._batch import Batch
from .._cluster.cluster import Cluster
from .._errors import LifecycleError
from .._redaction import describe_defect
from .._threads import map_in_threads
from .errand_index import ERRAND, ErrandIndex, watched_scopes
from .errand_model import Errand, ErrandKey, ErrandPhase, OutputNote
from .errand_reader import ErrandReader
from .errand_steps import SIGNALS, Decision, Step, WriteStatus
from .errand_view import DEFAULT_OPTIONS, RunOptions
from .next_steps import next_steps
from .slow_namespaces import SlowNamespaces
from .step_execution import Overtaken, StepExecution

ROUNDS = 20
"""How often one errand is looked at in a row; more than any run takes."""

Outcome = Mapping[str, Any]
"""A change of phase for others: ``state`` (waiting, started, succeeded, failed, refused), ``namespace``,
``name``, ``run``, ``reason``, ``message``, ``exit_code``, ``seconds`` (None before its end), ``secrets``,
the names of those with the output, ``unchanged``, how many of these had it before, and ``pruned``, the names
of those deleted as old versions."""
_STATES = {
    ErrandPhase.WAITING: "waiting",
    ErrandPhase.RUNNING: "started",
    ErrandPhase.SUCCEEDED: "succeeded",
    ErrandPhase.FAILED: "failed",
    ErrandPhase.REFUSED: "refused",
}


@dataclass(frozen=True)
class Reconciled:
    """The result of a reconciliation of an errand.

    Attributes:
        key: of the errand.
        steps: the executed steps, in their order.
        recheck_seconds: after how many seconds to reconcile again even without a change; None for never.
    """

    key: ErrandKey
    steps: tuple[Step, ...] = ()
    recheck_seconds: float | None = None


def no_listener(outcome: Outcome) -> None:
    """An observer of outcomes that ignores them."""


class Reconciler:
    """Reconciles errands. Two of them at once do no harm.

    Args:
        cluster: the live one.
        index: of its errands.
        options: of runs.
        on_outcome: called with each change of phase that this reconciler caused.
        slow: gets the errands of which a command ran out of time.
        now: returns the time; for tests.
    """

    def __init__(
        self,
        cluster: Cluster,
        index: ErrandIndex,
        *,
        options: RunOptions = DEFAULT_OPTIONS,
        on_outcome: Callable[[Outcome], None] = no_listener,
        slow: SlowNamespaces | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._cluster = cluster
        self._index = index
        self._reader = ErrandReader(cluster, index, options=options, now=now)
        self._execution = StepExecution(cluster, index, self._reader, self._report, slow or SlowNamespaces())
        self._on_outcome = on_outcome

    def decide(self, key: ErrandKey) -> Decision:
        """The steps that an errand needs now. It writes nothing except perhaps a key for digests.

        Raises:
            ClusterError: the server does not answer.
        """
        view = self._reader.view(key)
        if view is None:
            return Decision()
        decision = next_steps(view)
        steps = tuple(self._execution.rehearsed(view.errand, step) for step in decision.steps)
        return replace(decision, steps=steps)

    def reconcile(self, key: ErrandKey, others_wait: Callable[[], bool] = lambda: False) -> Reconciled:
        """Execute the steps that an errand needs now.

        Args:
            key: of the errand.
            others_wait: whether other errands wait for this one. If so, it ends after one decision, such as
                to create its Job. The rest is due at once.

        Raises:
            LifecycleError: the server does not answer, or refuses a write.
        """
        done: list[Step] = []
        for _round in range(ROUNDS):
            view = self._reader.view(key)
            if view is None or view.errand.is_deleting:
                self._execution.release_left(key)
                return Reconciled(key, tuple(done))
            decision = next_steps(view)
            if not decision.steps:
                return Reconciled(key, tuple(done), decision.recheck_seconds)
            if not all(isinstance(step, WriteStatus) for step in decision.steps):
                self._reader.demand_rights(view.errand)
            try:
                for step in decision.steps:
                    view = self._execution.do(view, step)
                    done.append(step)
            except Overtaken:
                self._refresh(key)
                continue
            if all(isinstance(step, SIGNALS) for step in decision.steps):
                return Reconciled(key, tuple(done), decision.recheck_seconds)
            if others_wait():
                return Reconciled(key, tuple(done), 0.0)
        raise LifecycleError(
            f"{key}: it has changed {ROUNDS} times while it was looked at. If nobody changes it, this is a"
            " defect: please report it with the errand's status"
        )

    def _report(self, errand: Errand) -> None:
        if errand.status.phase in _STATES:
            self._on_outcome(_outcome(errand))

    def _refresh(self, key: ErrandKey) -> None:
        live = self._cluster.get(*key.address)
        if live is None:
            self._index.discard(ERRAND, {"metadata": {"name": key.name, "namespace": key.namespace}})
        else:
            self._index.put(ERRAND, live)


def _outcome(errand: Errand) -> Outcome:
    status = errand.status
    run = status.run
    ended = run.outcome if run else None
    output = (run.output if run else None) or OutputNote()
    return {
        "state": _STATES[status.phase],
        "namespace": errand.key.namespace,
        "name": errand.key.name,
        "run": run.number if run else 0,
        "reason": ended.reason if ended else str(run.reason) if run else "",
        "message": status.message,
        "exit_code": ended.exit_code if ended else None,
        "seconds": ended.seconds if ended else None,
        "secrets": list(output.secrets),
        "pruned": list(output.pruned),
        "unchanged": output.unchanged,
    }


def read_index(cluster: Cluster, namespaces: Sequence[str] = ()) -> ErrandIndex:
    """All objects that errands depend on: one list for each kind, in all namespaces or in each of some.

    Raises:
        ClusterError: the server does not answer, or refuses a list.
    """
    index = ErrandIndex()
    scopes = watched_scopes(namespaces)
    for scope, page in zip(scopes, map_in_threads(lambda one: one.list(cluster), scopes), strict=True):
        for obj in page.items:
            index.put(scope[:2], obj)
    return index


@dataclass(frozen=True)
class Failure:
    """An errand that could not be reconciled.

    Attributes:
        key: of the errand.
        message: why.
    """

    key: ErrandKey
    message: str


def reconcile_all(
    reconciler: Reconciler, keys: Sequence[ErrandKey], batch: Batch | None = None
) -> tuple[list[Reconciled], list[Failure]]:
    """Reconcile errands once; one that fails never stops the others."""
    # One that is in work when the batch is stopped makes only the step that it has decided on.
    batch = batch or Batch()
    return _for_each(lambda key: reconciler.reconcile(key, batch.cancelled), keys, batch)


def rehearse_all(
    reconciler: Reconciler, keys: Sequence[ErrandKey], batch: Batch | None = None
) -> tuple[list[Reconciled], list[Failure]]:
    """The next steps of errands, without their execution. The steps after them are not known yet."""

    def decide(key: ErrandKey) -> Reconciled:
        decision = reconciler.decide(key)
        return Reconciled(key, decision.steps, decision.recheck_seconds)

    return _for_each(decide, keys, batch or Batch())


def _for_each(
    work: Callable[[ErrandKey], Reconciled], keys: Sequence[ErrandKey], batch: Batch
) -> tuple[list[Reconciled], list[Failure]]:
    def attempt(key: ErrandKey) -> Reconciled | Failure:
        try:
            return work(key)
        except LifecycleError as error:
            return Failure(key, str(error))
        except Exception as error:
            # One errand must not keep the others from being reconciled.
            return Failure(key, f"this is a defect, please report it: {describe_defect(error)[1]}")

    results = batch.map(attempt, keys)
    done = [one for one in results if isinstance(one, Reconciled)]
    return done, [one for one in results if isinstance(one, Failure)]
