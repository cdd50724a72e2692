# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine: it watches, and reconciles what has changed (case 15)."""

from __future__ import annotations

import base64
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import ApiError
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.connection import connect
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_engine import (
    EngineOptions,
    ErrandEngine,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_model import ErrandPhase
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.holding_container import (
    GRACE_SECONDS,
    holder_name,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.reconciler import Outcome
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.versions.output_versions import (
    WRITES_AT_ONCE,
)

from tests.support.containers import BUSYBOX, container
from tests.support.engine_process import EngineProcess
from tests.support.errands import GATE, ErrandSite, errand, output_map
from tests.support.eventually import eventually

pytestmark = pytest.mark.containers

START_SECONDS = 90.0
MANY = 20
PROMPT_SECONDS = 30.0
"""Until all Jobs of many errands are there, however busy the machine. `make bench` has 2 s."""


@contextmanager
def running_engine(site: ErrandSite, namespace: str) -> Iterator[list[Outcome]]:
    """An engine for one namespace, while this block goes on; yields the outcomes that it reports."""
    outcomes: list[Outcome] = []
    ended = threading.Event()
    engine = ErrandEngine(
        connect({"kubeconfig": site.kubeconfig}),
        EngineOptions(namespaces=(namespace,), holder_image=BUSYBOX),
        on_outcome=outcomes.append,
    )
    thread = threading.Thread(target=lambda: engine.run(ended.is_set), name="engine")
    thread.start()
    try:
        yield outcomes
    finally:
        ended.set()
        thread.join(60)
        assert not thread.is_alive()


def using(config_map: str, script: str) -> Object:
    """A container that has a ConfigMap in its environment."""
    return container("main", script, envFrom=[{"configMapRef": {"name": config_map}}])


@pytest.fixture
def watched(errand_site: ErrandSite) -> str:
    """A namespace that the site does not reconcile, with a ConfigMap."""
    name = f"{errand_site.namespace}-watched-{secrets.token_hex(2)}"
    errand_site.add_namespace(name)
    errand_site.leave_namespace(name)
    metadata = {"name": "config", "namespace": name}
    errand_site.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"key": "1"}})
    return name


def is_in(site: ErrandSite, phase: ErrandPhase, run: int, *names: str) -> Callable[[], bool]:
    """Whether the errands are in a phase of a run, as the server has them."""

    def is_so() -> bool:
        statuses = [site.errand(name).status for name in names]
        return all(one.phase is phase and one.run is not None and one.run.number == run for one in statuses)

    return is_so


def test_the_watch_runs_what_has_changed(errand_site: ErrandSite, watched: str) -> None:
    """Case 15: a ConfigMap changes → its Job, while another errand still runs; 20 at once, too."""
    site = errand_site
    many = [f"many-{number}" for number in range(MANY)]
    # kwok plays the pods of many, which needs no more than the time of the API server.
    played = {"node.kubernetes.io/instance-type": "kwok"}
    objects = [errand(name, using("config", "true"), reruns=True, nodeSelector=played) for name in many]
    objects.append(errand("slow", container("main", GATE), output=output_map(name="slow")))
    script = "echo '{\"key\": \"'$key'\"}' >/mnt/quarks/output.json"
    objects.append(errand("quick", using("config", script), output=output_map(name="quick"), reruns=True))
    for one in objects:
        one["metadata"]["namespace"] = watched
        site.create(one)
    all_many = [f"{watched}/{name}" for name in many]
    slow, quick = f"{watched}/slow", f"{watched}/quick"
    with running_engine(site, watched) as outcomes:
        eventually(is_in(site, ErrandPhase.SUCCEEDED, 1, quick, *all_many), START_SECONDS)
        eventually(site.is_running(slow), START_SECONDS)
        eventually(lambda: not [job for name in all_many for job in site.jobs(name)], START_SECONDS)

        changed = time.monotonic()
        site.cluster.patch("v1", "ConfigMap", "config", watched, {"data": {"key": "2"}})
        eventually(lambda: all(_has_run(site, name, 2) for name in (quick, *all_many)), START_SECONDS)
        assert time.monotonic() - changed < PROMPT_SECONDS
        eventually(is_in(site, ErrandPhase.SUCCEEDED, 2, quick, *all_many), START_SECONDS)
        assert site.secret(quick) == {"key": "2"}
        assert site.errand(slow).status.phase is ErrandPhase.RUNNING
        reports = [(one["state"], one["run"]) for one in outcomes if one["name"] == "quick"]
        assert reports == [("started", 1), ("succeeded", 1), ("started", 2), ("succeeded", 2)]
        assert [one["state"] for one in outcomes if one["name"] == "slow"] == ["started"]


def _has_run(site: ErrandSite, name: str, number: int) -> bool:
    run = site.errand(name).status.run
    return run is not None and run.number == number and bool(run.job_uid)


