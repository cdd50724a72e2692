# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The live form against a scripted API server."""

from __future__ import annotations

import gzip
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from unittest.mock import Mock

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster import cluster as cluster_module
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Resource
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import (
    AlreadyExists,
    ApiError,
    ClusterError,
    Conflict,
    Forbidden,
    Gone,
    Inconvertible,
    Invalid,
    KindNotServed,
    NotFound,
    ServerTimeout,
    Unauthorized,
    Unreachable,
    Untypeable,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http import attempts, endpoint
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http import live_cluster as live
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.endpoint import OnWarning
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.login import Login
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.pool import keepalive_options
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.retry import RetryPolicy
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.transport import Transport
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.stop_signal import StopSignal
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.wrapper import ClusterWrapper
from ansible_collections.kyma.lifecycle.plugins.module_utils._dry_run.dry_run_cluster import DryRunCluster

from tests.support.apiserver import CORE, ApiServer, Reply, Script, Seen, discovery_or, kind, serve, status
from tests.support.clock import FOREVER, Clock

CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "n"}}


@contextmanager
def talking_to(
    script: Script, on_warning: OnWarning | None = None, *, limit: float = 2.0
) -> Iterator[tuple[LiveCluster, ApiServer]]:
    """A live cluster on a scripted server that answers discovery by itself."""
    with serve(discovery_or(script)) as server:
        connection = Transport(
            Login(server.url), on_warning=on_warning, retry=RetryPolicy(first_delay=0.001, limit=limit)
        )
        yield LiveCluster(connection), server


def in_turn(*replies: Reply) -> Callable[[Seen], Reply]:
    """A script that gives one answer after the other, and the last one for ever."""
    rest = list(replies)
    return lambda _request: rest.pop(0) if len(rest) > 1 else rest[0]


def requests_to(server: ApiServer) -> list[Seen]:
    """What the server was asked, without discovery."""
    return [request for request in server.seen if request.path not in ("/api", "/apis")]


def test_get() -> None:
    with talking_to(lambda _request: Reply(CONFIG_MAP)) as (cluster, server):
        assert cluster.get("v1", "ConfigMap", "a", "n") == CONFIG_MAP
        assert requests_to(server)[0].path == "/api/v1/namespaces/n/configmaps/a"
        assert cluster.requests == {"GET": 3}


@pytest.mark.parametrize("body", [b"<html>Please log in</html>", b"[]", b"", b"[" * 100_000])
def test_an_answer_of_no_api_server_is_an_error(body: bytes) -> None:
    with (
        talking_to(lambda _request: Reply(body)) as (cluster, _server),
        pytest.raises(ClusterError, match="the server that answered is not an API server"),
    ):
        cluster.get("v1", "ConfigMap", "a", "n")


# What an ingress, a proxy or another web server says of a path that it does not know.
OF_A_GATEWAY = [
    Reply(b"default backend - 404", 404),
    Reply(b"<html>Not Found</html>", 404),
    Reply({"error": "Not Found", "details": ["x"]}, 404),
    Reply(b"", 404),
    Reply(b"[" * 100_000, 404),
]
READS_AND_WRITES = [
    lambda cluster: cluster.get("v1", "ConfigMap", "a", "n"),
    lambda cluster: cluster.list("v1", "ConfigMap", "n"),
    lambda cluster: cluster.apply(CONFIG_MAP),
    lambda cluster: cluster.create(CONFIG_MAP),
    lambda cluster: cluster.patch("v1", "ConfigMap", "a", "n", {"data": None}),
    lambda cluster: cluster.delete("v1", "ConfigMap", "a", "n"),
]


@pytest.mark.parametrize("reply", OF_A_GATEWAY)
def test_a_404_of_what_is_no_api_server_says_nothing_about_an_object(reply: Reply) -> None:
    for work in READS_AND_WRITES:
        with (
            talking_to(lambda _request: reply, limit=0.05) as (cluster, _server),
            pytest.raises(Unreachable, match="the server that answered is not an API server: HTTP 404"),
        ):
            work(cluster)


def test_a_404_of_what_is_no_api_server_is_waited_out() -> None:
    for work in READS_AND_WRITES[:2]:
        with talking_to(in_turn(OF_A_GATEWAY[0], OF_A_GATEWAY[1], Reply(CONFIG_MAP))) as (cluster, server):
            work(cluster)
            assert len(requests_to(server)) == 3


