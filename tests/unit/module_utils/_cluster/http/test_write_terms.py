# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writing by somebody else's leave: by his token, and only as long as he may."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, WriteTerms
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import ApiError, Unreachable
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.fence import LeaseLost
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http import attempts, endpoint
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.login import Login
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.retry import RetryPolicy
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.transport import Transport

from tests.support.apiserver import ApiServer, Reply, Script, Seen, discovery_or, serve, status

CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "n"}}


@contextmanager
def as_jane(
    script: Script = lambda _request: Reply(CONFIG_MAP), *, limit: float = 2.0
) -> Iterator[tuple[LiveCluster, ApiServer]]:
    """A cluster that is talked to by a token, as jane."""
    with serve(discovery_or(script)) as server:
        login = Login(server.url, authorization=lambda _refused: "Bearer ours", impersonate_user="jane")
        retry = RetryPolicy(first_delay=0.001, limit=limit)
        yield LiveCluster(Transport(login, retry=retry)), server


def requests_to(server: ApiServer) -> list[Seen]:
    return [request for request in server.seen if request.path not in ("/api", "/apis")]


def write_all(cluster: Cluster) -> None:
    """One write of each kind."""
    cluster.apply(CONFIG_MAP)
    cluster.create(CONFIG_MAP)
    cluster.patch("v1", "ConfigMap", "a", "n", {"data": {"a": "1"}})
    cluster.delete("v1", "ConfigMap", "a", "n")


def test_writes_use_the_token_alone_and_send_a_timeout_to_the_server() -> None:
    with as_jane() as (cluster, server):
        write_all(cluster.with_write_terms(WriteTerms(lambda: 9.7, lambda _refused: "Bearer theirs")))
        writes = [one for one in requests_to(server) if one.method != "GET"]
        assert [one.method for one in writes] == ["PATCH", "POST", "PATCH", "DELETE"]
        for one in writes:
            assert (one.header("Authorization"), one.header("Impersonate-User")) == ("Bearer theirs", "")
            assert one.query["timeout"] == "9s"


def test_reads_are_made_as_before() -> None:
    with as_jane() as (cluster, server):
        cluster.with_write_terms(WriteTerms(lambda: 0.0, lambda _refused: "Bearer theirs")).get(
            "v1", "ConfigMap", "a", "n"
        )
        [read] = requests_to(server)
        assert (read.header("Authorization"), read.header("Impersonate-User")) == ("Bearer ours", "jane")
        assert "timeout" not in read.query


def test_without_a_token_writes_are_ours_and_end_in_time() -> None:
    with as_jane() as (cluster, server):
        cluster.with_write_terms(WriteTerms(lambda: 9.7)).apply(CONFIG_MAP)
        [write] = requests_to(server)
        assert (write.header("Authorization"), write.header("Impersonate-User")) == ("Bearer ours", "jane")
        assert write.query["timeout"] == "9s"


def test_writes_by_a_token_never_use_connections_with_our_certificate() -> None:
    terms = WriteTerms(lambda: 9.7, lambda _refused: "Bearer theirs")
    certified = Transport(Login("http://cluster.example", cert_data="certificate", key_data="key"))
    assert certified.with_terms(terms).pool() is not certified.pool()
    assert certified.with_terms(WriteTerms(lambda: 9.7)).pool() is certified.pool()
    uncertified = Transport(Login("http://cluster.example"))
    assert uncertified.with_terms(terms).pool() is uncertified.pool()


def test_terms_are_kept_under_others() -> None:
    left = {"lease": 9.7, "step": 5.2}
    with as_jane() as (cluster, server):
        leased = cluster.with_write_terms(WriteTerms(lambda: left["lease"], lambda _refused: "Bearer theirs"))
        both = leased.with_write_terms(WriteTerms(lambda: left["step"]))
        both.apply(CONFIG_MAP)
        left["lease"] = 3.1
        both.apply(CONFIG_MAP)
        assert [one.query["timeout"] for one in requests_to(server)] == ["5s", "3s"]
        assert {one.header("Authorization") for one in requests_to(server)} == {"Bearer theirs"}


