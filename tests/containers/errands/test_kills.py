# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reconcilers that are killed between any two of their calls (case 12).

Each process dies right after the first call that no one before it has made; see
tests/support/killed_reconciler.py. With KYMA_FAULTS=whole, as in `make faults`, others die after the second
new call, or a later one: then what a process has seen before its end differs. One such run is always tried.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_model import (
    ErrandPhase,
    Strategy,
)

from tests.support.containers import container
from tests.support.errands import ErrandSite, errand, output_map
from tests.support.killed_reconciler import Lives
from tests.support.stories import Story, story

pytestmark = pytest.mark.containers

WHOLE = os.environ.get("KYMA_FAULTS") == "whole"
FEW_CALLS: Sequence[int] = (1,)
MORE_CALLS: Sequence[int] = (2, 3, 4, 5) if WHOLE else (2,)


def lives_of(site: ErrandSite, name: str, calls: int) -> Lives:
    """Processes that reconcile an errand, and die after so many new calls."""
    site.pause(name)
    return Lives(site.engine_kubeconfig, site.key(name), site.folder / f"{name}.calls", calls)


def output_story(site: ErrandSite, calls: int) -> Story:
    """An auto-errand with a configuration and with three Secrets of output."""
    name = f"killed-{calls}"
    config = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": f"{name}-config"}}
    site.create({**config, "data": {"key": "dmFsdWU="}})
    files = {
        "output.json": {"name": f"{name}-plain"},
        "versioned.json": {"name": f"{name}-versioned", "versioned": True},
        "other.json": {"name": f"{name}-other"},
    }
    script = "; ".join(f'echo \'{{"file": "{file}"}}\' >/mnt/quarks/{file}' for file in files)
    main = container("main", script, envFrom=[{"secretRef": {"name": f"{name}-config"}}])
    lives = lives_of(site, name, calls)
    site.create(errand(name, main, output={"outputMap": {"main": files}}, reruns=True))
    yield from lives.until_settled()
    site.resume(name)
    yield site.after(1)
    yield site.is_settled(name, runs=1)

    settled_errand = site.errand(name)
    assert (settled_errand.status.phase, settled_errand.spec.strategy) == (
        ErrandPhase.SUCCEEDED,
        Strategy.DONE,
    )
    assert len(settled_errand.status.history) == 1
    for secret, file in (
        ("plain", "output.json"),
        ("versioned-v1", "versioned.json"),
        ("other", "other.json"),
    ):
        assert site.secret(f"{name}-{secret}") == {"file": file}
    assert site.secret_object(f"{name}-versioned-v2") is None
    assert site.created_jobs(name) == {f"{name}-1"}
    assert len(site.pods(name)) == 1
    assert site.jobs(name) == []
    if calls == 1:
        assert lives.count == len(lives.calls_made)
        kinds = {line.rsplit(" ", 1)[0].replace(name, "NAME") for line in lives.calls_made}
        for call in (
            "patch Errand NAME status",
            "create Job NAME-1",
            "apply Secret NAME-plain",
            "create Secret NAME-versioned-v1",
            "patch Errand NAME",
            "delete Job",
        ):
            assert call in kinds, lives.calls_made


def rerun_story(site: ErrandSite, calls: int) -> Story:
    """An errand that has failed once, so that its Job is still there, and fails again with its output."""
    name = f"killed-again-{calls}"
    output = {**output_map(name=f"{name}-output"), "writeOnFailure": True}
    script = 'echo \'{"key": "value"}\' >/mnt/quarks/output.json; exit 4'
    site.create(errand(name, container("main", "exit 3"), strategy="now", output=output))
    yield site.is_settled(name, runs=1)
    lives = lives_of(site, name, calls)
    template = errand(name, container("main", script))["spec"]["template"]
    site.patch(name, template=template, trigger={"strategy": "now"})
    yield from lives.until_settled()
    site.resume(name)
    yield site.after(1)
    yield site.is_settled(name, runs=2)

    settled_errand = site.errand(name)
    assert (settled_errand.status.phase, settled_errand.spec.strategy) == (
        ErrandPhase.FAILED,
        Strategy.MANUAL,
    )
    assert [one["exitCode"] for one in settled_errand.status.history] == [4, 3]
    assert site.secret(f"{name}-output") == {"key": "value"}
    assert site.created_jobs(name) == {f"{name}-1", f"{name}-2"}
    assert [one["metadata"]["name"] for one in site.jobs(name)] == [f"{name}-2"]


@story
def test_a_killed_reconciler_loses_and_repeats_nothing(site: ErrandSite) -> Story:
    """Case 12: killed between any two of its calls → the next completes it, no second Job, no lost output."""
    for calls in FEW_CALLS:
        yield from output_story(site, calls)


@story
def test_a_reconciler_killed_in_a_second_run_loses_and_repeats_nothing(site: ErrandSite) -> Story:
    """Case 12: the same in the second run of an errand that fails, with its output."""
    for calls in FEW_CALLS:
        yield from rerun_story(site, calls)


@story
def test_a_reconciler_killed_after_several_calls_loses_and_repeats_nothing(site: ErrandSite) -> Story:
    """Case 12: the same, each process with more calls than one."""
    for calls in MORE_CALLS:
        yield from output_story(site, calls)
        yield from rerun_story(site, calls)
