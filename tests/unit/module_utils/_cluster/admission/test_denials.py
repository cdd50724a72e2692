# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages of runs whose records the API server denies; its words are those of Kubernetes 1.36."""

from __future__ import annotations

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.admission.denials import name_denier
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Invalid
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.driver import config_map, deployer_after, release

CONDITION = "'z' in object.kind"
CONFIGURATION: Object = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "MutatingWebhookConfiguration",
    "metadata": {"name": "guards"},
    "webhooks": [
        {"name": "other.x.io"},
        {"name": "guard.x.io", "matchConditions": [{"name": "a", "expression": CONDITION}]},
    ],
}
FORBIDDEN = 'kymaruns.lifecycle.kyma-project.io "r" is forbidden: '


def message_of(words: str, *objects: Object) -> str:
    cluster = MemoryCluster()
    for one in objects:
        cluster.create(one)
    error = Invalid("apply Run r", status=422, api_message=words)
    name_denier(cluster, error)
    name_denier(cluster, error)
    return str(error)


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (
            f"{FORBIDDEN}ValidatingAdmissionPolicy 'guard' with binding 'all' denied request: no",
            "validatingadmissionpolicy guard",
        ),
        (
            f"{FORBIDDEN}ValidatingAdmissionPolicy 'guard' denied request: failed to configure policy: no",
            "validatingadmissionpolicy guard",
        ),
        (
            "policy 'guard' with binding 'all' denied request: expression 'a' resulted in error: no key",
            "mutatingadmissionpolicy guard",
        ),
        (
            f"{FORBIDDEN}exceeded quota: small, requested: pods=1, used: pods=0, limited: pods=0",
            "resourcequota small --namespace kyma-lifecycle",
        ),
        (
            'Internal error occurred: failed calling webhook "guard.x.io": failed to call webhook: no',
            "mutatingwebhookconfiguration guards",
        ),
        (
            'admission webhook "guard.x.io" denied the request: exceeded quota: other, requested: no',
            "mutatingwebhookconfiguration guards",
        ),
        (
            f"{FORBIDDEN}expression '{CONDITION}' resulted in error: no such overload",
            "mutatingwebhookconfiguration guards",
        ),
    ],
)
def test_one_sentence_names_what_denies_and_the_command_that_ends_it(words: str, command: str) -> None:
    message = message_of(words, CONFIGURATION)
    assert message.count(" denies it") == 1
    assert message.endswith(f" denies it, and no run can write until you have run `kubectl delete {command}`")


@pytest.mark.parametrize(
    "words", ['admission webhook "x.x.io" denied the request: no', "expression 'a' resulted in error: no"]
)
def test_a_configuration_that_can_not_be_found_is_left_to_the_user(words: str) -> None:
    assert "validatingwebhookconfigurations,mutatingwebhookconfigurations" in message_of(words)


@pytest.mark.parametrize(
    "words", ["no", "spec.version: Required value", "policy 'a; reboot' with binding 'b' denied request: no"]
)
def test_other_refusals_stay_unchanged(words: str) -> None:
    assert message_of(words, CONFIGURATION) == f"apply Run r: {words}"


@pytest.mark.parametrize("kind", ["Lease", "KymaInstallation", "KymaRun", "KymaInventory"])
def test_a_run_names_it_wherever_it_is_denied(kind: str) -> None:
    someone = deployer_after(release("2.9", {"app": [config_map("settings", version="2.9")]}))
    memory = someone.cluster
    assert isinstance(memory, MemoryCluster)
    words = "x is forbidden: ValidatingAdmissionPolicy 'guard' with binding 'all' denied request: no"
    writes = ("create", "apply", "patch")
    denial = Invalid(f"write {kind}", status=422, api_message=words)
    someone.materials.given = release("2.10", {"app": [config_map("settings", version="2.10")]})
    planned = someone.plan()
    memory.fail_when(lambda request: request.verb in writes and request.ref.kind == kind, denial)
    result = someone.carry_out(planned)
    assert "`kubectl delete validatingadmissionpolicy guard`" in str(result)
