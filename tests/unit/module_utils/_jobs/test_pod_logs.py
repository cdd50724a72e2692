# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Logs of pods: which container failed, which Secrets are masked, and how much is shown."""

from __future__ import annotations

import base64
import json
import random
import string
from typing import Any
from urllib.parse import quote

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Unreachable
from ansible_collections.kyma.lifecycle.plugins.module_utils._jobs.log_mask import MASK, MOST_BYTES, PIECE
from ansible_collections.kyma.lifecycle.plugins.module_utils._jobs.pod_logs import (
    LAST_BYTES,
    LAST_LINES,
    ContainerLog,
    LogFollower,
    failed_container,
    last_lines,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

PASSWORD = "hunter2222"


def secret(name: str, value: str = PASSWORD) -> Object:
    data = {"password": base64.b64encode(value.encode()).decode()}
    meta = {"name": name, "namespace": "shop"}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "data": data}


def running(name: str = "main") -> Object:
    return {"name": name, "state": {"running": {"startedAt": "2100-01-01T00:00:00Z"}}}


def ended(name: str = "main", code: int = 1, at: str = "2100-01-01T00:00:05Z") -> Object:
    end = {"exitCode": code, "startedAt": "2100-01-01T00:00:00Z", "finishedAt": at}
    return {"name": name, "state": {"terminated": end}}


def pod(*statuses: Object, uid: str = "1", **spec: Any) -> Object:
    meta = {"name": "backup-1", "namespace": "shop", "uid": uid, "creationTimestamp": "2100-01-01T00:00:00Z"}
    status = {"containerStatuses": list(statuses or (ended(),))}
    containers = [{"name": "main", "envFrom": [{"secretRef": {"name": "login"}}]}]
    return {"metadata": meta, "spec": {"containers": containers, **spec}, "status": status}


def cluster_with(text: str, *objects: Object) -> MemoryCluster:
    """A cluster with a pod whose container main has printed a text."""
    meta = {"name": "backup-1", "namespace": "shop"}
    cluster = MemoryCluster({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {}}, *objects)
    cluster.set_log("backup-1", "shop", text, "main")
    return cluster


def log_of(text: str, *objects: Object, **spec: Any) -> ContainerLog:
    """The last lines of the container main."""
    return last_lines(cluster_with(text, *objects), pod(**spec), "main", tuple)


# Which container failed.


def test_the_first_container_that_failed_counts() -> None:
    later, first = ended("later", at="2100-01-01T00:00:09Z"), ended("first", 137)
    assert failed_container(pod(later, first, ended("good", 0, "2100-01-01T00:00:01Z"), running())) == "first"
    assert failed_container(pod(later, first), ["first"]) == "later"
    assert failed_container(pod(ended(code=0), running("other"))) == ""
    assert failed_container({"status": {}}) == ""


def test_an_init_container_counts_and_one_that_waits_for_its_restart() -> None:
    failing: Object = {"status": {"initContainerStatuses": [ended("first")]}}
    assert failed_container(failing) == "first"
    before = {"terminated": {"exitCode": 2}}
    assert failed_container(pod({"name": "a", "state": {"waiting": {}}, "lastState": before})) == "a"
    assert failed_container(pod({"name": "a", "state": {"running": {}}, "lastState": before})) == ""


# Which Secrets are masked.

PLACES: dict[str, Object] = {
    "envFrom": {"containers": [{"name": "main", "envFrom": [{"secretRef": {"name": "login-v3"}}]}]},
    "env": {
        "containers": [
            {
                "name": "main",
                "env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "login-v3", "key": "a"}}}],
            }
        ]
    },
    "init container": {
        "containers": [{"name": "main"}],
        "initContainers": [{"name": "first", "envFrom": [{"secretRef": {"name": "login-v3"}}]}],
    },
    "volume": {"containers": [], "volumes": [{"name": "a", "secret": {"secretName": "login-v3"}}]},
    "projected volume": {
        "containers": [],
        "volumes": [{"name": "a", "projected": {"sources": [{"secret": {"name": "login-v3"}}]}}],
    },
}


@pytest.mark.parametrize("place", PLACES)
def test_values_of_secrets_in_each_place_of_a_pod_are_masked(place: str) -> None:
    log = log_of(f"login {PASSWORD}\n", secret("login-v3"), **PLACES[place])
    assert (log.lines, log.problem) == ((f"login {MASK}",), "")


def test_an_optional_secret_may_be_missing() -> None:
    sources = [{"secretRef": {"name": "other", "optional": True}}]
    log = log_of("hello\n", containers=[{"name": "main", "envFrom": sources}])
    assert (log.lines, log.problem) == (("hello",), "")


def test_too_many_values_hide_the_log() -> None:
    log = log_of("hello\n", secret("login", "x" * (MOST_BYTES + 1)))
    assert (log.lines, log.problem) == ((), "the values to mask have more than 128 KiB")


