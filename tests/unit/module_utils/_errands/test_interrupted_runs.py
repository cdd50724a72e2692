# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A reconciler is killed, left without an answer or overtaken at each of its calls; the next one goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import (
    ClusterError,
    Conflict,
    Unreachable,
    api_error,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.wrapper import Call
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands import output_collector, reconciler
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_index import ERRAND, JOB
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_model import (
    ErrandKey,
    ErrandPhase,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.versions import output_versions

from tests.support.errand_stories import STORIES, ErrandStory, end_state
from tests.support.extent import cases, sample
from tests.support.hooked_cluster import HookedCluster, Killed
from tests.support.played_errands import MOST_ROUNDS, NAMESPACE, PlayedErrands, errand_object
from tests.support.played_jobs import ContainerRun

STORY_OF_EACH_WRITE = (
    "a once with versioned output",
    "a now that fails, with plain output",
    "a wait for a ConfigMap, whose pod goes with its Job",
)
"""Each write of all stories is in one of these."""


@pytest.fixture(autouse=True)
def _lists_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """The calls of an index have the same order in each play, and no threads take most of the time."""

    def map_in_order(work: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        return [work(item) for item in items]

    monkeypatch.setattr(reconciler, "map_in_threads", map_in_order)
    for module in (output_collector, output_versions):
        monkeypatch.setattr(module, "map_in_threads", lambda work, items, _threads: map_in_order(work, items))


def settle_through(error: type[BaseException]) -> Callable[[PlayedErrands], None]:
    """Brings all to rest, with a new reconciler after each error."""

    def settle(played: PlayedErrands) -> None:
        for _attempt in range(MOST_ROUNDS):
            try:
                played.settle()
            except error:
                continue
            return
        raise AssertionError("no rest")

    return settle


def calls_of(story: ErrandStory, matters: Callable[[Call], bool]) -> list[int]:
    """The numbers of the calls that matter among those of a story in which nothing goes wrong."""
    played = PlayedErrands()
    played.seen = hooked = HookedCluster(played.cluster)
    story.play(played=played)
    return [number for number, call in enumerate(hooked.calls, 1) if matters(call)]


def is_write(call: Call) -> bool:
    """Whether a call may change something."""
    return call.writes


def decides_much(call: Call) -> bool:
    """Whether somebody may act before a call; lists of an index are made side by side, so two will do."""
    return call.verb != "list" or bool(call.namespace) or call.kind in ("Errand", "Job")


def disturbed(story: ErrandStory, n: int, error: BaseException, *, before: bool) -> list[str]:
    """The problems at the end of a story in which the nth call fails."""

    def fail(number: int, call: Call) -> None:
        del call
        if number == n:
            raise error

    played = PlayedErrands()
    hooks = {"before" if before else "after": fail}
    played.seen = hooked = HookedCluster(played.cluster, **hooks)
    story.play(settle_through(type(error)), played)
    problems = story.problems(played)
    if not problems and end_state(played) != undisturbed_end(story):
        problems = [f"end state: {end_state(played)} instead of {undisturbed_end(story)}"]
    call = hooked.calls[n - 1]
    return [f"call {n} ({call.verb} {call.kind}): {problem}" for problem in problems]


@cache
def undisturbed_end(story: ErrandStory) -> Object:
    """How a story ends in which nothing goes wrong."""
    return end_state(story.play())


def stories(*few: str) -> pytest.MarkDecorator:
    """Some stories, and the others where everything is tried."""
    names = cases(few, [name for name in STORIES if name not in few])
    return pytest.mark.parametrize("story", [STORIES[name] for name in names], ids=names)


@stories(*STORIES)
def test_a_story_ends_well_if_nothing_goes_wrong(story: ErrandStory) -> None:
    assert story.problems(story.play()) == []


@stories(*STORIES)
@pytest.mark.parametrize("before", cases([False], [True]), ids=cases(["after"], ["before"]))
def test_the_next_reconciler_completes_what_a_killed_one_left(story: ErrandStory, before: bool) -> None:
    # Between two writes it makes no difference where it is killed: "before" only adds the first write.
    writes = calls_of(story, is_write)
    assert len(writes) > 9
    assert [text for n in sample(writes, 5) for text in disturbed(story, n, Killed(), before=before)] == []


@stories(*STORY_OF_EACH_WRITE)
def test_a_lost_answer_changes_nothing(story: ErrandStory) -> None:
    error = Unreachable("connection reset")
    writes = calls_of(story, is_write)
    assert [text for n in sample(writes, 5) for text in disturbed(story, n, error, before=False)] == []


@stories(*STORY_OF_EACH_WRITE)
def test_a_conflict_changes_nothing(story: ErrandStory) -> None:
    error = api_error("patch it", 409, {"reason": "Conflict", "message": "it has been modified"})
    assert isinstance(error, Conflict)
    writes = calls_of(story, is_write)
    assert [text for n in sample(writes, 5) for text in disturbed(story, n, error, before=True)] == []


def overtaken(story: ErrandStory, n: int, act: Callable[[PlayedErrands], object]) -> list[str]:
    """The problems at the end of a story in which another reconciler acts before the nth call."""
    played = PlayedErrands()

    def act_meanwhile(number: int, call: Call) -> None:
        del call
        if number == n:
            own, played.seen = played.seen, played.cluster
            act(played)
            played.seen = own

    played.seen = hooked = HookedCluster(played.cluster, before=act_meanwhile)
    story.play(settle_through(ClusterError), played)
    problems = story.problems(played)
    if not problems and end_state(played) != undisturbed_end(story):
        problems = [f"end state: {end_state(played)} instead of {undisturbed_end(story)}"]
    call = hooked.calls[n - 1]
    return [f"call {n} ({call.verb} {call.kind}): {problem}" for problem in problems]


def reconcile_twice(played: PlayedErrands) -> None:
    """Another reconciler does what can be done now, and again after a moment of the cluster."""
    for name in played.names(ERRAND):
        played.reconcile(name)
        played.jobs.tick()
        played.reconcile(name)


@stories(*STORY_OF_EACH_WRITE)
def test_two_reconcilers_at_once_start_one_run(story: ErrandStory) -> None:
    calls = calls_of(story, decides_much)
    assert len(calls) > 20
    assert [text for n in sample(calls, 8) for text in overtaken(story, n, reconcile_twice)] == []


@pytest.mark.parametrize("labels", [{}, {"delete": "pod"}], ids=["pod stays", "pod goes"])
def test_a_reconciler_that_is_behind_does_not_start_what_has_run(labels: dict[str, str]) -> None:
    played = PlayedErrands()
    played.jobs.runs["main"] = ContainerRun()
    played.create(errand_object(labels=labels))
    played.seen = HookedCluster(played.cluster, before=_kill_at_creation_of_job)
    with pytest.raises(Killed):
        played.reconcile()
    played.seen = played.cluster
    behind = played.reconciler()
    played.settle()
    behind.reconcile(ErrandKey(NAMESPACE, "app"))
    played.settle()
    assert played.made_jobs() == ["app-1"]
    assert played.errand().status.phase is ErrandPhase.SUCCEEDED


def test_a_run_whose_job_another_reconciler_creates_meanwhile_goes_on() -> None:
    for when in range(1, 13):
        played = PlayedErrands()
        played.create(errand_object())
        played.seen = HookedCluster(played.cluster, before=_kill_at_creation_of_job)
        with pytest.raises(Killed):
            played.reconcile()
        other = HookedCluster(played.cluster, after=_kill_at_creation_of_job)

        def create_job(
            number: int, call: Call, when: int = when, played: PlayedErrands = played, other: Cluster = other
        ) -> None:
            del call
            if number == when:
                with pytest.raises(Killed):
                    played.reconcile(cluster=other)
                played.jobs.tick()

        played.seen = HookedCluster(played.cluster, before=create_job)
        played.reconcile()
        assert played.errand().status.phase is ErrandPhase.RUNNING, f"its Job was created before call {when}"
        assert played.made_jobs() == played.job_names() == ["app-1"]


def _kill_at_creation_of_job(number: int, call: Call) -> None:
    del number
    if (call.verb, call.kind) == ("create", "Job"):
        raise Killed


def test_a_second_job_of_a_run_that_has_ended_is_deleted() -> None:
    played = PlayedErrands()
    played.jobs.runs["main"] = ContainerRun()
    played.create(errand_object())
    played.reconcile()
    late = {**played.object("app-1", JOB), "status": None}
    played.settle()
    for name in ("uid", "resourceVersion", "creationTimestamp", "managedFields", "generation"):
        late["metadata"].pop(name, None)
    played.cluster.create(late)
    assert played.job_names() == ["app-1"]
    played.settle()
    assert played.job_names() == []
    assert [one["run"] for one in played.errand().status.history] == [1]