@pytest.mark.parametrize("reply", [Reply(b"404 page not found\n", 404), status(404)], ids=["text", "Status"])
def test_where_not_even_discovery_is_found_nothing_is_known_of_an_object(reply: Reply) -> None:
    is_there = True

    def answer(request: Seen) -> Reply:
        return Reply(CORE) if is_there and request.path in ("/api", "/apis") else reply

    policy = RetryPolicy(first_delay=0.001, limit=0.05)
    for work in READS_AND_WRITES:
        is_there = True
        with serve(answer) as server:
            cluster = LiveCluster(Transport(Login(server.url), retry=policy))
            cluster.resource("v1", "ConfigMap")
            is_there = False
            with pytest.raises(ClusterError, match="is not an API server: HTTP 404") as caught:
                work(cluster)
            assert not isinstance(caught.value, (NotFound, KindNotServed))


@pytest.mark.parametrize("body", [b"404 page not found\n", {"paths": ["/apis"]}, status(404).body])
def test_a_path_that_an_api_server_does_not_know_says_nothing_about_objects_of_a_kind_that_it_names(
    monkeypatch: pytest.MonkeyPatch, body: object
) -> None:
    monkeypatch.setattr(live, "SERVING_SECONDS", 0.1)
    with talking_to(lambda _request: Reply(body, 404)) as (cluster, _server):
        for work in READS_AND_WRITES:
            with pytest.raises(KindNotServed, match="although discovery names it"):
                work(cluster)


@pytest.mark.parametrize("details", [["x"], "x", {"causes": "x"}, {"causes": ["x", {"reason": 1}]}])
def test_an_error_may_be_of_any_form(details: object) -> None:
    answer = Reply({"reason": ["x"], "message": {}, "details": details}, 422)
    with (
        talking_to(lambda _request: answer) as (cluster, _server),
        pytest.raises(Invalid, match="apply ConfigMap n/a: HTTP 422"),
    ):
        cluster.apply(CONFIG_MAP)


def test_get_of_what_is_not_there_or_not_served_is_none() -> None:
    missing = status(404, "NotFound", 'configmaps "a" not found', name="a", kind="configmaps")
    with talking_to(lambda _request: missing) as (cluster, server):
        assert cluster.get("v1", "ConfigMap", "a", "n") is None
        assert cluster.get("example.org/v1", "Thing", "a", "n") is None
        assert len(requests_to(server)) == 1


def test_names_are_escaped_and_a_cluster_scoped_kind_takes_no_namespace() -> None:
    with talking_to(lambda _request: Reply({})) as (cluster, server):
        cluster.get("rbac.authorization.k8s.io/v1", "ClusterRole", "system:a/b", "ignored")
        assert requests_to(server)[0].path == "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:a%2Fb"


def test_a_namespaced_object_needs_its_namespace() -> None:
    with talking_to(lambda _request: Reply({})) as (cluster, server):
        with pytest.raises(ClusterError, match="lives in a namespace"):
            cluster.get("v1", "ConfigMap", "a")
        assert requests_to(server) == []


def test_list_follows_pages_and_fills_in_what_lists_leave_out() -> None:
    pages = in_turn(
        Reply(
            {"metadata": {"continue": "t", "resourceVersion": "7"}, "items": [{"metadata": {"name": "a"}}]}
        ),
        Reply({"metadata": {"resourceVersion": "7"}, "items": [{"metadata": {"name": "b"}}]}),
    )
    with talking_to(pages) as (cluster, server):
        page = cluster.list("v1", "ConfigMap", label_selector="x=y")

        assert page.resource_version == "7"
        assert page.items == [
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}} for name in "ab"
        ]
        first, second = requests_to(server)
        assert first.path == "/api/v1/configmaps"
        assert first.query == {"labelSelector": "x=y", "limit": "500"}
        assert second.query["continue"] == "t"


def test_list_starts_over_in_one_piece_when_the_continue_token_has_run_out() -> None:
    def script(request: Seen) -> Reply:
        if "continue" in request.query:
            return status(410, "Expired", "the provided continue parameter is too old")
        if "limit" in request.query:
            return Reply({"metadata": {"continue": "t"}, "items": [{"metadata": {"name": "a"}}]})
        return Reply({"metadata": {"resourceVersion": "9"}, "items": [{"metadata": {"name": "c"}}]})

    with talking_to(script) as (cluster, _seen):
        page = cluster.list("v1", "ConfigMap")

    assert [item["metadata"]["name"] for item in page.items] == ["c"]
    assert page.resource_version == "9"


def test_list_of_metadata_alone() -> None:
    item = {"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": {"name": "a"}}
    with talking_to(lambda _request: Reply({"metadata": {}, "items": [item]})) as (cluster, server):
        page = cluster.list("v1", "ConfigMap", metadata_only=True)

        assert page.items == [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}]
        assert "as=PartialObjectMetadataList" in requests_to(server)[0].header("Accept")