def test_without_time_nothing_is_sent() -> None:
    with as_jane() as (cluster, server):
        with pytest.raises(Unreachable, match="not sent, as there was no time left for it"):
            cluster.with_write_terms(WriteTerms(lambda: 0.9)).apply(CONFIG_MAP)
        assert requests_to(server) == []


def test_the_time_that_a_login_takes_counts() -> None:
    left = [30.0]

    def login(_refused: str) -> str:
        left[0] -= 29.5
        return "Bearer token"

    with as_jane() as (cluster, server):
        with pytest.raises(Unreachable, match="not sent, as there was no time left for it"):
            cluster.with_write_terms(WriteTerms(lambda: left[0], login)).apply(CONFIG_MAP)
        assert requests_to(server) == []


def test_a_failed_write_is_repeated_only_while_there_is_time() -> None:
    left = iter([9.0, 9.0, 0.5])
    with as_jane(lambda _request: status(503)) as (cluster, server):
        with pytest.raises(Exception, match="503"):
            cluster.with_write_terms(WriteTerms(lambda: next(left))).apply(CONFIG_MAP)
        assert len(requests_to(server)) == 2


def test_a_token_that_is_refused_is_renewed_once() -> None:
    tokens = iter(["Bearer old", "Bearer new", "Bearer new"])

    def script(request: Seen) -> Reply:
        return Reply(CONFIG_MAP) if request.header("Authorization") == "Bearer new" else status(401)

    with as_jane(script) as (cluster, server):
        cluster.with_write_terms(WriteTerms(lambda: 9.0, lambda _refused: next(tokens))).apply(CONFIG_MAP)
        assert [one.header("Authorization") for one in requests_to(server)] == ["Bearer old", "Bearer new"]


def test_a_write_logs_in_before_it_checks_the_time() -> None:
    left = [9.0]

    def login(_refused: str) -> str:
        left[0] = 0.5
        return "Bearer theirs"

    with as_jane() as (cluster, server):
        with pytest.raises(Unreachable, match="no time left"):
            cluster.with_write_terms(WriteTerms(lambda: left[0], login)).apply(CONFIG_MAP)
        assert requests_to(server) == []


# What is known of a server is known to all who talk to it.


def test_a_writer_knows_from_reads_that_the_server_is_starting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(endpoint, "AWAY_SECONDS", 0.0)
    monkeypatch.setattr(attempts, "STARTING_POLL_SECONDS", 0.001)
    answers = iter([Reply(None), Reply(CONFIG_MAP), status(401), status(403), Reply(CONFIG_MAP)])
    with as_jane(lambda _request: next(answers)) as (cluster, server):
        writing = cluster.with_write_terms(WriteTerms(lambda: 9.0, lambda _refused: "Bearer theirs"))
        cluster.get("v1", "ConfigMap", "a", "n")
        writing.apply(CONFIG_MAP)
        assert [one.method for one in requests_to(server)] == ["GET", "GET", "PATCH", "PATCH", "PATCH"]


def test_a_write_that_was_found_made_is_the_end_of_an_outage() -> None:
    written = {**CONFIG_MAP, "metadata": {**CONFIG_MAP["metadata"], "managedFields": []}}
    answers = iter([Reply(None), Reply(written), Reply(None), Reply(CONFIG_MAP)])
    with as_jane(lambda _request: next(answers), limit=1.0) as (cluster, server):
        # From now on it is known to be there.
        cluster.resource("v1", "ConfigMap")
        writing = cluster.with_write_terms(WriteTerms(lambda: 9.0))
        writing.create(CONFIG_MAP)
        time.sleep(1.1)
        writing.apply(CONFIG_MAP)
        assert [one.method for one in requests_to(server)] == ["POST", "GET", "PATCH", "PATCH"]


