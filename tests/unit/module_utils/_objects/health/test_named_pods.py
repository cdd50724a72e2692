# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A text about an unhealthy object gives the commands that show more about its pod."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Ref
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.health.explanation import (
    Evidence,
    explain,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.health.named_pods import (
    cause_in,
    pod_commands,
    without_random_names,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.health.status import Health

DESCRIBE = "kubectl -n shop describe pod checkout-7d9-x2k"
LOG = "kubectl -n shop logs checkout-7d9-x2k -c main"
CRASHED = {"waiting": {"reason": "CrashLoopBackOff"}}
NO_PULL = {"waiting": {"reason": "ImagePullBackOff", "message": "no such host"}}
ENDED = {"terminated": {"exitCode": 3, "reason": "Error"}}
UNSCHEDULED = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes"}


def text_about(container: dict[str, Any] | None = None, name: str = "checkout", **status: Any) -> str:
    """What a failure says of a Deployment with a pod in this state."""
    containers = [] if container is None else [{"name": "main", "restartCount": 7, **container}]
    pod = {"metadata": {"name": f"{name}-7d9-x2k"}, "status": {"containerStatuses": containers, **status}}
    health = Health("progressing", "LessAvailable", "0 of 1 replicas are available")
    return explain(Ref("apps", "Deployment", "shop", name), health, Evidence(pod=pod))


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        (text_about({"state": CRASHED, "lastState": ENDED}), [DESCRIBE, f"{LOG} --previous"]),
        (text_about({"state": NO_PULL}), [DESCRIBE]),
        (text_about({"state": ENDED}), [DESCRIBE, LOG]),
        (text_about({"state": {"running": {}}}), [DESCRIBE, LOG]),
        (text_about(conditions=[UNSCHEDULED]), [DESCRIBE]),
        ("Pod shop/checkout-7d9-x2k: Failed: evicted", [DESCRIBE]),
    ],
)
def test_the_commands_show_the_pod_and_the_log_that_it_has(text: str, commands: list[str]) -> None:
    assert pod_commands(f"not healthy after 15 s: {text}") == [("shop/checkout-7d9-x2k", commands)]


def test_each_pod_of_a_failure_is_named_once() -> None:
    both = "; ".join([text_about({"state": NO_PULL}, name) for name in ("cart", "checkout", "cart")])
    assert [name for name, _commands in pod_commands(both)] == ["shop/cart-7d9-x2k", "shop/checkout-7d9-x2k"]


@pytest.mark.parametrize("text", ["", "no lease", "Deployment shop/a: 0 of 1; pod $(rm): x", "; pod a: x"])
def test_a_text_without_a_pod_gives_no_command(text: str) -> None:
    assert pod_commands(text) == []


def test_texts_about_pods_of_one_workload_are_equal() -> None:
    text, other = text_about({"state": NO_PULL}), text_about({"state": NO_PULL}, "cart")
    names = ("5878d48b7-lxpcw", "c8cd58f98-s2nzq", "wz7k4", "wz7k5")
    texts = {without_random_names(text.replace("7d9-x2k", name)) for name in names}
    assert len(texts) == 1
    assert without_random_names(other.replace("7d9-x2k", names[0])) not in texts
    assert without_random_names("after 5 restarts") == without_random_names("after 16 restarts")
    assert without_random_names("pod web-0: Failed, pod web-1: Failed").count("web-") == 2


def test_the_cause_of_a_failure_is_what_is_said_of_its_pod() -> None:
    assert cause_in(text_about({"state": NO_PULL})) == "ImagePullBackOff: no such host"
    assert cause_in("no answer; the server is gone: 503") == "no answer; the server is gone: 503"
