# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Events about runs and the installation, which ``kubectl describe`` shows, and their requests."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    API_VERSION,
    Object,
    WriteTerms,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import (
    ClusterError,
    Unreachable,
    api_error,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._custom_resources import events
from ansible_collections.kyma.lifecycle.plugins.module_utils._custom_resources.events import (
    EventNote,
    write_event,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.recorder import end_cancelled_run
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.run_events import SUMMARY
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import run
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
    Request,
)

from tests.support.driver import Deployer, config_map, deployer, deployment, healthy_cluster, memory, release

FORBIDDEN = api_error("create Event", 403, {"reason": "Forbidden", "message": "no"})
ABOUT = {"apiVersion": API_VERSION, "kind": "KymaRun", "name": "one", "uid": "1"}


def shop(cluster: MemoryCluster | None = None, *, broken: bool = False) -> Deployer:
    """A user with two components, of which one may be broken."""
    image = "broken" if broken else "fine"
    made = {"cart": [config_map("cart")], "checkout": [deployment("checkout", image)]}
    return deployer(release("2.9", made), cluster=cluster, component_timeout=0.2)


def shown(someone: Deployer, record: Object) -> list[tuple[str, str, str]]:
    """What ``kubectl describe`` shows of the Events about a record, by its uid."""
    return [
        (one["type"], one["reason"], one["message"])
        for one in someone.cluster.list("v1", "Event").items
        if one["involvedObject"]["uid"] == record["metadata"]["uid"]
    ]


def installation(someone: Deployer) -> Object:
    record = someone.cluster.get(API_VERSION, "KymaInstallation", "kyma")
    assert record
    return record


def is_event(request: Request) -> bool:
    return (request.verb, request.ref.kind) == ("create", "Event")


def requests(someone: Deployer) -> Counter[str]:
    return Counter(f"{one.verb} {one.ref.kind}" for one in memory(someone).requests)


def test_a_run_and_the_installation_show_its_begin_and_its_end() -> None:
    someone = shop()
    someone.deploy()
    record = someone.record()
    name, seconds = record["metadata"]["name"], record["status"]["seconds"]
    by = record["status"]["begin"]["startedBy"]
    expected = [
        ("Normal", "Started", f"run {name}: deployment of Kyma 2.9, begun by {by}"),
        ("Normal", "Succeeded", f"run {name}: succeeded after {seconds:.1f} s"),
    ]
    assert sorted(shown(someone, record)) == expected
    assert sorted(shown(someone, installation(someone))) == expected
    assert requests(someone)["create Event"] == 4


def test_a_component_that_fails_is_shown_with_its_reason_and_so_is_the_run() -> None:
    someone = shop(broken=True)
    someone.deploy()
    record = someone.record()
    name = record["metadata"]["name"]
    reason = record["status"]["components"]["checkout"]["error"]
    events_shown = {reason: (type_, text) for type_, reason, text in shown(someone, record)}
    assert events_shown["ComponentFailed"] == ("Warning", f"run {name}: component checkout: {reason}")
    assert events_shown["Failed"][0] == "Warning"
    assert f"component checkout: {reason}" in events_shown["Failed"][1]
    assert sorted(shown(someone, record)) == sorted(shown(someone, installation(someone)))
    assert requests(someone)["create Event"] == 6
    summary = record["metadata"]["annotations"][SUMMARY]
    assert summary == f"failed after {record['status']['seconds']:.1f} s: {record['status']['message']}"


def test_each_event_is_one_request_more_and_without_work_there_is_none() -> None:
    counts = []
    for may_write in (True, False):
        someone = shop()
        if not may_write:
            memory(someone).fail_when(is_event, FORBIDDEN)
        someone.deploy()
        counts.append(requests(someone))
        memory(someone).requests.clear()
        assert not someone.deploy().get("failed")
        assert [one for one in memory(someone).requests if is_event(one) or one.writes] == []
    assert counts[0] == counts[1]
    assert counts[0]["create Event"] == sum(n for what, n in counts[0].items() if what.endswith(" Event"))


@pytest.mark.parametrize("error", [FORBIDDEN, Unreachable("the events' store is down")], ids=["403", "no"])
def test_an_event_that_cannot_be_written_changes_nothing_else(error: ClusterError) -> None:
    results, records = [], []
    for is_faulty in (False, True):
        someone = shop(broken=True)
        if is_faulty:
            memory(someone).fail_when(is_event, error)
        results.append(someone.deploy())
        records.append(someone.record())
        assert bool(someone.cluster.list("v1", "Event").items) is not is_faulty
    assert {key: results[0][key] for key in ("state", "msg")} == {
        key: results[1][key] for key in ("state", "msg")
    }
    states = [
        {name: (one["state"], one["error"]) for name, one in record["status"]["components"].items()}
        for record in records
    ]
    assert states[0] == states[1]


def conditions(record: Object) -> dict[str, tuple[str, str, str]]:
    listed = record["status"]["conditions"]
    return {one["type"]: (one["status"], one["reason"], one["message"]) for one in listed}


def test_a_run_is_not_finished_before_its_end() -> None:
    someone = shop()
    someone.task(run.DEFINITION, state="started", plan=someone.plan()["plan"])
    record = someone.record()
    text = "the run's state is running"
    assert conditions(record) == {
        "Finished": ("False", "Running", text),
        "Succeeded": ("Unknown", "Running", text),
    }
    assert record["metadata"]["annotations"][SUMMARY] == "running"


def test_the_end_of_the_record_of_a_lost_run_finishes_and_shows_it() -> None:
    someone = shop()
    someone.task(run.DEFINITION, state="started", plan=someone.plan()["plan"])
    name = someone.record()["metadata"]["name"]
    end_cancelled_run(someone.cluster, name, "the run another, which alice has begun since")
    record = someone.record()
    text = "cancelled by the run another, which alice has begun since"
    assert conditions(record) == {
        "Finished": ("True", "Cancelled", text),
        "Succeeded": ("False", "Cancelled", text),
    }
    [cancelled] = [one for one in shown(someone, installation(someone)) if one[1] == "Cancelled"]
    assert cancelled in shown(someone, record)
    assert cancelled[0] == "Warning"
    assert text in cancelled[2]


class Limited(MemoryCluster):
    """A cluster that notes how long its writes may take."""

    seconds = 0.0

    def with_write_terms(self, terms: WriteTerms) -> Limited:
        self.seconds = terms.seconds_left()
        return self


def test_an_event_has_little_time_as_it_is_optional() -> None:
    cluster = Limited()
    write_event(cluster, ABOUT, EventNote("Started", "a run"), "tests")
    assert 0 < cluster.seconds <= events.SECONDS_TO_WRITE
    [event] = cluster.list("v1", "Event").items
    assert event["metadata"]["namespace"] == "default"


def test_a_repeated_event_is_the_same_and_another_occasion_is_not() -> None:
    cluster = healthy_cluster()
    note = EventNote("Started", "x" * 5_000)
    for one, occasion in ((note, "1"), (note, "1"), (note, "2"), (replace(note, message="y"), "1")):
        write_event(cluster, ABOUT, one, "tests", occasion)
    listed = cluster.list("v1", "Event").items
    assert len(listed) == 3
    # Without an occasion the server names it.
    for _time in range(2):
        write_event(cluster, ABOUT, note, "tests")
    assert len(cluster.list("v1", "Event").items) == 5
    assert max(len(one["message"]) for one in listed) <= events.LONGEST_MESSAGE
