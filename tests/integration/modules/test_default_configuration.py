# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""On a real API server the default configuration is created once, and known again."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import ClusterError
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.retry import RetryPolicy
from ansible_collections.kyma.lifecycle.plugins.module_utils._module_lifecycle.default_configuration import (
    create_configuration,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.hand_over import hand_over
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory_entry import (
    entry_of,
)

from .conftest import Kubectl, OwnKinds

pytestmark = [pytest.mark.cluster, pytest.mark.night]

WEBHOOKS = ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration")


@pytest.fixture
def webhook(live_cluster: LiveCluster, own_kinds: OwnKinds) -> Iterator[str]:
    """The name of a configuration whose webhook does not answer."""
    # Instead of the twenty seconds for which one request is tried again.
    live_cluster._transport.retry_policy = RetryPolicy(internal_limit=0.5)
    name = own_kinds.group
    rule = {
        "apiGroups": [own_kinds.group],
        "apiVersions": ["*"],
        "operations": ["CREATE"],
        "resources": ["widgets"],
    }
    live_cluster.create(
        {
            "apiVersion": WEBHOOKS[0],
            "kind": WEBHOOKS[1],
            "metadata": {"name": name},
            "webhooks": [
                {
                    "name": f"widgets.{name}",
                    "admissionReviewVersions": ["v1"],
                    "sideEffects": "None",
                    "clientConfig": {"url": "https://127.0.0.1:1/validate"},
                    "rules": [rule],
                }
            ],
        }
    )
    yield name
    live_cluster.delete(*WEBHOOKS, name)


def soon() -> float:
    return time.monotonic() + 30


def widget(own_kinds: OwnKinds, namespace: str) -> Object:
    return {**own_kinds.widget(namespace, name="default"), "spec": {"size": 1}}


def refused(cluster: LiveCluster, obj: Object, seconds: float) -> str:
    with pytest.raises(ClusterError) as raised:
        create_configuration(cluster, obj, deadline=time.monotonic() + seconds)
    return str(raised.value)


def test_a_configuration_that_was_created_before_is_reused_and_its_fields_stay(
    live_cluster: LiveCluster, own_kinds: OwnKinds, namespace: str, kubectl: Kubectl
) -> None:
    obj = widget(own_kinds, namespace)
    uid = create_configuration(live_cluster, obj, deadline=soon())
    patch = json.dumps({"spec": {"size": 2, "color": "red"}})
    kubectl("patch", f"widgets.{own_kinds.group}", "default", "-n", namespace, "--type=merge", "-p", patch)

    assert create_configuration(live_cluster, obj, deadline=soon()) == uid

    live = live_cluster.get(obj["apiVersion"], "Widget", "default", namespace)
    assert live is not None
    assert live["spec"] == {"size": 2, "color": "red"}


def test_the_users_own_stays_the_users(
    live_cluster: LiveCluster, own_kinds: OwnKinds, namespace: str, kubectl: Kubectl, tmp_path: Path
) -> None:
    obj = widget(own_kinds, namespace)
    manifest = tmp_path / "widget.json"
    manifest.write_text(json.dumps(obj))
    kubectl("create", "-f", manifest)

    assert create_configuration(live_cluster, obj, deadline=soon()) == ""
    assert live_cluster.get(obj["apiVersion"], "Widget", "default", namespace) is not None


def test_a_configuration_belongs_to_kubectl_after_a_hand_over(
    live_cluster: LiveCluster, own_kinds: OwnKinds, namespace: str, kubectl: Kubectl, tmp_path: Path
) -> None:
    obj = widget(own_kinds, namespace)
    create_configuration(live_cluster, obj, deadline=soon())
    made = live_cluster.get(obj["apiVersion"], "Widget", "default", namespace)
    assert made is not None
    manifest = tmp_path / "widget.json"
    manifest.write_text(json.dumps({**obj, "spec": {"size": 2}}))
    with pytest.raises(AssertionError, match='conflict with "kyma-lifecycle/default-configuration"'):
        kubectl("apply", "--server-side", "-f", manifest)

    assert hand_over(live_cluster, [entry_of(made)]) == []

    kubectl("apply", "--server-side", "-f", manifest)


def test_a_webhook_that_gets_ready_is_waited_for(
    live_cluster: LiveCluster, own_kinds: OwnKinds, namespace: str, webhook: str
) -> None:
    ready = threading.Timer(4, lambda: live_cluster.delete(*WEBHOOKS, webhook))
    ready.start()
    started = time.monotonic()

    uid = create_configuration(live_cluster, widget(own_kinds, namespace), deadline=soon())

    ready.join()
    assert time.monotonic() - started > 3
    [made] = live_cluster.list(f"{own_kinds.group}/v1", "Widget").items
    assert made["metadata"]["uid"] == uid


def test_a_webhook_that_does_not_get_ready_is_named(
    live_cluster: LiveCluster, own_kinds: OwnKinds, namespace: str, webhook: str
) -> None:
    message = refused(live_cluster, widget(own_kinds, namespace), seconds=2)

    assert f"Widget {namespace}/default could not be created in time" in message
    assert f'failed calling webhook "widgets.{webhook}"' in message