def test_apply_sends_utf8_under_its_field_manager() -> None:
    with talking_to(lambda _request: Reply(CONFIG_MAP)) as (cluster, server):
        obj = {**CONFIG_MAP, "data": {"x": "😀"}}
        cluster.with_field_manager("other").apply(obj, force=True, dry_run=True)
        cluster.apply(obj)

        request, plain = requests_to(server)
        assert plain.query == {"fieldManager": "kyma-lifecycle", "fieldValidation": "Ignore"}
        assert (request.method, request.header("Content-Type")) == ("PATCH", "application/apply-patch+yaml")
        assert request.query == {
            "fieldManager": "other",
            "fieldValidation": "Ignore",
            "force": "true",
            "dryRun": "All",
        }
        assert "😀".encode() in request.body
        assert json.loads(request.body) == obj
        assert cluster.requests["PATCH"] == 2


def test_create_patch_and_delete() -> None:
    with talking_to(lambda _request: Reply(CONFIG_MAP)) as (cluster, server):
        cluster.create(CONFIG_MAP)
        cluster.patch("v1", "ConfigMap", "a", "n", {"data": None})
        cluster.patch("v1", "ConfigMap", "a", "n", [{"op": "remove", "path": "/x"}], subresource="status")
        assert cluster.delete(
            "v1", "ConfigMap", "a", "n", uid="u", resource_version="3", propagation="Orphan"
        )

        create, merge, json_patch, delete = requests_to(server)
        assert (create.method, create.path) == ("POST", "/api/v1/namespaces/n/configmaps")
        assert create.query == {"fieldManager": "kyma-lifecycle", "fieldValidation": "Warn"}
        assert merge.header("Content-Type") == "application/merge-patch+json"
        assert json_patch.header("Content-Type") == "application/json-patch+json"
        assert json_patch.path == "/api/v1/namespaces/n/configmaps/a/status"
        assert json.loads(delete.body) == {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "propagationPolicy": "Orphan",
            "preconditions": {"uid": "u", "resourceVersion": "3"},
        }


def test_a_rehearsed_delete_says_so_in_its_body_and_to_audit_logs() -> None:
    with talking_to(lambda _request: Reply(CONFIG_MAP)) as (cluster, server):
        cluster.delete("v1", "ConfigMap", "a", "n", dry_run=True)
        [delete] = requests_to(server)
        assert json.loads(delete.body)["dryRun"] == ["All"]
        assert delete.query == {"dryRun": "All"}


def test_delete_of_what_is_not_there_is_false() -> None:
    with talking_to(lambda _request: status(404, "NotFound", "gone", name="a")) as (cluster, _seen):
        assert cluster.delete("v1", "ConfigMap", "a", "n") is False


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (status(409, "AlreadyExists", "is there"), AlreadyExists),
        (status(409, "Conflict", "held"), Conflict),
        (status(403, "Forbidden", "no"), Forbidden),
        (status(404, "NotFound", 'namespaces "n" not found', name="n", kind="namespaces"), NotFound),
        (status(500, "", "failed to create typed patch object (n/a; /v1, Kind=ConfigMap)"), Untypeable),
        (status(500, "", "request to convert CR from an invalid group/version: e/v1"), Inconvertible),
    ],
)
def test_answers_that_say_no(answer: Reply, error: type[Exception]) -> None:
    with talking_to(lambda _request: answer) as (cluster, server):
        with pytest.raises(error, match="apply ConfigMap n/a: "):
            cluster.apply(CONFIG_MAP)
        assert len(requests_to(server)) == 1


SLOW = "Timeout: request did not complete within requested timeout - context deadline exceeded"


@pytest.mark.parametrize("dry_run", [False, True])
@pytest.mark.parametrize(
    "slow", [status(504, "Timeout", SLOW), status(500, "", "etcdserver: request timed out")]
)
def test_a_server_that_does_not_keep_up_is_asked_again_and_named_in_one_sentence(
    slow: Reply, dry_run: bool
) -> None:
    with talking_to(in_turn(slow, Reply(CONFIG_MAP))) as (cluster, server):
        assert cluster.apply(CONFIG_MAP, dry_run=dry_run) == CONFIG_MAP
        assert len(requests_to(server)) == 2
    policy = RetryPolicy(first_delay=0.001, limit=0.05, internal_limit=0.05)
    with serve(discovery_or(lambda _request: slow)) as server:
        cluster = LiveCluster(Transport(Login(server.url), retry=policy))
        with pytest.raises(ServerTimeout, match="apply ConfigMap n/a: ") as caught:
            cluster.apply(CONFIG_MAP, dry_run=dry_run)
    assert "the API server does not keep up" in str(caught.value)
    assert "and run this again" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_writes_of_unserved_kinds_say_so() -> None:
    with talking_to(lambda _request: Reply({})) as (cluster, server):
        with pytest.raises(KindNotServed, match=r"Thing in example\.org/v1"):
            cluster.apply({"apiVersion": "example.org/v1", "kind": "Thing", "metadata": {"name": "a"}})
        assert requests_to(server) == []


