# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A webhook that is down, and the release that mends it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import ApiError
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import Release
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
    Request,
)

from tests.support.driver import Deployer, config_map, deployer_after, deployment, release

MESSAGE = 'Internal error occurred: failed calling webhook "{}": failed to call webhook: connection refused'


def guard(name: str = "guard") -> Object:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [{"name": f"{name}.x.io"}],
    }


def kyma(version: str = "2.9", *more: Object) -> Release:
    return release(
        version,
        {
            "guard": [deployment("guard", f"guard:{version}"), guard()],
            "app": [config_map("settings", version=version), *more],
        },
    )


def is_write(request: Request) -> bool:
    ours = request.ref.kind in ("ConfigMap", "Deployment") and request.ref.namespace == "kyma-system"
    return ours and request.verb in ("apply", "create", "patch", "delete")


def silence(
    someone: Deployer,
    webhook: str = "guard.x.io",
    matches: Callable[[Request], bool] = is_write,
    **fault: int,
) -> None:
    """Let the server get no answer from a webhook for what it would ask it about."""
    memory = someone.cluster
    assert isinstance(memory, MemoryCluster)
    error = ApiError("apply it", status=500, reason="InternalError", api_message=MESSAGE.format(webhook))
    memory.fail_when(matches, error, **fault)


def test_a_webhook_of_ours_that_is_down_does_not_block_what_mends_it() -> None:
    someone = deployer_after(kyma())
    silence(someone, matches=lambda request: request.dry_run and is_write(request))
    someone.materials.given = kyma("2.10", config_map("new"))
    planned = someone.plan()
    assert not planned.get("failed")
    plan = planned["plan"]
    changes = {
        c["name"]: (c["action"], c["unverified"]) for one in plan["components"] for c in one["changes"]
    }
    assert changes == {
        "guard": ("change", True),
        "settings": ("change", True),
        "new": ("create", True),
    }
    [warning] = [one for one in planned["warnings"] if "webhook" in one]
    assert warning.startswith("ValidatingWebhookConfiguration guard: its webhook guard.x.io does not answer;")
    # It answers in time.
    assert someone.carry_out(planned)["state"] == "succeeded"
    assert not someone.plan()["plan"]["needed"]


def test_deleted_and_recreated_objects_do_not_need_their_webhooks_either() -> None:
    someone = deployer_after(kyma("2.9", config_map("old")), replace_immutable=["Deployment"])
    silence(someone, matches=lambda request: request.dry_run and is_write(request))
    someone.materials.given = kyma("2.10")
    app = {c["name"]: c for c in someone.plan()["plan"]["components"]}["app"]
    assert [(c["name"], c["action"]) for c in app["changes"]] == [("settings", "change"), ("old", "delete")]


def test_the_run_fails_in_words_while_the_webhook_stays_away_and_the_next_one_goes_on() -> None:
    someone = deployer_after(kyma())
    silent = [True]
    silence(someone, matches=lambda one: silent[0] and is_write(one) and one.ref.kind == "ConfigMap")
    someone.materials.given = kyma("2.10")
    ended = someone.deploy()
    assert ended["state"] == "failed"
    # What serves the webhook is mended all the same.
    assert someone.states() == {"app": "failed", "guard": "succeeded"}
    assert MESSAGE.format("guard.x.io") in str(someone.record())
    silent[0] = False
    assert someone.deploy()["state"] == "succeeded"


@pytest.mark.parametrize("theirs", [(), (guard("theirs"),)], ids=["unknown", "of-others"])
def test_a_webhook_of_others_stands_in_the_way(theirs: tuple[Object, ...]) -> None:
    someone = deployer_after(kyma())
    for one in theirs:
        someone.cluster.with_field_manager("theirs").create(one)
    silence(someone, "theirs.x.io")
    someone.materials.given = kyma("2.10")
    planned = someone.plan()
    assert planned["failed"]
    blockers = planned["blockers"]
    assert [one.partition(":")[0] for one in blockers] == ["guard", "app"]
    for one in blockers:
        assert 'failed calling webhook "theirs.x.io"' in one
        assert "the webhook theirs.x.io is not part of this deployment: repair its service" in one


def test_other_failures_within_the_server_stay_blockers() -> None:
    someone = deployer_after(kyma())
    memory = someone.cluster
    assert isinstance(memory, MemoryCluster)
    memory.fail_when(is_write, ApiError("apply it", status=500, api_message="an internal error"))
    someone.materials.given = kyma("2.10")
    planned = someone.plan()
    assert planned["failed"]
    assert not any("webhook" in one for one in planned["blockers"])
