# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How much work one more job, errand or module is, counted in calls of Python functions instead of seconds.

A job of 2,000 calls takes about a millisecond.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_model import ErrandKey
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.runtime.runtime_objects import (
    runtime_objects,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.snapshot import read_snapshot
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.unknown_jobs import (
    adoptable_job,
    unknown_jobs,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import module
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    namespace_named,
)

from tests.benchmark.store import IN_EACH_SPACE, jobs_of
from tests.support.driver import deployment
from tests.support.extent import IS_FULL
from tests.support.job_store import store_cluster
from tests.support.memory_modules import NAMESPACE as NAMESPACE_OF_MODULES
from tests.support.memory_modules import template, user
from tests.support.played_errands import NAMESPACE, PlayedErrands, errand_object

SHARE = 1 if IS_FULL else 25
"""One of so many objects is tried."""
COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>")


def calls_of(work: Callable[[], object]) -> int:
    """How many Python functions are called by this thread.

    Comprehensions are functions only before Python 3.12 (PEP 709), so they don't count.
    """
    calls = 0

    def count(frame: FrameType, event: str, _arg: Any) -> None:
        nonlocal calls
        calls += event == "call" and frame.f_code.co_name not in COMPREHENSIONS

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


def work_on_jobs(number: int) -> Callable[[], object]:
    """Read and recognize handmade jobs."""
    spaces = [f"s-{place}" for place in range(number // len(IN_EACH_SPACE))]
    objects = [obj for space in spaces for obj in (namespace_named(space), *jobs_of(space))]
    cluster = store_cluster(*objects)

    def work() -> None:
        snapshot = read_snapshot(cluster)
        jobs = unknown_jobs(snapshot)
        assert len(jobs) == number
        for runtime in jobs:
            runtime_objects(adoptable_job(snapshot, runtime))

    return work


def work_on_errands(number: int) -> Callable[[], object]:
    """Reconcile errands of which none is due."""
    names = [f"errand-{place}" for place in range(number)]
    played = PlayedErrands(*(errand_object(name, strategy="manual") for name in names))
    first = played.reconciler()
    for name in names:
        first.reconcile(ErrandKey(NAMESPACE, name))

    def work() -> None:
        reconciler = played.reconciler()
        for name in names:
            assert not reconciler.reconcile(ErrandKey(NAMESPACE, name)).steps

    return work


def work_on_modules(number: int) -> Callable[[], object]:
    """Plan the deployment of modules that run already."""
    names = [f"module-{place}" for place in range(number)]
    documents, manifests = [], {}
    for name in names:
        one = template("1.0.0", "regular")
        one["metadata"]["name"], one["spec"]["moduleName"] = f"{name}-1.0.0", name
        one["spec"]["manager"]["name"] = name
        del one["spec"]["data"]
        link = one["spec"]["resources"][0]["link"] = f"https://example.com/{name}.yaml"
        documents.append(["catalog", one])
        manager = deployment(name, "example.com/module:1.0.0")
        manager["metadata"]["namespace"] = NAMESPACE_OF_MODULES
        manifests[link] = yaml.safe_dump(manager)
    someone = user(catalog={"documents": documents, "manifests": manifests})
    options = {"catalog": [], "modules": [{"name": name} for name in names]}
    assert someone.task(module.DEFINITION, **options)["changed"]

    def work() -> None:
        assert not someone.task(module.DEFINITION, check_mode=True, **options)["changed"]

    return work


WORKS: dict[str, tuple[Callable[[int], Callable[[], object]], int, int]] = {
    "job": (work_on_jobs, 3000, 3000),
    "errand": (work_on_errands, 1000, 400),
    "module": (work_on_modules, 100, 1000),
}
"""By object, the work on so many, and the most calls for one."""


@pytest.mark.parametrize("kind", WORKS)
def test_one_more_object_is_a_bounded_amount_of_work(kind: str) -> None:
    prepare, number, most = WORKS[kind]
    few, many = number // SHARE // 2, number // SHARE
    calls = {one: calls_of(prepare(one)) for one in (few, many)}
    for_one = (calls[many] - calls[few]) / (many - few)
    assert for_one <= most
    # Nothing is done with each pair of them.
    assert for_one <= 1.2 * calls[few] / few