def test_a_path_that_is_not_served_yet_is_waited_for() -> None:
    script = in_turn(Reply(b"404 page not found\n", 404), Reply(CONFIG_MAP))
    with talking_to(script) as (cluster, server):
        assert cluster.apply(CONFIG_MAP) == CONFIG_MAP
        assert len(requests_to(server)) == 2


WIDGET = {"apiVersion": "g.io/v1", "kind": "Widget", "metadata": {"name": "w", "namespace": "n"}}
WIDGETS: dict[bool, str] = {False: "/apis/g.io/v1/widgets", True: "/apis/g.io/v1/namespaces/n/widgets"}
"""The path of Widgets in the namespace n, by whether they are namespaced."""


@pytest.mark.parametrize(
    "work",
    [
        lambda cluster: cluster.get("g.io/v1", "Widget", "w", "n"),
        lambda cluster: cluster.list("g.io/v1", "Widget", "n").items[0],
        lambda cluster: cluster.apply(WIDGET),
        lambda cluster: cluster.apply({**WIDGET, "metadata": {**WIDGET["metadata"], "resourceVersion": "1"}}),
        lambda cluster: cluster.create(WIDGET),
        lambda cluster: cluster.patch("g.io/v1", "Widget", "w", "n", {"spec": {}}),
        lambda cluster: cluster.patch("g.io/v1", "Widget", "w", "n", [{"op": "remove", "path": "/spec"}]),
    ],
    ids=["get", "list", "apply", "apply to a version", "create", "merge patch", "JSON patch"],
)
@pytest.mark.parametrize("namespaced", [True, False])
def test_a_definition_that_is_recreated_with_another_scope_is_followed(
    monkeypatch: pytest.MonkeyPatch, namespaced: bool, work: Callable[[LiveCluster], object]
) -> None:
    monkeypatch.setattr(live, "SERVING_SECONDS", 2.0)
    scope = not namespaced

    def script(request: Seen) -> Reply:
        if request.path == "/api":
            return Reply(CORE)
        if request.path == "/apis":
            versions = [{"version": "v1", "resources": [kind("widgets", "Widget", namespaced=scope)]}]
            group = {"metadata": {"name": "g.io"}, "versions": versions}
            return Reply({"kind": "APIGroupDiscoveryList", "items": [group]})
        if request.path == WIDGETS[scope]:
            return Reply(WIDGET if request.method == "POST" else {"items": [WIDGET], "metadata": {}})
        if request.path == f"{WIDGETS[scope]}/w":
            return Reply(WIDGET)
        return Reply(b"404 page not found\n", 404)

    with serve(script) as server:
        cluster = LiveCluster(Transport(Login(server.url)))
        assert work(cluster) == WIDGET
        scope = namespaced
        assert work(cluster) == WIDGET


@pytest.mark.parametrize("others", [(), ("v2",)])
@pytest.mark.parametrize(
    ("work", "nothing"),
    [
        (lambda cluster: cluster.get("g.io/v1", "Widget", "w", "n"), None),
        (lambda cluster: cluster.list("g.io/v1", "Widget", "n").items, []),
        (lambda cluster: cluster.delete("g.io/v1", "Widget", "w", "n"), False),
    ],
    ids=["get", "list", "delete"],
)
def test_a_version_that_vanishes_is_nothing_only_if_no_other_one_is_served(
    work: Callable[[LiveCluster], object], nothing: object, others: tuple[str, ...]
) -> None:
    served: tuple[str, ...] = ("v1",)

    def script(request: Seen) -> Reply:
        if request.path == "/api":
            return Reply(CORE)
        if request.path == "/apis":
            widgets = [kind("widgets", "Widget")]
            versions = [{"version": version, "resources": widgets} for version in served]
            group = {"metadata": {"name": "g.io"}, "versions": versions}
            return Reply({"kind": "APIGroupDiscoveryList", "items": [group]})
        return Reply(b"404 page not found\n", 404)

    with serve(script) as server:
        cluster = LiveCluster(Transport(Login(server.url)))
        cluster.resource("g.io/v1", "Widget")
        served = others
        if not others:
            assert work(cluster) == nothing
            return
        with pytest.raises(KindNotServed, match=r"it serves Widget in g\.io/v2"):
            work(cluster)


