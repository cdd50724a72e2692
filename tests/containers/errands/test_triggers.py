# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When errands run: by their strategy, by an annotation, and never again by themselves (cases 1 and 2)."""

from __future__ import annotations

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import API_VERSION, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_model import (
    KIND,
    RUN_REQUEST,
    ErrandPhase,
    RunReason,
    Strategy,
)

from tests.support.containers import container
from tests.support.errands import GATE, ErrandSite, errand
from tests.support.stories import Story, story

pytestmark = pytest.mark.containers

A_MOMENT = 2.0
"""Seconds in which a run that is not due would have started: several reconciliations."""


def conditions(site: ErrandSite, name: str) -> dict[str, str]:
    """The conditions of an errand: status by type."""
    return {one["type"]: one["status"] for one in site.errand(name).status.conditions}


@story
def test_once_runs_once_and_is_done_when_it_has_finished(site: ErrandSite) -> Story:
    """Case 1: `once` → one Job; applied again → no change; `once` put back → none."""
    for name, script in (("once", GATE), ("once-failing", f"{GATE}; exit 7")):
        site.apply(errand(name, container("main", script)))
    yield site.is_running("once", "once-failing")
    for name in ("once", "once-failing"):
        assert site.errand(name).spec.strategy is Strategy.ONCE
        assert site.errand(name).status.phase is ErrandPhase.RUNNING
    site.open_gate("once", "once-failing")
    yield site.is_settled("once", "once-failing", runs=1)
    for name, phase in (("once", ErrandPhase.SUCCEEDED), ("once-failing", ErrandPhase.FAILED)):
        assert (site.errand(name).spec.strategy, site.errand(name).status.phase) == (Strategy.DONE, phase)

    site.apply(errand("once", container("main", GATE)))
    assert site.errand("once").spec.strategy is Strategy.ONCE
    site.set_strategy("once-failing", "once")
    yield site.after(A_MOMENT)
    yield site.is_settled("once", "once-failing", runs=1)
    # What was declared is left as it is: to set it back would be a fight with who declares it.
    assert site.errand("once").spec.strategy is Strategy.ONCE
    assert site.errand("once-failing").spec.strategy is Strategy.ONCE
    assert site.created_jobs("once") == {"once-1"}
    assert site.created_jobs("once-failing") == {"once-failing-1"}


@story
def test_manual_runs_each_time_it_is_set_to_now(site: ErrandSite) -> Story:
    """Case 2: `manual` → no Job; `now` → a Job, then `manual` again; `now` patched again → a second Job."""
    site.create(errand("manual", container("main", GATE), strategy="manual"))
    yield site.after(A_MOMENT)
    yield site.is_settled("manual")
    assert site.jobs("manual") == []
    assert site.errand("manual").status.phase is ErrandPhase.IDLE
    for run in (1, 2):
        site.set_strategy("manual", "now")
        yield site.is_running("manual", run=run)
        assert site.errand("manual").spec.strategy is Strategy.NOW
        site.open_gate("manual", run=run)
        yield site.is_settled("manual", runs=run)
        settled_errand = site.errand("manual")
        assert (settled_errand.spec.strategy, settled_errand.status.phase) == (
            Strategy.MANUAL,
            ErrandPhase.SUCCEEDED,
        )
    assert site.created_jobs("manual") == {"manual-1", "manual-2"}
    assert [one["run"] for one in site.errand("manual").status.history] == [2, 1]


@story
def test_a_now_that_is_applied_runs_once_for_each_template(site: ErrandSite) -> Story:
    """Case 2: `now` applied again → none, by either kind of apply; a new template is another thing."""

    def declared(script: str) -> Object:
        return errand("declared", container("main", script), strategy="now")

    def server_side(script: str) -> None:
        obj = errand("server-side", container("main", script), strategy="now")
        site.cluster.apply({**obj, "metadata": {**obj["metadata"], "namespace": site.namespace}})

    site.apply(declared("exit 0"))
    server_side("exit 0")
    yield site.is_settled("declared", "server-side", runs=1)
    for name in ("declared", "server-side"):
        assert site.errand(name).spec.strategy is Strategy.MANUAL

    # Without force: who declares it has no conflict.
    site.apply(declared("exit 0"))
    server_side("exit 0")
    yield site.after(A_MOMENT)
    yield site.is_settled("declared", "server-side", runs=1)
    for name in ("declared", "server-side"):
        assert site.errand(name).spec.strategy is Strategy.NOW
        [condition] = [one for one in site.errand(name).status.conditions if one["type"] == "NowNotRepeated"]
        assert RUN_REQUEST in condition["message"]

    site.apply(declared("exit 0 # another one"))
    server_side("exit 0 # another one")
    yield site.is_settled("declared", "server-side", runs=2)
    assert site.created_jobs("declared") == {"declared-1", "declared-2"}
    assert site.created_jobs("server-side") == {"server-side-1", "server-side-2"}


@story
def test_a_template_that_changes_during_a_run_runs_next(site: ErrandSite) -> Story:
    """Case 2: the template changed during the run → it runs next."""
    site.create(errand("changing", container("main", GATE), strategy="now"))
    site.create(errand("changing-once", container("main", GATE)))
    yield site.is_running("changing", "changing-once")
    template = errand("_", container("main", "exit 0"))["spec"]["template"]
    site.patch("changing", template=template)
    site.patch("changing-once", template=template)
    site.open_gate("changing", "changing-once")
    yield site.is_settled("changing", "changing-once", runs=2)
    for name, strategy in (("changing", Strategy.MANUAL), ("changing-once", Strategy.DONE)):
        settled_errand = site.errand(name)
        assert (settled_errand.spec.strategy, settled_errand.status.phase) == (
            strategy,
            ErrandPhase.SUCCEEDED,
        )
        assert site.created_jobs(name) == {f"{name}-1", f"{name}-2"}


@story
def test_an_annotation_requests_a_run_and_leaves_the_spec_alone(site: ErrandSite) -> Story:
    """Case 2: the annotation `run-requested` runs any errand once for each new value."""
    site.create(errand("asked-manual", container("main", "exit 0"), strategy="manual"))
    site.create(errand("asked-done", container("main", "exit 0"), strategy="done"))
    names = ("asked-manual", "asked-done")
    yield site.is_settled(*names)
    before = {name: site.object(name)["metadata"]["generation"] for name in names}
    for run, value in ((1, "first"), (2, "second")):
        for name in names:
            annotated = {"metadata": {"annotations": {RUN_REQUEST: value}}}
            site.cluster.patch(API_VERSION, KIND, name, site.namespace, annotated)
        yield site.is_settled(*names, runs=run)
    for name in names:
        [latest, earlier] = site.errand(name).status.history
        assert (latest["why"], earlier["why"]) == (RunReason.REQUESTED, RunReason.REQUESTED)
        assert site.object(name)["metadata"]["generation"] == before[name]
    yield site.after(A_MOMENT)
    yield site.is_settled(*names, runs=2)
