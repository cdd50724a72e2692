# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What wraps a cluster hands on all that it is asked, and knows what that is."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import Mock

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    Cluster,
    Event,
    WriteTerms,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.stop_signal import StopSignal
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.wrapper import Call, ClusterWrapper, T

OBJECT = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "n"}}
PATCH = {"data": {"a": "1"}}


class Noting(ClusterWrapper):
    """Notes what passes."""

    def __init__(self, inner: Cluster) -> None:
        super().__init__(inner)
        self.passed: list[Call] = []

    def _through(self, call: Call, ask: Callable[[], T]) -> T:
        self.passed.append(call)
        return ask()

    def _watched(self, ask: Callable[[], Iterator[Event]]) -> Iterator[Event]:
        self.passed.append(Call("watch"))
        yield from ask()


A = ("v1", "ConfigMap", "a", "n")
CALLS: dict[str, tuple[tuple[Any, ...], dict[str, Any], Call]] = {
    "resource": (A[:2], {}, Call("resource", *A[:2])),
    "served": (("apps", "Deployment"), {}, Call("served", "apps", "Deployment")),
    "server_version": ((), {}, Call("server_version")),
    "get": (A, {}, Call("get", *A)),
    "list": (
        ("v1", "ConfigMap", "n"),
        {"label_selector": "x=y", "field_selector": "z=a", "metadata_only": True},
        Call(
            "list",
            "v1",
            "ConfigMap",
            namespace="n",
            options=(("field_selector", "z=a"), ("label_selector", "x=y"), ("metadata_only", True)),
        ),
    ),
    "apply": ((OBJECT,), {"force": True, "dry_run": True}, Call("apply", *A, OBJECT, dry_run=True)),
    "create": ((OBJECT,), {"dry_run": False}, Call("create", *A, OBJECT)),
    "patch": ((*A, PATCH), {"subresource": "status", "dry_run": False}, Call("patch", *A, patch=PATCH)),
    "delete": (
        A,
        {"uid": "u", "resource_version": "7", "propagation": "Orphan", "dry_run": True},
        Call(
            "delete",
            *A,
            dry_run=True,
            options=(("propagation", "Orphan"), ("resource_version", "7"), ("uid", "u")),
        ),
    ),
    "watch": (
        ("v1", "ConfigMap", "n"),
        {
            "resource_version": "7",
            "seconds": 1.0,
            "field_selector": "z=a",
            "label_selector": "x=y",
            "metadata_only": True,
            "bookmarks": True,
            "stop": StopSignal(),
        },
        Call("watch"),
    ),
    "token": (
        ("deployer", "n"),
        {"bound_to": OBJECT, "seconds": 600},
        Call("token", "v1", "ServiceAccount", "deployer", "n"),
    ),
    "logs": (
        ("p", "n"),
        {
            "container": "c",
            "tail_lines": 3,
            "limit_bytes": 9,
            "since": "2026-11-27T00:00:00Z",
            "timestamps": True,
        },
        Call("logs", "v1", "Pod", "p", "n"),
    ),
    "exec": (
        ("p", "n", ["id"]),
        {"container": "c", "seconds": 5.0, "max_bytes": 10},
        Call("exec", "v1", "Pod", "p", "n"),
    ),
}


def test_every_call_of_the_seam_is_tried() -> None:
    methods = {"_patch" if one == "patch" else one for one in CALLS}
    assert {*methods, "with_field_manager", "with_write_terms"} == Cluster.__abstractmethods__


@pytest.mark.parametrize("verb", CALLS)
def test_a_call_is_handed_on_whole(verb: str) -> None:
    args, how, call = CALLS[verb]
    given = inspect.signature(getattr(Cluster, verb)).bind(None, *args, **how)
    assert len(given.arguments) == len(given.signature.parameters), "an argument is not tried"
    inner = Mock(spec=Cluster)
    inner.watch.return_value = iter(["an event"])
    wrapper = Noting(inner)
    answer = getattr(wrapper, verb)(*args, **how)
    assert list(answer) == ["an event"] if verb == "watch" else answer is getattr(inner, verb).return_value
    getattr(inner, verb).assert_called_once_with(*args, **how)
    assert wrapper.passed == [call]


def test_another_field_manager_is_behind_the_same_wrapper() -> None:
    inner = Mock(spec=Cluster)
    wrapper = Noting(inner)
    other = wrapper.with_field_manager("other")
    other.server_version()
    wrapper.server_version()
    assert (type(other), other.passed) == (Noting, [Call("server_version"), Call("server_version")])
    inner.with_field_manager.assert_called_once_with("other")
    inner.with_field_manager.return_value.server_version.assert_called_once_with()
    inner.server_version.assert_called_once_with()


def test_other_terms_are_behind_the_same_wrapper() -> None:
    inner, terms = Mock(spec=Cluster), WriteTerms(lambda: 7.0)
    wrapper = Noting(inner)
    other = wrapper.with_write_terms(terms)
    other.server_version()
    inner.with_write_terms.assert_called_once_with(terms)
    inner.with_write_terms.return_value.server_version.assert_called_once_with()
    inner.server_version.assert_not_called()
    assert isinstance(other, Noting)


def test_a_generated_name_is_shown_by_its_prefix() -> None:
    wrapper = Noting(Mock(spec=Cluster))
    wrapper.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "try-"}})
    assert wrapper.passed[0].name == "try-"


@pytest.mark.parametrize(
    ("call", "writes"),
    [(Call("get"), False), (Call("patch"), True), (Call("patch", dry_run=True), False), (Call("exec"), True)],
)
def test_a_call_that_may_change_the_cluster_is_a_write(call: Call, *, writes: bool) -> None:
    assert call.writes is writes


def test_a_call_costs_two_frames_for_each_wrapper() -> None:
    depths: list[int] = []

    def note_depth(*_args: Any, **_how: Any) -> None:
        depths.append(len(inspect.stack(0)))

    inner = Mock(spec=Cluster, get=note_depth)
    inner.get(*A)
    Noting(inner).get(*A)
    Noting(Noting(inner)).get(*A)
    assert [depth - depths[0] for depth in depths] == [0, 2, 4]
