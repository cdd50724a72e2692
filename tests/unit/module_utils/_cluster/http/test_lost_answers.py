# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes whose answer is lost, against a scripted server that keeps one object."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import (
    AlreadyExists,
    Conflict,
    Unreachable,
    api_error,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.fields.json_patch import (
    apply_merge_patch,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.login import Login
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.lost_answers import (
    contains_fields,
    find_written_object,
    resolve_lost_write,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.retry import RetryPolicy
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.transport import Transport

from tests.support.apiserver import Reply, Seen, discovery_or, serve, status

META = {"name": "a", "namespace": "n"}
CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": META, "data": {"x": "1"}}
HANGS_UP = Reply(None)


class Server:
    """Keeps one ConfigMap; loses requests and answers as it is told to."""

    def __init__(self, live: dict[str, Any] | None = None) -> None:
        self.live = live
        self.lose: list[str] = []
        self.methods: list[str] = []
        self.hidden = False

    def answer(self, request: Seen) -> Reply:
        """Do what is asked, and lose what is to be lost: its way here, or its way back."""
        self.methods.append(request.method)
        if request.method == "GET" and self.hidden:
            return status(403, "Forbidden", "no")
        if request.method == "GET":
            return Reply(self.live) if self.live else status(404, "NotFound", "gone", name="a")
        fate = self.lose.pop(0) if self.lose else ""
        if fate == "request":
            return HANGS_UP
        answer = self._write(request)
        return HANGS_UP if fate == "answer" else answer

    def _write(self, request: Seen) -> Reply:
        body = json.loads(request.body)
        if request.method == "DELETE":
            if self.live is None:
                return status(404, "NotFound", "gone", name="a")
            self.live = None
            return Reply({})
        if request.method == "POST" and self.live is not None:
            return status(409, "AlreadyExists", "is there")
        current = self.live or {"metadata": {"resourceVersion": "0"}}
        version = body["metadata"].pop("resourceVersion", None) if "metadata" in body else None
        if version not in (None, current["metadata"]["resourceVersion"]):
            return status(409, "Conflict", "has moved")
        new = apply_merge_patch(current, body)
        managers = [{"manager": request.query["fieldManager"]}]
        number = str(int(current["metadata"]["resourceVersion"]) + 1)
        new["metadata"] = {
            **new["metadata"],
            "uid": "u",
            "resourceVersion": number,
            "managedFields": managers,
        }
        self.live = new
        return Reply(new)


@contextmanager
def talking_to(server: Server) -> Iterator[LiveCluster]:
    """A live cluster on that server."""
    with serve(discovery_or(server.answer)) as running:
        policy = RetryPolicy(first_delay=0.001, limit=1.0, internal_limit=0.01)
        yield LiveCluster(Transport(Login(running.url), retry=policy))


def config_map_of_others(**data: str) -> dict[str, Any]:
    """The ConfigMap as somebody else has made it."""
    meta = {**META, "uid": "u", "resourceVersion": "7", "managedFields": [{"manager": "somebody"}]}
    return {**CONFIG_MAP, "metadata": meta, "data": data}


@pytest.mark.parametrize(
    ("lose", "methods"),
    [
        (["answer"], ["POST", "GET"]),
        (["request"], ["POST", "GET", "POST"]),
        (["request", "request", "answer"], ["POST", "GET", "POST", "GET", "POST", "GET"]),
    ],
)
def test_a_create_is_made_once(lose: list[str], methods: list[str]) -> None:
    server = Server()
    server.lose = list(lose)
    with talking_to(server) as cluster:
        assert cluster.create(CONFIG_MAP)["data"] == {"x": "1"}
    assert server.methods == methods


def test_an_object_that_another_manager_created_meanwhile_is_theirs() -> None:
    server = Server(config_map_of_others(x="1"))
    server.lose = ["request"]
    with talking_to(server) as cluster, pytest.raises(AlreadyExists):
        cluster.create(CONFIG_MAP)


def test_a_create_with_a_generated_name_is_not_repeated() -> None:
    server = Server()
    server.lose = ["answer"]
    meta = {"generateName": "a-", "namespace": "n"}
    with talking_to(server) as cluster, pytest.raises(Unreachable):
        cluster.create({**CONFIG_MAP, "metadata": meta})
    assert server.methods == ["POST"]


OURS = {"manager": "kyma-lifecycle", "operation": "Apply"}
THEIRS = {"manager": "helm", "operation": "Update", "time": "2026-01-01T00:00:00Z"}


def of_ours_already(**data: str) -> dict[str, Any]:
    """The ConfigMap as we have written it before, and somebody else, too."""
    obj = config_map_of_others(**data)
    return {**obj, "metadata": {**obj["metadata"], "managedFields": [OURS, THEIRS]}}


@pytest.mark.parametrize(
    "meta", [{}, {"managedFields": [OURS]}], ids=["to be stored anew", "to be held by others"]
)
def test_a_write_that_asks_for_bookkeeping_alone_is_made_although_its_way_there_was_lost(
    meta: dict[str, Any],
) -> None:
    server = Server(of_ours_already(x="1"))
    server.lose = ["request"]
    with talking_to(server) as cluster:
        cluster.patch("v1", "ConfigMap", "a", "n", {"metadata": {"uid": "u", "resourceVersion": "7", **meta}})
    assert server.methods == ["PATCH", "GET", "PATCH"]


def test_an_apply_that_only_removes_is_made_although_its_way_there_was_lost() -> None:
    server = Server(of_ours_already(x="1", y="2"))
    server.lose = ["request"]
    with talking_to(server) as cluster:
        cluster.apply({**CONFIG_MAP, "metadata": {**META, "uid": "u", "resourceVersion": "7"}})
    assert server.methods == ["PATCH", "GET", "PATCH"]


def test_fields_that_were_handed_over_are_so_whenever_the_server_says_it_was() -> None:
    moved = of_ours_already(x="1")
    moved["metadata"] |= {
        "resourceVersion": "8",
        "managedFields": [{**THEIRS, "time": "2026-02-02T00:00:00Z"}, OURS],
    }
    patch = {"metadata": {"uid": "u", "resourceVersion": "7", "managedFields": [OURS, THEIRS]}}
    assert find_written_object(moved, patch, "kyma-lifecycle") is moved
    assert (
        find_written_object(
            moved, {"metadata": {**patch["metadata"], "managedFields": [OURS]}}, "kyma-lifecycle"
        )
        is None
    )


@pytest.mark.parametrize("lose", [["answer"], ["request"], ["request", "answer"]])
def test_a_patch_or_an_apply_that_holds_for_one_version_is_made_once(lose: list[str]) -> None:
    bound = {"metadata": {**META, "resourceVersion": "7"}, "data": {"x": "2"}}
    for verb in ("patch", "apply"):
        server = Server(config_map_of_others(x="1"))
        server.lose = list(lose)
        with talking_to(server) as cluster:
            if verb == "patch":
                answer = cluster.patch("v1", "ConfigMap", "a", "n", bound)
            else:
                answer = cluster.apply({**CONFIG_MAP, **bound})
        assert answer["data"] == {"x": "2"}
        assert answer["metadata"]["resourceVersion"] == "8"


def test_a_lost_write_that_others_preceded_is_a_conflict() -> None:
    server = Server(config_map_of_others(x="3"))
    server.lose = ["request"]
    with talking_to(server) as cluster, pytest.raises(Conflict):
        cluster.patch("v1", "ConfigMap", "a", "n", {"metadata": {"resourceVersion": "6"}, "data": {"x": "2"}})


@pytest.mark.parametrize("lose", [["answer"], ["request"]])
def test_a_deletion_is_asked_for_until_it_is_done(lose: list[str]) -> None:
    server = Server(config_map_of_others())
    server.lose = list(lose)
    with talking_to(server) as cluster:
        assert cluster.delete("v1", "ConfigMap", "a", "n")
    assert server.live is None
    assert server.methods.count("DELETE") == (1 if lose == ["answer"] else 2)


def test_another_object_of_the_same_name_is_left_alone() -> None:
    server = Server(config_map_of_others())
    server.lose = ["request"]
    with talking_to(server) as cluster:
        assert cluster.delete("v1", "ConfigMap", "a", "n", uid="gone")
    assert server.live is not None
    assert server.methods[0] == "DELETE"
    assert set(server.methods[1:]) == {"GET"}


def test_a_json_patch_is_not_sent_again() -> None:
    server = Server(config_map_of_others())
    server.lose = ["request"]
    operations = [{"op": "add", "path": "/data/y", "value": "1"}]
    with talking_to(server) as cluster, pytest.raises(Unreachable):
        cluster.patch("v1", "ConfigMap", "a", "n", operations)
    assert server.methods == ["PATCH"]


def test_a_write_whose_object_may_not_be_read_is_not_repeated() -> None:
    server = Server(config_map_of_others())
    server.lose = ["request"]
    server.hidden = True
    with talking_to(server) as cluster, pytest.raises(Unreachable):
        cluster.delete("v1", "ConfigMap", "a", "n")
    assert server.methods[0] == "DELETE"
    assert set(server.methods[1:]) == {"GET"}


def test_a_lost_write_is_reported_if_no_look_is_answered() -> None:
    def repeated() -> None:
        raise Unreachable("refused", sent=False)

    def look() -> None:
        looks.append("look")
        if len(looks) > 1:
            raise Unreachable("refused", sent=False)

    looks: list[str] = []
    waits: list[float] = []
    lost = Unreachable("reset")
    with pytest.raises(Unreachable) as raised:
        resolve_lost_write(repeated, look, lost, policy=RetryPolicy(), sleep=waits.append)
    # It may have been made, so that nobody may take it for one that was not.
    assert raised.value is lost
    assert len(waits) == 1


def test_a_look_that_a_starting_server_refuses_is_repeated() -> None:
    answers = [api_error("get it", status, {}) for status in (401, 403)] + [None]

    def look() -> str:
        if answer := answers.pop(0):
            raise answer
        return "written"

    def repeated() -> str:
        raise AssertionError("a write that was made is made again")

    result = resolve_lost_write(
        repeated, look, Unreachable("reset"), policy=RetryPolicy(), sleep=lambda _seconds: None
    )
    assert result == "written"


def test_a_write_to_a_server_that_stays_away_fails() -> None:
    server = Server(config_map_of_others())
    server.lose = ["request"] * 100_000
    with talking_to(server) as cluster, pytest.raises(Unreachable):
        cluster.delete("v1", "ConfigMap", "a", "n")


@pytest.mark.parametrize(
    ("live", "desired", "held"),
    [
        ({"a": 1, "b": 2}, {"a": 1}, True),
        ({"a": 1}, {"a": 2}, False),
        ({"a": 1}, {"b": None}, True),
        ({"a": 1}, {"a": None}, False),
        ({"a": [{"x": 1, "y": 2}]}, {"a": [{"x": 1}]}, True),
        ({"a": [1, 2]}, {"a": [1]}, False),
        ({}, {"a": {}, "b": [], "c": {"d": None}}, True),
        ({}, {"a": {"b": ""}}, False),
        ({"a": "b"}, {"a": {"b": 1}}, False),
        ({"a": "b"}, {"a": ["b"]}, False),
    ],
)
def test_a_null_or_empty_field_may_be_missing(live: Any, desired: Any, held: bool) -> None:
    assert contains_fields(live, desired) is held


def test_a_secrets_text_is_found_encoded() -> None:
    live = {"metadata": {"managedFields": [{"manager": "me"}]}, "data": {"a": "eA=="}}
    assert find_written_object(live, {"stringData": {"a": "x"}}, "me") is live
    assert find_written_object(live, {"stringData": {"a": "y"}}, "me") is None