def test_a_server_that_does_not_answer_is_the_reason() -> None:
    cluster = cluster_with("hello\n", secret("login"))
    cluster.fail_when(lambda request: request.verb == "logs", Unreachable("no answer"))
    assert last_lines(cluster, pod(), "main", tuple).problem == "no answer"


# How much is shown.


def test_at_most_fifty_lines_and_64_kib_are_shown() -> None:
    many = log_of("".join(f"{number}\n" for number in range(90)), secret("login"))
    assert many.lines == tuple(str(number) for number in range(90 - LAST_LINES, 90))
    wide = log_of(("x" * 1900 + "\n") * 60, secret("login"))
    assert sum(len(line) + 1 for line in wide.lines) <= LAST_BYTES
    assert len(wide.lines) == LAST_BYTES // 1901
    letters = log_of(("ü" * 1900 + "\n") * 60, secret("login"))
    assert len(letters.lines) == LAST_BYTES // 3801


def test_a_value_that_begins_before_the_shown_lines_is_masked() -> None:
    text = f"{PASSWORD[:5]}\n{PASSWORD[5:]}\n" + "line\n" * (LAST_LINES - 1)
    assert log_of(text, secret("login")).lines == (MASK, *["line"] * (LAST_LINES - 1))


def test_a_message_has_ten_lines_at_most() -> None:
    log = log_of("".join(f"{number}\n" for number in range(90)), secret("login"))
    assert log.message().splitlines() == [
        "The last lines of container main of Pod backup-1:",
        *(f"  {number}" for number in range(80, 90)),
    ]
    assert log_of("", secret("login")).message() == "The log of container main of Pod backup-1 is empty."


# While it is written.

FORMS = (
    str,
    json.dumps,
    lambda value: base64.b64encode(value.encode()).decode(),
    lambda value: base64.b64encode(f"xy{value}z".encode()).decode(),
    quote,
    lambda value: value.encode().hex(),
)
WORDS = ("starting", "ok", "GET /items 200", "{}", "warning: disk", "")


@pytest.mark.parametrize("seed", range(40))
def test_a_log_that_is_read_in_random_pieces_shows_no_piece_of_a_value_and_all_the_rest(seed: int) -> None:
    rng = random.Random(seed)
    values = ["".join(rng.choices(string.ascii_letters + string.digits + '"\\/ ', k=k)) for k in (8, 20, 60)]
    values = [f"q{value}z" for value in values]
    text, words = "", []
    for _line in range(30):
        printed = rng.choice(FORMS)(rng.choice(values))
        for _split in range(rng.randrange(4)):
            place = rng.randrange(len(printed) + 1)
            printed = f"{printed[:place]}\n{printed[place:]}"
        words.append(rng.choice(WORDS))
        text += f"{printed}\n[{words[-1]}]\n" if rng.random() < 0.7 else f"[{words[-1]}]\n"
    secrets = [secret(f"login-{number}", value) for number, value in enumerate(values)]
    sources = [{"secretRef": {"name": one["metadata"]["name"]}} for one in secrets]
    cluster = cluster_with("", *secrets)
    shown: list[str] = []
    follower = LogFollower(cluster, lambda _subject, state, *_rest: shown.append(state), "backup")
    for size in sorted([*(rng.randrange(len(text)) for _look in range(8)), len(text)]):
        cluster.set_log("backup-1", "shop", text[:size], "main")
        follower.look(pod(running(), containers=[{"name": "main", "envFrom": sources}]))
    follower.look(pod(ended(code=0), containers=[{"name": "main", "envFrom": sources}]), is_end=True)
    shown = [line.removeprefix("| ") for line in shown]
    assert len(shown) == text.count("\n")
    assert [line[1:-1] for line in shown if line.startswith("[")] == words
    joined = "".join("".join(shown).split()).replace("\\", "")
    for value in values:
        for form in FORMS[:2] + FORMS[4:]:
            plain = "".join(form(value).split()).replace("\\", "").strip('"')
            assert not any(plain[i : i + PIECE] in joined for i in range(max(1, len(plain) - PIECE + 1)))


def test_each_restart_of_a_container_and_each_pod_has_its_own_log() -> None:
    cluster, shown = cluster_with("one\n", secret("login")), list[str]()
    follower = LogFollower(cluster, lambda subject, state, *_rest: shown.append(subject + state), "shop/a")
    follower.look(pod(ended(code=1)))
    cluster.set_log("backup-1", "shop", "two\n", "main")
    follower.look(pod({**running(), "restartCount": 1}))
    cluster.set_log("backup-1", "shop", "three\n", "main")
    follower.look(pod(running(), uid="2"))
    follower.look(pod(running(), uid="2"), ignored=["main"])
    assert shown == ["shop/a main| one", "shop/a main| two", "shop/a main| three"]
