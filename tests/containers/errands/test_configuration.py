# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs because of a changed configuration, and waiting for a missing one (cases 6 and 7)."""

from __future__ import annotations

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_model import (
    ErrandPhase,
    RunReason,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.reconciler import Failure

from tests.support.containers import container
from tests.support.errands import GATE, ErrandSite, errand
from tests.support.stories import Story, story

pytestmark = pytest.mark.containers

A_MOMENT = 2.0
"""Seconds in which a run that is not due would have started."""


def using(config_map: str, script: str = "true", *, is_optional: bool = False) -> Object:
    """A container that needs a key of a ConfigMap."""
    reference = {"name": config_map, "key": "key", **({"optional": True} if is_optional else {})}
    return container("main", script, env=[{"name": "KEY", "valueFrom": {"configMapKeyRef": reference}}])


def create_config(site: ErrandSite, name: str, value: str = "first") -> None:
    """Create a ConfigMap with one key."""
    site.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"key": value}})


def change_config(site: ErrandSite, name: str, value: str) -> None:
    """Change the data of a ConfigMap."""
    site.cluster.patch("v1", "ConfigMap", name, site.namespace, {"data": {"key": value}})


@story
def test_a_changed_configuration_runs_an_auto_errand_again(site: ErrandSite) -> Story:
    """Case 6: ConfigMap data change → one rerun; metadata change, or the flag off → none."""
    names = ("reruns", "flag-off", "reruns-binary")
    for name in names:
        create_config(site, name)
        site.create(errand(name, using(name), reruns=name != "flag-off"))
    yield site.is_settled(*names, runs=1)

    for name in names:
        labelled = {"metadata": {"labels": {"changed": "true"}, "annotations": {"changed": "true"}}}
        site.cluster.patch("v1", "ConfigMap", name, site.namespace, labelled)
    yield site.after(A_MOMENT)
    yield site.is_settled(*names, runs=1)

    for name in names[:2]:
        change_config(site, name, "second")
    binary = {"binaryData": {"other": "AAEC"}}
    site.cluster.patch("v1", "ConfigMap", "reruns-binary", site.namespace, binary)
    yield site.is_settled("reruns", "reruns-binary", runs=2)
    yield site.after(A_MOMENT)
    yield site.is_settled("reruns", "reruns-binary", runs=2)
    yield site.is_settled("flag-off", runs=1)
    run = site.errand("reruns").status.run
    assert run is not None
    assert run.reason is RunReason.CONFIGURATION_CHANGED


@story
def test_two_reconcilers_and_several_changes_make_one_run(site: ErrandSite) -> Story:
    """Case 6: two reconcilers at once, or three changes in a run → one."""
    names = ("raced", "changed-often")
    for name in names:
        create_config(site, name)
        site.create(errand(name, using(name, GATE), reruns=True))
    yield site.is_running(*names)
    site.open_gate(*names)
    yield site.is_settled(*names, runs=1)

    site.pause("raced")
    yield site.after(0)
    change_config(site, "raced", "second")
    results = site.reconcile_by(3, "raced")
    assert [one for one in results if isinstance(one, Failure)] == []
    assert [one["metadata"]["name"] for one in site.jobs("raced")] == ["raced-2"]
    site.resume("raced")
    change_config(site, "changed-often", "second")
    yield site.is_running(*names, run=2)
    for value in ("third", "fourth", "fifth"):
        change_config(site, "changed-often", value)
    site.open_gate(*names, run=2)
    yield site.is_running("changed-often", run=3)
    site.open_gate("changed-often", run=3)
    yield site.is_settled("changed-often", runs=3)
    yield site.after(A_MOMENT)
    yield site.is_settled("changed-often", runs=3)
    yield site.is_settled("raced", runs=2)
    assert site.created_jobs("raced") == {"raced-1", "raced-2"}
    assert site.created_jobs("changed-often") == {f"changed-often-{run}" for run in (1, 2, 3)}


@story
def test_an_errand_waits_for_what_it_refers_to(site: ErrandSite) -> Story:
    """Case 7: ConfigMap missing, then made → starts then; a missing key counts, `optional` does not wait."""
    create_config(site, "incomplete")
    site.cluster.patch("v1", "ConfigMap", "incomplete", site.namespace, {"data": {"key": None}})
    for name in ("missing", "incomplete"):
        site.create(errand(name, using(name)))
    site.create(errand("optional", using("missing", is_optional=True)))
    yield site.is_settled("missing", "incomplete")
    yield site.is_settled("optional", runs=1)
    for name, what in (("missing", "ConfigMap"), ("incomplete", "key key of ConfigMap")):
        status = site.errand(name).status
        assert status.phase is ErrandPhase.WAITING
        assert f"{what} {site.namespace}/{name}" in status.message
        assert site.jobs(name) == []

    create_config(site, "missing")
    change_config(site, "incomplete", "there")
    yield site.is_settled("missing", "incomplete", runs=1)
    for name in ("missing", "incomplete"):
        assert site.errand(name).status.phase is ErrandPhase.SUCCEEDED


@story
def test_changes_while_no_reconciler_runs_cause_one_run(site: ErrandSite) -> Story:
    """Case 7: changed while no reconciler ran → one rerun when one starts."""
    create_config(site, "unwatched")
    site.create(errand("unwatched", using("unwatched"), reruns=True))
    yield site.is_settled("unwatched", runs=1)
    site.pause("unwatched")
    for value in ("second", "third"):
        change_config(site, "unwatched", value)
    yield site.after(A_MOMENT)
    assert site.jobs("unwatched") == []
    site.resume("unwatched")
    yield site.is_settled("unwatched", runs=2)
    yield site.after(A_MOMENT)
    yield site.is_settled("unwatched", runs=2)

    # Back to what the last run was made with: nothing has changed.
    site.pause("unwatched")
    for value in ("fourth", "third"):
        change_config(site, "unwatched", value)
    site.resume("unwatched")
    yield site.after(A_MOMENT)
    yield site.is_settled("unwatched", runs=2)