PARTS = 200
"""So many Secrets of one output that a test can pause their writer among them."""
SPREAD = rf"""
cd /mnt/quarks
part=0
{{
  printf '{{'
  while [ $part -lt {PARTS} ]; do
    [ $part -eq 0 ] || printf ,
    printf '"part-%d": "{{\\"key\\": \\"%s\\"}}"' $part "$key"
    part=$((part + 1))
  done
  printf '}}'
}} >output.json
echo "{{\"key\": \"$key\"}}" >single.json
"""


def written_parts(site: ErrandSite, namespace: str) -> list[Object]:
    """The Secrets of a fan-out that exist."""
    secrets = site.cluster.list("v1", "Secret", namespace).items
    return [one for one in secrets if one["metadata"]["name"].startswith("spread-part-")]


def values_of(secrets: list[Object]) -> Counter[str]:
    """How many of some Secrets have each value."""
    return Counter(base64.b64decode(one["data"]["key"]).decode() for one in secrets)


def test_a_leader_that_is_stopped_in_a_collection_changes_nothing_of_the_next_run(
    errand_site: ErrandSite, watched: str, tmp_path: Path
) -> None:
    """Case 12: stopped among its writes, its successor completes this run and the next; then it goes on."""
    site, name = errand_site, f"{watched}/spread"
    files = {
        "output.json": {"name": "spread", "persistenceMethod": "fan-out"},
        "single.json": {"name": "single", "versioned": True},
    }
    output = {"outputMap": {"main": files}}
    spread = errand("spread", using("config", SPREAD), output=output, reruns=True)
    spread["metadata"]["namespace"] = watched
    leader = EngineProcess(site.kubeconfig, watched, tmp_path / "leader")
    standby = EngineProcess(site.kubeconfig, watched, tmp_path / "standby")
    try:
        states = ["standing by", "watching"]
        eventually(lambda: sorted((leader.state, standby.state)) == states, START_SECONDS)
        if standby.state == "watching":
            leader, standby = standby, leader
        site.create(spread)
        eventually(lambda: written_parts(site, watched), START_SECONDS)
        leader.pause()
        assert 0 < len(written_parts(site, watched)) < PARTS
        site.cluster.patch("v1", "ConfigMap", "config", watched, {"data": {"key": "2"}})
        eventually(is_in(site, ErrandPhase.SUCCEEDED, 2, name), START_SECONDS)
        written = written_parts(site, watched)
        assert values_of(written) == {"2": PARTS}

        leader.resume()
        eventually(lambda: leader.state == "standing by", START_SECONDS)
        # Longer than a write takes.
        time.sleep(2)
        assert standby.state == "watching"
        # A write that was under way when its process was suspended may still reach the server.
        late = [one for one in written_parts(site, watched) if one not in written]
        assert len(late) <= WRITES_AT_ONCE
    finally:
        leader.close()
        standby.close()
    versions = [site.secret(f"{watched}/single-v{number}") for number in (1, 2, 3)]
    assert versions == [{"key": "1"}, {"key": "2"}, None]
    assert [one["reason"] for one in site.errand(name).status.history] == ["Completed", "Completed"]
    assert site.created_jobs(name) == {"spread-1", "spread-2"}


def test_a_namespace_that_is_deleted_takes_no_grace_period_of_its_pods(
    errand_site: ErrandSite, watched: str
) -> None:
    """Output: a pod that goes with its namespace is released, so it ends before its grace period of 30 s."""
    site, name = errand_site, f"{watched}/ending"
    main = container("main", "trap 'exit 0' TERM; sleep 600 & wait")
    ending = errand("ending", main, output=output_map(name="ending"))
    ending["metadata"]["namespace"] = watched
    with running_engine(site, watched) as outcomes:
        site.create(ending)
        eventually(site.is_running(name, container=holder_name("main")), START_SECONDS)
        eventually(site.is_running(name), START_SECONDS)
        begun = time.monotonic()
        site.cluster.delete("v1", "Namespace", watched)
        eventually(lambda: refuses_new_objects(site, watched))
        eventually(lambda: not site.pods(name), START_SECONDS)
        assert time.monotonic() - begun < GRACE_SECONDS / 2
        eventually(lambda: [one["state"] for one in outcomes] == ["started", "failed"])
        assert outcomes[-1]["reason"] == "NamespaceTerminating"


def refuses_new_objects(site: ErrandSite, namespace: str) -> bool:
    """Whether the API server refuses an incomplete Job as its namespace is being deleted, in a dry run."""
    metadata = {"name": "any", "namespace": namespace}
    incomplete = {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata}
    with pytest.raises(ApiError) as refused:
        site.cluster.create(incomplete, dry_run=True)
    return [one.reason for one in refused.value.causes] == ["NamespaceTerminating"]