def test_warnings_are_handed_on() -> None:
    heard: list[tuple[str, str]] = []
    warning = ("Warning", '299 - "unknown field \\"spec.x\\"", 299 - "v1beta1 is deprecated"')
    with talking_to(
        lambda _r: Reply(CONFIG_MAP, headers=(warning,)),
        lambda action, text: heard.append((action, text)),
    ) as (cluster, _seen):
        cluster.apply(CONFIG_MAP)

    assert heard == [
        ("apply ConfigMap n/a", 'unknown field "spec.x"'),
        ("apply ConfigMap n/a", "v1beta1 is deprecated"),
    ]


@pytest.mark.parametrize(
    ("date", "time"),
    [
        ("Fri, 01 Jan 2021 10:59:50 GMT", "2021-01-01T11:00:05Z"),
        ("the first of January", "2026-11-21T00:00:00Z"),
        (None, "2026-11-21T00:00:00Z"),
    ],
)
def test_the_time_of_the_server_is_that_of_its_last_answer_and_what_passed_since(
    date: str | None, time: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_module, "timestamp", lambda: "2026-11-21T00:00:00Z")
    # An answer of Python's server has the header, and with another one two of them.
    monkeypatch.setattr(BaseHTTPRequestHandler, "date_time_string", lambda _self: date or "")
    with talking_to(lambda _request: Reply(CONFIG_MAP)) as (cluster, server):
        assert cluster.server_time() == "2026-11-21T00:00:00Z"
        cluster.with_field_manager("other").get("v1", "ConfigMap", "a", "n")
        clock.sleep(15)
        requests = len(server.seen)
        assert cluster.server_time() == time
        assert ClusterWrapper(DryRunCluster(cluster)).server_time() == time
        assert len(server.seen) == requests