# Where somebody is getting more time.


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "TIME_POLL_SECONDS", 0.001)


def getting_more(left: Iterator[float], more: Callable[[], bool] = lambda: True) -> WriteTerms:
    return WriteTerms(lambda: next(left), is_extension_pending=more)


@pytest.mark.usefixtures("quick")
def test_a_write_without_time_waits_for_it() -> None:
    with as_jane() as (cluster, server):
        cluster.with_write_terms(getting_more(iter([0.9, -3.0, 0.9, 9.7, 9.7]))).apply(CONFIG_MAP)
        assert [one.query["timeout"] for one in requests_to(server)] == ["9s"]


@pytest.mark.usefixtures("quick")
def test_a_write_that_failed_before_its_time_was_up_is_repeated_with_more_time() -> None:
    answers = iter([status(503), status(503), Reply(CONFIG_MAP)])
    with as_jane(lambda _request: next(answers)) as (cluster, server):
        cluster.with_write_terms(getting_more(iter([9.0, 1.5, -2.0, -2.0, 7.0, 7.0]))).apply(CONFIG_MAP)
        assert [one.query["timeout"] for one in requests_to(server)] == ["9s", "1s", "7s"]


@pytest.mark.usefixtures("quick")
def test_a_write_whose_answer_was_lost_is_looked_at_and_repeated_once_there_is_time() -> None:
    answers = iter([Reply(None), status(404, "NotFound", "gone", name="a"), Reply(CONFIG_MAP)])
    with as_jane(lambda _request: next(answers)) as (cluster, server):
        cluster.with_write_terms(getting_more(iter([9.0, -2.0, -2.0, 7.0, 7.0]))).create(CONFIG_MAP)
        assert [one.method for one in requests_to(server)] == ["POST", "GET", "POST"]


@pytest.mark.usefixtures("quick")
def test_time_that_is_gone_again_by_then_is_waited_for_again() -> None:
    with as_jane() as (cluster, server):
        cluster.with_write_terms(getting_more(iter([0.0, 9.0, 0.5, 8.0, 8.0]))).apply(CONFIG_MAP)
        assert [one.query["timeout"] for one in requests_to(server)] == ["8s"]


@pytest.mark.usefixtures("quick")
def test_nothing_is_sent_once_no_more_time_is_pending() -> None:
    more = iter([True, True, False])
    with as_jane() as (cluster, server):
        with pytest.raises(Unreachable, match="not sent, as there was no time left for it"):
            cluster.with_write_terms(WriteTerms(lambda: 0.0, is_extension_pending=lambda: next(more))).apply(
                CONFIG_MAP
            )
        assert (requests_to(server), list(more)) == ([], [])


@pytest.mark.usefixtures("quick")
def test_an_error_that_ends_the_hope_for_more_time_is_raised() -> None:
    left = [9.0]

    def answer(_request: Seen) -> Reply:
        # As where the process stands still meanwhile.
        left[0] = -60.0
        return status(503)

    def lost() -> bool:
        raise LeaseLost("somebody else has it")

    with as_jane(answer) as (cluster, server):
        with pytest.raises(LeaseLost, match="somebody else has it"):
            cluster.with_write_terms(WriteTerms(lambda: left[0], is_extension_pending=lost)).apply(CONFIG_MAP)
        assert len(requests_to(server)) == 1


@pytest.mark.usefixtures("quick")
def test_time_is_waited_for_as_long_as_a_server_is_and_no_longer() -> None:
    left = iter([9.0])
    with as_jane(lambda _request: status(503), limit=0.1) as (cluster, server):
        terms = WriteTerms(lambda: next(left, 0.0), is_extension_pending=lambda: True)
        with pytest.raises(ApiError, match="503"):
            cluster.with_write_terms(terms).apply(CONFIG_MAP)
        assert len(requests_to(server)) == 1
