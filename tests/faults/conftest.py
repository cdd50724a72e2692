# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The seed, how much of all is tried, and the cluster that it is tried on."""

from __future__ import annotations

import os
import random
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.lease import LIFECYCLE_NAMESPACE

from tests.support.accounts import rights_to_deploy

from . import world as worlds
from .world import World

HERE = Path(__file__).parent
SEED = os.environ.get("SEED") or str(secrets.randbelow(10**6))
SCOPE = os.environ.get("KYMA_FAULTS", "")
"""``whole``: all tests, however long; ``few``: one test of each fault; else all, each for a while."""
RECORD = os.environ.get("KYMA_FAULTS_PASSED", "")
"""The file with the tests that have passed with this seed; see tests/make/run_record.py."""
PASSED_BEFORE = frozenset(Path(RECORD).read_text().splitlines() if RECORD and Path(RECORD).exists() else ())
PASSED_NOW: set[str] = set()
FENCE = {"name": "deployer", "namespace": LIFECYCLE_NAMESPACE}


def pytest_report_header() -> str:
    """How to have the same faults again."""
    return f"faults: SEED={SEED} KYMA_FAULTS={SCOPE}"


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add a test that has passed to the record at once, as the run may be cut off at any time."""
    if report.when == "call" and report.passed:
        PASSED_NOW.add(report.nodeid)
    if RECORD and report.when == "teardown" and report.passed and report.nodeid in PASSED_NOW:
        with Path(RECORD).open("a", encoding="utf-8") as file:
            file.write(f"{report.nodeid}\n")


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Succeed where no test is left to run."""
    if PASSED_BEFORE and exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        session.exitstatus = pytest.ExitCode.OK


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests that have passed before; choose one of each fault, where no more are wanted."""
    done = [item for item in items if item.nodeid in PASSED_BEFORE]
    if done:
        config.hook.pytest_deselected(items=done)
        items[:] = [item for item in items if item not in done]
    if SCOPE != "few":
        return
    by_fault: dict[str, list[pytest.Item]] = {}
    for item in items:
        for mark in item.iter_markers("fault"):
            by_fault.setdefault(mark.args[0], []).append(item)
    chosen = {random.Random(f"{SEED} {fault}").choice(members) for fault, members in by_fault.items()}
    # Other folders' tests may be collected along.
    left_out = [item for item in items if item.path.parent == HERE and item not in chosen]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


@pytest.fixture
def chance(request: pytest.FixtureRequest) -> random.Random:
    """What is left to chance in a test: the same for the same seed."""
    return random.Random(f"{SEED} {request.node.name}")


@pytest.fixture(scope="session")
def whole() -> bool:
    """Whether everything is tried, however long it takes."""
    return SCOPE == "whole"


@pytest.fixture(scope="session")
def shared_world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """One cluster for all tests that leave it as it was."""
    made = worlds.create(tmp_path_factory.mktemp("cluster"), tmp_path_factory.mktemp("faults"))
    yield made
    made.close()


@pytest.fixture
def world(shared_world: World) -> Iterator[World]:
    """The cluster; where the test fails, what befell it is told."""
    shared_world.proxy.forget()
    yield shared_world
    shared_world.processes.kill()
    print(f"SEED={SEED}\n{shared_world.proxy.sequence}")
    shared_world.proxy.pass_all()


@pytest.fixture
def account(world: World) -> Iterator[None]:
    """What the fence needs: an account that may deploy."""
    api = world.api
    api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": LIFECYCLE_NAMESPACE}})
    api.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": FENCE})
    rights = rights_to_deploy(FENCE)
    for obj in rights:
        api.apply(obj)
    yield
    for obj in rights:
        if obj["kind"] == "ClusterRoleBinding":
            api.delete(obj["apiVersion"], obj["kind"], obj["metadata"]["name"])
    api.delete("v1", "ServiceAccount", FENCE["name"], LIFECYCLE_NAMESPACE)


@pytest.fixture
def perhaps_fenced(request: pytest.FixtureRequest, chance: random.Random) -> None:
    """What the fence needs, or not, as chance has it."""
    if chance.random() < 0.5:
        request.getfixturevalue("account")