@pytest.mark.parametrize("hiccup", [status(503), status(429), Reply(None)], ids=["503", "429", "hangs up"])
def test_a_read_survives_a_hiccup(hiccup: Reply) -> None:
    with talking_to(in_turn(hiccup, hiccup, Reply(CONFIG_MAP))) as (cluster, server):
        assert cluster.get("v1", "ConfigMap", "a", "n") == CONFIG_MAP
        assert len(requests_to(server)) == 3


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of retries: only their pauses move it."""
    manual_clock = Clock()
    for module in (attempts, endpoint):
        monkeypatch.setattr(module, "time", manual_clock)
    return manual_clock


def test_a_missing_server_is_awaited_longer_by_a_patient_client(clock: Clock) -> None:
    with serve(lambda _request: Reply({})) as server:
        url = server.url
    policy = RetryPolicy(first_delay=0.001, absent_limit=0.1, limit=0.5)
    login = Login(url, origin="context x of y")
    tries = []
    for patient in (False, True):
        connection = Transport(login, retry=policy, patient=patient, sleep=clock.sleep)
        refused = (
            rf"{url} \(context x of y\): Connection refused\. Check .*`kubectl get --raw /readyz`.*again"
        )
        with pytest.raises(Unreachable, match=refused):
            LiveCluster(connection).server_version()
        tries.append(connection.requests["GET"])
    # Who knows that a server is there waits longer for it.
    assert 1 < tries[0] < tries[1]


@pytest.mark.parametrize("hangs_up", [False, True])
def test_a_write_counts_as_sent_if_only_its_repetition_found_no_server(clock: Clock, hangs_up: bool) -> None:
    with serve(lambda _request: Reply({})) as closed_server:
        gone = Login(closed_server.url)

    def answer(_request: Seen) -> Reply:
        connection.login = gone
        return Reply(None)

    with serve(answer) as server:
        policy = RetryPolicy(first_delay=0.001, absent_limit=0.05, limit=0.05)
        login = Login(server.url) if hangs_up else gone
        connection = Transport(login, retry=policy, sleep=clock.sleep)
        with pytest.raises(Unreachable, match="Connection refused") as caught:
            connection.request("apply", "PATCH", "/x", body={}, repeatable=True)
    assert caught.value.sent is hangs_up


def test_a_server_that_stays_away_is_waited_for_once(clock: Clock) -> None:
    with serve(lambda _request: Reply({})) as server:
        url = server.url
    policy = RetryPolicy(first_delay=0.001, longest_delay=0.01, limit=0.3)
    pauses: list[float] = []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        clock.sleep(seconds)

    connection = Transport(Login(url), retry=policy, patient=True, sleep=sleep)
    counts = []
    for _time in range(3):
        with pytest.raises(Unreachable):
            connection.request("look", "GET", "/version")
        counts.append(len(pauses))
    assert counts[0] > 10
    # The first pauses are so short that some may still fit.
    assert counts[2] - counts[0] < counts[0] / 2


@pytest.fixture
def short_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "AWAY_SECONDS", 0.0)
    monkeypatch.setattr(attempts, "STARTING_POLL_SECONDS", 0.001)
    monkeypatch.setattr(endpoint, "STARTING_SECONDS", 0.3)


@pytest.mark.usefixtures("short_start")
@pytest.mark.parametrize("code", [401, 403])
def test_a_refusal_of_a_starting_server_is_not_final(code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "STARTING_SECONDS", FOREVER)
    with talking_to(in_turn(Reply(None), status(code), status(code), Reply(CONFIG_MAP))) as (cluster, server):
        assert cluster.apply(CONFIG_MAP) == CONFIG_MAP
        assert len(requests_to(server)) == 4


@pytest.mark.usefixtures("short_start")
def test_a_server_that_has_started_is_believed_after_a_while() -> None:
    with talking_to(in_turn(Reply(None), status(403))) as (cluster, server):
        with pytest.raises(Forbidden):
            cluster.apply(CONFIG_MAP)
        count_before = len(requests_to(server))
        with pytest.raises(Forbidden):
            cluster.apply(CONFIG_MAP)
        assert len(requests_to(server)) == count_before + 1


def test_after_a_connection_that_broke_once_a_refusal_is_believed_at_once() -> None:
    with talking_to(in_turn(Reply(None), status(403))) as (cluster, server):
        with pytest.raises(Forbidden):
            cluster.apply(CONFIG_MAP)
        assert len(requests_to(server)) == 2


@pytest.mark.usefixtures("short_start")
def test_a_server_that_starts_does_not_know_yet_what_it_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "STARTING_SECONDS", FOREVER)
    with talking_to(in_turn(Reply(None), Reply({}))) as (cluster, server):
        cluster.get("v1", "ConfigMap", "a", "n")
        server.seen.clear()

        def wait(seconds: float) -> None:
            """Let the start end when discovery was read three times."""
            time.sleep(seconds)
            if len(server.seen) > 2:
                monkeypatch.setattr(endpoint, "STARTING_SECONDS", 0.0)

        monkeypatch.setattr(live, "time", Mock(sleep=wait, monotonic=time.monotonic))
        assert cluster.get("example.org/v1", "Thing", "a", "n") is None
        # Discovery was asked again and again before that was believed.
        assert len(server.seen) > 2


def test_redirects_are_not_followed() -> None:
    elsewhere = Reply({}, 302, (("Location", "http://192.0.2.1/"),))
    with (
        talking_to(lambda _request: elsewhere) as (cluster, _seen),
        pytest.raises(ApiError, match="HTTP 302"),
    ):
        cluster.get("v1", "ConfigMap", "a", "n")


def test_identity_is_sent_and_a_refused_token_renewed_once() -> None:
    def script(request: Seen) -> Reply:
        return Reply({}) if request.header("Authorization") == "Bearer new" else status(401)

    renewed: list[str] = []

    def authorization(refused: str) -> str:
        renewed.append(refused)
        return "Bearer new" if refused or "Bearer old" in renewed else "Bearer old"

    with serve(script) as server:
        login = Login(
            server.url,
            authorization=authorization,
            impersonate_user="jane",
            impersonate_groups=("a", "b"),
        )
        Transport(login).request("x", "GET", "/version")

    assert len(server.seen) == 2
    last = server.seen[-1]
    assert last.header("Impersonate-User") == "jane"
    assert [value for name, value in last.headers if name == "Impersonate-Group"] == ["a", "b"]


def test_a_login_that_is_not_accepted_is_named_with_its_server_and_what_to_do() -> None:
    with serve(lambda _request: status(401, "Unauthorized")) as server:
        login = Login(server.url, "context prod of /home/me/.kube/config", lambda _refused: "Bearer hunter2")
        with pytest.raises(Unauthorized) as caught:
            Transport(login).request("list Namespaces", "GET", "/api/v1/namespaces")
    message = str(caught.value)
    assert message.startswith(
        f"list Namespaces: {server.url} does not accept the login (context prod of /home/me/.kube/config). "
    )
    assert "log in again" in message
    assert "hunter2" not in message
    assert len(server.seen) == 1


def event(kind: str, version: str) -> dict[str, object]:
    """One line of a watch."""
    return {"type": kind, "object": {**CONFIG_MAP, "metadata": {"name": "a", "resourceVersion": version}}}


def test_watch_hides_bookmarks_and_goes_on_from_where_it_was() -> None:
    script = in_turn(
        Reply([event("ADDED", "5"), event("BOOKMARK", "8")]),
        Reply([event("MODIFIED", "9")]),
        status(410, "Expired", "too old resource version"),
    )
    events = []
    with talking_to(script) as (cluster, server):
        watch = cluster.watch("v1", "ConfigMap", "n", resource_version="3", seconds=FOREVER)
        with pytest.raises(Gone):
            events.extend(watch)

        assert [each.type for each in events] == ["ADDED", "MODIFIED"]
        assert [request.query["resourceVersion"] for request in requests_to(server)][:3] == ["3", "8", "9"]
        assert requests_to(server)[0].query["allowWatchBookmarks"] == "true"


@pytest.mark.parametrize(
    "answer",
    [
        status(410, "Expired", "too old resource version"),
        Reply([{"type": "ERROR", "object": {"code": 410, "reason": "Expired", "message": "too old"}}]),
    ],
    ids=["at once", "in the stream"],
)
def test_watch_says_when_the_past_is_gone(answer: Reply) -> None:
    with talking_to(lambda _request: answer) as (cluster, _seen), pytest.raises(Gone, match="too old"):
        list(cluster.watch("v1", "ConfigMap", resource_version="1", seconds=1))


def test_watch_ends_by_itself_though_the_server_is_silent() -> None:
    silence = threading.Event()

    def script(_request: Seen) -> Reply:
        silence.wait(FOREVER)
        return Reply(None)

    with talking_to(script) as (cluster, _seen):
        cluster.resource("v1", "ConfigMap")
        try:
            events = list(cluster.watch("v1", "ConfigMap", resource_version="1", seconds=0.2))
        finally:
            silence.set()

    assert events == []


def test_a_watch_selects_by_labels_and_shows_metadata_as_of_its_kind() -> None:
    partial = {"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata"}
    meta = {"name": "a", "resourceVersion": "5"}
    script = in_turn(Reply([{"type": "ADDED", "object": {**partial, "metadata": meta}}]), Reply([]))
    with talking_to(script) as (cluster, server):
        watch = cluster.watch(
            "v1", "ConfigMap", resource_version="3", seconds=FOREVER, label_selector="x=y", metadata_only=True
        )
        seen = next(watch)

        assert seen.object == {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta}
        first = requests_to(server)[0]
        assert first.query["labelSelector"] == "x=y"
        assert first.header("Accept") == "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"


def test_bookmarks_are_returned_on_request() -> None:
    with talking_to(in_turn(Reply([event("BOOKMARK", "8")]), Reply([]))) as (cluster, _server):
        seen = next(cluster.watch("v1", "ConfigMap", resource_version="3", seconds=FOREVER, bookmarks=True))
    assert (seen.type, seen.object["metadata"]["resourceVersion"]) == ("BOOKMARK", "8")


def test_a_silent_watch_is_stopped_by_another_thread() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    hung_up = threading.Event()

    def answer() -> None:
        connection, _address = listener.accept()
        with connection:
            connection.recv(4096)
            connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            line = json.dumps(event("ADDED", "5")).encode() + b"\n"
            connection.sendall(f"{len(line):x}\r\n".encode() + line + b"\r\n")
            if connection.recv(1) == b"":
                hung_up.set()

    threading.Thread(target=answer, daemon=True).start()
    resource = Resource("v1", "ConfigMap", "configmaps", namespaced=True)
    discovery = Mock(find=lambda *_names: resource)
    cluster = LiveCluster(
        Transport(Login(f"http://127.0.0.1:{listener.getsockname()[1]}")), discovery=discovery
    )
    stop = StopSignal()
    watch = cluster.watch("v1", "ConfigMap", resource_version="1", seconds=FOREVER, stop=stop)
    with listener:
        assert next(watch).type == "ADDED"
        threading.Timer(0.1, stop.set).start()
        assert list(watch) == []
        assert hung_up.wait(60)


def test_a_watch_of_a_kind_that_is_not_served_is_stopped_too() -> None:
    stop = StopSignal()
    with talking_to(lambda _request: Reply({})) as (cluster, _server):
        threading.Timer(0.1, stop.set).start()
        watch = cluster.watch("example.org/v1", "Thing", resource_version="1", seconds=FOREVER, stop=stop)
        assert list(watch) == []


def test_a_stopped_watch_asks_for_nothing_more() -> None:
    stop = StopSignal()
    with talking_to(lambda _request: Reply([event("ADDED", "5"), event("ADDED", "6")])) as (cluster, server):
        watch = cluster.watch("v1", "ConfigMap", resource_version="1", seconds=60, stop=stop)
        next(watch)
        stop.set()
        assert list(watch) == []
        assert len(requests_to(server)) == 1


def test_the_system_looks_after_silent_connections() -> None:
    options = keepalive_options()
    assert (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1) in options
    with socket.socket() as one:
        for option in options:
            one.setsockopt(*option)
        if hasattr(socket, "TCP_KEEPIDLE"):
            # By default two hours, in which a watch would wait for a server that is gone.
            assert one.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) <= 60


def test_logs() -> None:
    with talking_to(lambda _request: Reply("one\ntwo ü\n".encode())) as (cluster, server):
        assert cluster.logs("p", "n", container="c", tail_lines=2) == "one\ntwo ü\n"
        assert requests_to(server)[0].path == "/api/v1/namespaces/n/pods/p/log"
        assert requests_to(server)[0].query == {"container": "c", "tailLines": "2"}


@pytest.mark.parametrize(
    ("server", "here"),
    [
        ("https://127.0.0.1:6443", True),
        ("http://localhost", True),
        ("https://[::1]:6443", True),
        ("https://api.example.org", False),
        ("https://[fd00::1]:6443", False),
    ],
)
def test_an_address_of_the_loopback_interface_is_this_machine(server: str, here: bool) -> None:
    assert attempts.is_loopback(server) is here


def test_answers_from_afar_may_be_compressed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "is_loopback", lambda _server: False)

    def script(request: Seen) -> Reply:
        assert request.header("Accept-Encoding") == "gzip"
        return Reply(gzip.compress(json.dumps(CONFIG_MAP).encode()), headers=(("Content-Encoding", "gzip"),))

    with talking_to(script) as (cluster, _seen):
        assert cluster.get("v1", "ConfigMap", "a", "n") == CONFIG_MAP


def test_threads_share_one_pool() -> None:
    with talking_to(lambda _request: Reply(CONFIG_MAP)) as (cluster, server):
        threads = [
            threading.Thread(target=lambda: [cluster.get("v1", "ConfigMap", "a", "n") for _i in range(5)])
            for _i in range(16)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert len(requests_to(server)) == 80
        assert cluster.requests == {"GET": 82}


@pytest.fixture
def late_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, Script], Script]]:
    """Makes of a script one that answers the first request for ConfigMaps by a method too late."""
    monkeypatch.setattr(attempts, "READ_SECONDS", 0.1)
    over = threading.Event()

    def with_delay(method: str, script: Script) -> Script:
        waiting = [True]

        def delayed(request: Seen) -> Reply:
            if waiting and request.method == method and "configmaps" in request.path:
                waiting.clear()
                # No later request is late, however busy the machine is.
                monkeypatch.setattr(attempts, "READ_SECONDS", 60.0)
                over.wait(60)
            return script(request)

        return delayed

    yield with_delay
    over.set()


def test_a_read_that_gets_no_answer_in_time_is_repeated(
    late_once: Callable[[str, Script], Script],
) -> None:
    with talking_to(late_once("GET", lambda _request: Reply(CONFIG_MAP))) as (cluster, server):
        assert cluster.get("v1", "ConfigMap", "a", "n") == CONFIG_MAP
        assert [request.method for request in requests_to(server)] == ["GET", "GET"]


def test_a_write_that_gets_no_answer_in_time_is_looked_at_before_it_is_repeated(
    late_once: Callable[[str, Script], Script],
) -> None:
    with talking_to(late_once("POST", lambda _request: Reply(CONFIG_MAP))) as (cluster, server):
        assert cluster.create(CONFIG_MAP) == CONFIG_MAP
        assert [request.method for request in requests_to(server)] == ["POST", "GET"]


def test_a_write_that_gets_no_answer_in_time_is_repeated_if_it_had_no_effect(
    late_once: Callable[[str, Script], Script],
) -> None:
    def script(request: Seen) -> Reply:
        if request.method == "GET":
            return status(404, "NotFound", name="a", kind="configmaps")
        return Reply(CONFIG_MAP)

    with talking_to(late_once("POST", script)) as (cluster, server):
        assert cluster.create(CONFIG_MAP) == CONFIG_MAP
        assert [request.method for request in requests_to(server)] == ["POST", "GET", "POST"]
