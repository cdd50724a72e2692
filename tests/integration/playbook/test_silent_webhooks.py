# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An admission webhook that nobody serves, and the release that takes it away."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.audit import writes
from tests.support.extent import cases
from tests.support.own_cluster import OwnCluster
from tests.support.pasted_commands import paste
from tests.support.playbook_run import Playbook
from tests.support.small_release import NAMESPACE, SmallRelease, config_map

pytestmark = pytest.mark.control_plane

Object = dict[str, Any]


@pytest.fixture
def small(tmp_path: Path) -> SmallRelease:
    """A small release for one test."""
    return SmallRelease(tmp_path / "small")


def guard(name: str, *resources: str, groups: str = "") -> Object:
    """A configuration whose webhook has to allow every write of some resources, and can't."""
    rules = [{"apiGroups": [groups], "apiVersions": ["*"], "operations": ["*"], "resources": list(resources)}]
    webhook = {
        "name": f"{name}.example.com",
        "failurePolicy": "Fail",
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "clientConfig": {"service": {"name": "nowhere", "namespace": NAMESPACE}},
        "rules": rules,
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": NAMESPACE}},
    }
    kind = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration"}
    return {**kind, "metadata": {"name": name}, "webhooks": [webhook]}


@pytest.mark.night
def test_a_webhook_of_ours_blocks_no_plan_and_one_of_others_does(
    small: SmallRelease, playbook: Playbook, own_cluster: OwnCluster
) -> None:
    small.component("shop", config_map("shop", tag="one"), guard("guard", "configmaps"))
    playbook.deploy(small.folder).succeeded()

    small.write("shop", config_map("shop", tag="two"), guard("guard", "configmaps"))
    failed = playbook.deploy(small.folder).failed()
    [component] = [one for one in failed.plan["components"] if one["name"] == "shop"]
    assert [(one["name"], one["unverified"]) for one in component["changes"]] == [("shop", True)]
    warning = "ValidatingWebhookConfiguration guard: its webhook guard.example.com does not answer"
    assert warning in failed.text
    assert 'failed calling webhook "guard.example.com"' in failed.text
    # As the warning says.
    kind = "ValidatingWebhookConfiguration"
    own_cluster.api.delete("admissionregistration.k8s.io/v1", kind, "guard")
    small.write("shop", config_map("shop", tag="two"), guard("guard", "pods"))
    playbook.deploy(small.folder).succeeded()

    own_cluster.api.create(guard("theirs", "configmaps"))
    small.write("shop", config_map("shop", tag="three"), guard("guard", "pods"))
    message = playbook.deploy(small.folder).refused()
    assert "the webhook theirs.example.com is not part of this deployment" in message
    own_cluster.api.delete("admissionregistration.k8s.io/v1", kind, "theirs")
    playbook.deploy(small.folder).succeeded()


def test_one_for_everything_is_refused_and_one_that_locks_us_out_is_named_with_the_command_that_helps(
    small: SmallRelease, playbook: Playbook
) -> None:
    small.component("shop", config_map("shop"))
    for rule in cases(["*"], ["selfsubjectaccessreviews", "kymainstallations", "*"]):
        small.write("shop", config_map("shop", rule=rule), guard("guard", rule, groups="*"))
        message = playbook.deploy(small.folder).refused()
        assert "its webhook guard.example.com has the failurePolicy Fail" in message
        assert """-e '{"kyma_allow_webhooks": ["guard.example.com"]}'""" in message

    # With it the run can't even record its own result, and the next one can't write at all.
    playbook.deploy(small.folder, allow_webhooks=["guard.example.com"], lease_seconds=15).failed()
    small.write("shop", config_map("shop", tag="four"))
    locked = playbook.deploy(small.folder).failed()
    # What ends the record of a run whose process could not still tries that.
    assert all("/kymaruns/" in one for one in writes(locked.requests))
    message = str(locked.planning["msg"])
    assert "It does not answer, so this run could not write." in message
    assert '"guard" deleted' in paste(message, "kubectl", playbook.environment, playbook.folder)
    playbook.deploy(small.folder).succeeded()
