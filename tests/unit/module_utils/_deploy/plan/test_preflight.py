# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What stands in the way of a deployment, all of it in one go, on the in-memory cluster."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeVar, cast

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import API_VERSION, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Unreachable, api_error
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.wrapper import Call, ClusterWrapper
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import Release
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.open_run import open_run_note
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.hold_records import read_hold
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import hold, run
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
    Request,
)

from tests.support.driver import (
    Deployer,
    config_map,
    crd,
    custom,
    deployer,
    deployer_after,
    deployment,
    healthy_cluster,
    memory,
    only_reads,
    release,
    secret,
)

T = TypeVar("T")
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
HELM = {"meta.helm.sh/release-name": "logging", "meta.helm.sh/release-namespace": "kyma-system"}


def kyma(version: str = "2.9", **data: str) -> Release:
    components = {
        "logging": [config_map("settings", **data), deployment("loki")],
        "gateway": [custom("Gateway", "kyma", host=version)],
    }
    return release(version, components, crds=[crd("Gateway")])


class Limited(ClusterWrapper):
    """A cluster whose authorizer refuses verbs on some kinds, and answers access reviews."""

    def __init__(self, inner: MemoryCluster, *refused: tuple[str, str]) -> None:
        super().__init__(inner)
        self.refused = set(refused)
        self.reviews: list[dict[str, Any]] = []

    def _through(self, call: Call, ask: Callable[[], T]) -> T:
        if call.kind == "SelfSubjectRulesReview":
            assert call.obj
            self.reviews.append(call.obj["spec"])
            everything = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
            rules = [] if self.refused else [everything]
            return cast("T", {"status": {"resourceRules": rules, "incomplete": bool(self.refused)}})
        if call.kind == "SelfSubjectAccessReview":
            assert call.obj
            attributes = call.obj["spec"]["resourceAttributes"]
            self.reviews.append(attributes)
            allowed = (
                attributes["verb"] != "*" and (attributes["verb"], attributes["resource"]) not in self.refused
            )
            return cast("T", {**call.obj, "status": {"allowed": allowed}})
        if call.kind == "SelfSubjectReview":
            return cast("T", {"status": {"userInfo": {"username": "jane"}}})
        verb = "patch" if call.verb == "apply" else call.verb
        plural = f"{call.kind.lower()}s"
        if (verb, plural) in self.refused and verb in ("get", "list", "patch", "create", "delete"):
            place = f'in the namespace "{call.namespace}"' if call.namespace else "at the cluster scope"
            group = call.api_version.rpartition("/")[0]
            message = (
                f'{plural} is forbidden: User "jane" cannot {verb} resource "{plural}"'
                f' in API group "{group}" {place}'
            )
            raise api_error(f"{call.verb} {call.kind}", 403, {"reason": "Forbidden", "message": message})
        return ask()


def limited(someone: Deployer, *refused: tuple[str, str]) -> Limited:
    assert isinstance(someone.cluster, MemoryCluster)
    someone.cluster = Limited(someone.cluster, *refused)
    return someone.cluster


def test_an_administrator_takes_one_access_review() -> None:
    someone = deployer(kyma())
    cluster = limited(someone)
    assert not someone.plan().get("failed")
    # Beside it, one of each kind shows whether admission lets them pass.
    assert len(cluster.reviews) == 3
    assert {"namespace": "kyma-lifecycle-anywhere"} in cluster.reviews


def test_all_missing_rights_are_in_one_blocker_with_the_roles() -> None:
    someone = deployer(kyma())
    limited(someone, ("patch", "deployments"), ("create", "gateways"), ("delete", "kymaruns"))
    refused = someone.plan()
    [blocker] = refused["blockers"]
    assert "the user jane lacks rights" in blocker
    for words in (
        "patch deployments.apps in kyma-system",
        "create gateways.example.com in kyma-system",
        "delete kymaruns.lifecycle.kyma-project.io in the whole cluster",
    ):
        assert words in blocker
    assert "kind: ClusterRole\n" in refused["grants"]
    assert refused["grants"] in refused["msg"]


def test_other_blockers_are_reported_with_the_rights() -> None:
    bad = {**crd("Gateway"), "kind": "Podsecuritypolicy", "apiVersion": "policy/v1beta1"}
    someone = deployer(release("2.9", {"logging": [deployment("loki"), bad]}))
    limited(someone, ("patch", "deployments"))
    messages = "\n".join(someone.plan()["blockers"])
    assert "does not serve Podsecuritypolicy" in messages
    assert "lacks rights" in messages


def test_a_missing_right_to_read_is_reported_with_all_others() -> None:
    someone = deployer_after(kyma())
    someone.materials.given = kyma("2.10", level="debug")
    limited(someone, ("list", "kymainventorys"), ("get", "kymainstallations"), ("patch", "configmaps"))
    [blocker] = someone.plan()["blockers"]
    assert "list kymainventorys" in blocker
    assert "get kymainstallations" in blocker
    assert "patch configmaps in kyma-system" in blocker


def test_a_missing_right_to_read_a_dropped_object_is_reported_with_all_others() -> None:
    someone = deployer_after(release("2.9", {"logging": [config_map("stays"), secret("dropped")]}))
    someone.materials.given = release("2.10", {"logging": [config_map("stays", v="2")]})
    limited(someone, ("list", "secrets"), ("patch", "configmaps"))
    [blocker] = someone.plan()["blockers"]
    assert "list secrets in the whole cluster" in blocker
    assert "patch configmaps in kyma-system" in blocker


def test_an_abandonment_without_the_right_to_read_runs_is_blocked() -> None:
    someone = deployer_after(kyma())
    someone.materials.given = kyma("2.10", level="debug")
    someone.task(run.DEFINITION, state="started", plan=someone.plan()["plan"])
    someone.materials.given = kyma()
    someone.options = {"abandon": True}
    limited(someone, ("list", "kymaruns"), ("get", "kymaruns"))
    [blocker] = someone.plan()["blockers"]
    assert "list kymaruns.lifecycle.kyma-project.io in the whole cluster" in blocker


def test_a_refused_plan_warns_of_all_it_would_warn_of() -> None:
    someone = deployer_after(kyma("2.10", level="debug"))
    someone.materials.given = kyma("2.11", level="trace")
    someone.task(run.DEFINITION, state="started", plan=someone.plan()["plan"])
    someone.materials.given = kyma()
    refused = someone.plan()
    assert "the deployment of 2.11 has begun and has not ended" in refused["msg"]
    assert [one for one in refused["warnings"] if "has not ended, and its record was last written at" in one]


def test_all_missing_rights_on_definitions_are_reported() -> None:
    someone = deployer(kyma())
    verbs = ("list", "get", "patch", "create")
    limited(someone, *((verb, "customresourcedefinitions") for verb in verbs), ("patch", "configmaps"))
    [blocker] = someone.plan()["blockers"]
    assert "create, get, list, patch customresourcedefinitions.apiextensions.k8s.io" in blocker
    assert "patch configmaps in kyma-system" in blocker


def test_a_plan_without_changes_reviews_no_access() -> None:
    someone = deployer_after(kyma())
    cluster = limited(someone, ("patch", "deployments"))
    assert not someone.plan()["plan"]["needed"]
    assert cluster.reviews == []


def test_roles_that_cannot_be_reviewed_yet_are_a_warning() -> None:
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "r"}}
    someone = deployer(release("2.9", {"logging": [role, config_map("settings")]}))
    limited(someone, ("escalate", "roles"))
    [warning] = someone.plan()["warnings"]
    assert warning.startswith("Role kyma-system/r: if they grant rights that the user itself lacks")
    someone = deployer(release("2.9", {"logging": [role, config_map("settings")]}))
    limited(someone, ("escalate", "clusterroles"))
    assert someone.plan()["warnings"] == []


# Other tools.


def made_by_helm(status: str = "deployed") -> MemoryCluster:
    cluster = healthy_cluster()
    marks = {"labels": {"app.kubernetes.io/managed-by": "Helm"}, "annotations": HELM}
    there = config_map("settings", level="info")
    there["metadata"] |= {"namespace": "kyma-system", **marks}
    labels = {"owner": "helm", "name": "logging", "status": status}
    release_secret: Object = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": "sh.helm.release.v1.logging.v1",
            "namespace": "kyma-system",
            "labels": labels,
        },
    }
    cluster.seed(there, release_secret, manager="helm")
    return cluster


def test_an_object_that_helm_manages_blocks_unless_it_is_taken_over() -> None:
    someone = deployer(kyma(level="debug"), cluster=made_by_helm())
    [blocker] = someone.plan()["blockers"]
    assert blocker.startswith(
        "logging: the Helm release kyma-system/logging manages ConfigMap kyma-system/se"
    )
    someone.options = {"takeover": True, "force_conflicts": True}
    assert not someone.plan().get("failed")


@pytest.mark.parametrize("manager", ["helm", "terraform"])
def test_an_object_after_a_takeover_is_not_helms_whichever_manager_wrote_its_marks(manager: str) -> None:
    cluster = made_by_helm()
    settings = cluster.get("v1", "ConfigMap", "settings", "kyma-system")
    assert settings
    cluster.delete("v1", "ConfigMap", "settings", "kyma-system")
    cluster.seed({**settings, "metadata": {**settings["metadata"], "managedFields": []}}, manager=manager)
    someone = deployer(kyma(level="debug"), cluster=cluster, takeover=True, force_conflicts=True)
    assert someone.deploy()["state"] == "succeeded"
    taken_over = cluster.get("v1", "ConfigMap", "settings", "kyma-system")
    assert taken_over
    assert not (taken_over["metadata"].get("annotations") or {}).keys() & HELM.keys()
    someone.options = {}
    someone.materials.given = kyma(level="trace")
    assert someone.deploy()["state"] == "succeeded"


def test_an_object_of_an_uninstalled_helm_release_does_not_block() -> None:
    someone = deployer(kyma(level="debug"), cluster=made_by_helm("uninstalled"), force_conflicts=True)
    assert not someone.plan().get("failed")


def test_an_object_that_is_as_it_would_be_still_belongs_to_helm() -> None:
    someone = deployer(kyma(level="info"), cluster=made_by_helm())
    assert "Helm release" in someone.plan()["msg"]


# Values of the creators of objects.


def made_by(manager: str, *objects: Object) -> MemoryCluster:
    """A cluster with objects that a creator gave more than the release has."""
    cluster = healthy_cluster()
    for obj in objects:
        obj["metadata"]["namespace"] = "kyma-system"
    cluster.seed(*objects, manager=manager)
    return cluster


def made_by_kubectl() -> MemoryCluster:
    loki = deployment("loki", replicas=3)
    loki["spec"]["template"]["spec"]["containers"].append({"name": "proxy", "image": "proxy:1"})
    return made_by("kubectl-create", config_map("settings", level="info", extra="hunter2"), loki)


def test_a_value_that_only_the_creator_of_an_object_has_set_blocks_its_adoption() -> None:
    someone = deployer(kyma(level="debug"), cluster=made_by_kubectl(), interactive_managers=["kubectl*"])
    first, second = someone.plan()["blockers"]
    assert first == (
        "logging: ConfigMap kyma-system/settings would lose data.extra: kubectl-create wrote this, and the"
        " release does not have it"
    )
    assert second.startswith(
        "logging: Deployment kyma-system/loki would lose spec.replicas,"
        ' spec.template.spec.containers[name="proxy"]: kubectl-create wrote this'
    )
    option = '{"kyma_adopt_losses": ["ConfigMap kyma-system/settings", "Deployment kyma-system/loki"]}'
    assert second.splitlines()[-1] == f"    -e '{option}'"


@pytest.mark.parametrize(
    ("allowed", "number"),
    [
        (["all"], 0),
        (["logging"], 0),
        (["ConfigMap kyma-system/settings", "Deployment kyma-system/loki"], 0),
        (["Deployment kyma-system/loki"], 1),
        (["gateway", "Deployment other/loki"], 2),
    ],
)
def test_a_user_allows_losses_of_objects_of_components_or_of_all(allowed: list[str], number: int) -> None:
    someone = deployer(kyma(level="debug"), cluster=made_by_kubectl(), adopt_losses=allowed)
    planned = someone.plan()
    assert len(planned.get("blockers") or ()) == number
    if number:
        option = planned["blockers"][-1].rpartition("kyma_adopt_losses")[2]
        assert [one for one in allowed if f'"{one}"' not in option] == []
        return
    losses = [line.strip() for line in planned["summary"] if "loss:" in line]
    assert 'loss: ConfigMap kyma-system/settings: data.extra = "hunter2", written by kubectl-create' in losses
    assert someone.carry_out(planned)["state"] == "succeeded"
    settings = someone.cluster.get("v1", "ConfigMap", "settings", "kyma-system")
    assert settings
    assert settings["data"] == {"level": "debug"}
    assert not someone.plan()["plan"]["needed"]


def test_a_name_that_allows_no_loss_is_refused() -> None:
    someone = deployer(kyma(), adopt_losses=["Secret", "Secret tls"])
    message = someone.plan()["msg"]
    assert "adopt_losses (kyma_adopt_losses): 'Secret' is no object, component or 'all'" in message
    assert "write 'Secret namespace/tls'" in message


def test_no_value_of_a_secret_is_in_a_plan_that_loses_it() -> None:
    there = secret("tls", key="hunter2", other="hunter3")
    given = release("2.9", {"logging": [secret("tls", other="hunter3")]})
    someone = deployer(given, cluster=made_by("kubectl-create", there))
    refused = someone.plan()
    assert "Secret kyma-system/tls would lose data.key: kubectl-create" in refused["msg"]
    someone.options = {"adopt_losses": ["logging"]}
    planned = someone.plan()
    assert "loss: Secret kyma-system/tls: data.key = (hidden)" in "\n".join(planned["summary"])
    assert "hunter" not in str([refused, planned])


def test_losses_of_a_helm_release_that_is_gone_are_adopted_and_of_a_living_one_taken_over() -> None:
    someone = deployer(kyma(), cluster=made_by_helm("uninstalled"))
    assert "would lose data.level: helm wrote this" in someone.plan()["msg"]
    someone.options = {"adopt_losses": ["all"]}
    assert not someone.plan().get("failed")
    someone = deployer(kyma(), cluster=made_by_helm(), adopt_losses=["all"])
    [blocker] = someone.plan()["blockers"]
    assert "the Helm release kyma-system/logging manages" in blocker
    someone.options = {"takeover": True}
    assert not someone.plan().get("failed")


def test_values_of_an_earlier_deployment_are_no_loss() -> None:
    someone = deployer(kyma(level="info", old="1"))
    assert someone.deploy()["state"] == "succeeded"
    someone.cluster.with_field_manager("kubectl-edit").patch(
        "v1", "ConfigMap", "settings", "kyma-system", {"data": {"mine": "1"}}
    )
    someone.materials.given = kyma("2.10", level="info")
    components = someone.plan()["plan"]["components"]
    [planned] = [one for one in components if one["name"] == "logging"]
    assert (planned["action"], planned["losses"]) == ("upgrade", [])


# Holds.


def test_a_hold_blocks_until_it_ends() -> None:
    someone = deployer(kyma())
    someone.task(hold.DEFINITION, reason="the audit")
    refused = someone.plan()
    assert "the cluster is held by " in refused["msg"]
    assert ": the audit (" in refused["msg"]
    someone.task(hold.DEFINITION, state="absent")
    assert someone.deploy()["state"] == "succeeded"


def test_a_hold_outlives_what_deployments_write() -> None:
    someone = deployer(kyma())
    planned = someone.plan()
    begun = someone.task(run.DEFINITION, state="started", plan=planned["plan"])
    someone.task(hold.DEFINITION, reason="stop after this one")
    someone.task(run.DEFINITION, state="finished", run=begun["run"])
    left = read_hold(someone.cluster)
    assert left is not None
    assert left.reason == "stop after this one"


WRITE, LOOK = ("patch", "KymaInstallation"), ("get", "KymaHold")
"""A write of the record of the installation, and a read of the hold."""


def meanwhile(
    someone: Deployer, act: Callable[[], object], *, on: tuple[str, str] = WRITE, write: int = 1
) -> None:
    """Let another client act right before such a request is sent: the next one, or a later one."""
    cluster = someone.cluster
    assert isinstance(cluster, MemoryCluster)
    seen: list[Request] = []

    def quicker(request: Request) -> bool:
        if (request.verb, request.ref.kind) == on and not request.dry_run:
            seen.append(request)
            if len(seen) == write:
                act()
        return False

    cluster.fail_when(quicker, Unreachable("never raised"))


def upgrading() -> Deployer:
    someone = deployer_after(kyma())
    someone.materials.given = kyma("2.10")
    return someone


def test_a_hold_that_comes_in_the_moment_in_which_a_run_ends_does_not_fail_it() -> None:
    someone = upgrading()
    meanwhile(someone, lambda: someone.task(hold.DEFINITION, reason="wait"), write=2)
    assert someone.deploy()["state"] == "succeeded"
    assert someone.installation().version == "2.10"
    assert read_hold(someone.cluster) is not None


def test_a_hold_that_comes_in_the_moment_in_which_a_run_begins_refuses_it() -> None:
    someone = upgrading()
    before = someone.installation().last_run
    # The plan reads it, the start of the run, and the run once more before it is recorded.
    meanwhile(someone, lambda: someone.task(hold.DEFINITION, reason="wait"), on=LOOK, write=3)
    assert "the cluster is held" in someone.deploy()["msg"]
    assert someone.installation().last_run == before


def test_a_write_to_the_metadata_of_the_installation_is_no_other_deployment() -> None:
    someone = upgrading()
    label = {"metadata": {"labels": {"team": "a"}}}
    meanwhile(someone, lambda: someone.cluster.patch(API_VERSION, "KymaInstallation", "kyma", None, label))
    assert someone.deploy()["state"] == "succeeded"


def test_a_deletion_begins_with_a_hold_neither() -> None:
    someone = upgrading()
    meanwhile(someone, lambda: someone.task(hold.DEFINITION, reason="wait"), on=LOOK, write=3)
    assert "the cluster is held" in someone.delete()["msg"]
    assert someone.cluster.get("v1", "ConfigMap", "settings", "kyma-system")


def test_a_hold_does_not_block_a_plan_without_changes() -> None:
    someone = deployer_after(kyma())
    someone.task(hold.DEFINITION, reason="wait")
    assert not someone.plan()["plan"]["needed"]


def new() -> Deployer:
    return deployer(kyma())


@pytest.mark.parametrize("someone_deploying", [new, upgrading])
def test_a_hold_is_known_after_two_requests_if_the_cluster_has_not_the_wanted_version(
    someone_deploying: Callable[[], Deployer],
) -> None:
    someone = someone_deploying()
    someone.task(hold.DEFINITION, reason="wait")
    someone.materials.read.clear()
    before = someone.installation().version
    with only_reads(memory(someone)) as requests:
        refused = someone.plan()
    assert (refused["state"], refused["failed"]) == ("held", True)
    assert (refused["previous"], refused["version"]) == (before, someone.materials.given.version)
    assert sorted(request.ref.kind for request in requests) == ["KymaHold", "KymaInstallation"]
    assert someone.materials.read == []


def test_a_hold_of_a_cluster_with_the_same_version_is_compared_with_what_there_is_to_do() -> None:
    someone = deployer_after(kyma())
    someone.task(hold.DEFINITION, reason="wait")
    assert someone.plan()["changed"] is False
    someone.materials.given = kyma(level="trace")
    refused = someone.plan()
    assert refused["state"] == "held"
    assert someone.materials.read


def test_a_plan_in_check_mode_lists_all_reasons_and_the_hold_first() -> None:
    someone = deployer(kyma(), cluster=made_by_helm())
    someone.task(hold.DEFINITION, reason="wait")
    refused = someone.plan(check_mode=True)
    assert refused["state"] == "held"
    first, *others = refused["blockers"]
    assert first.startswith("the cluster is held")
    assert any("Helm release" in one for one in others)
    assert len(someone.plan()["blockers"]) == 1


def test_a_hold_that_came_after_the_plan_stops_the_run() -> None:
    someone = deployer(kyma())
    planned = someone.plan()
    someone.task(hold.DEFINITION, reason="wait")
    begun = someone.task(run.DEFINITION, state="started", plan=planned["plan"])
    assert "the cluster is held" in begun["msg"]


# Other runs.


def test_a_run_without_an_end_is_a_warning() -> None:
    someone = deployer(kyma())
    someone.task(run.DEFINITION, state="started", plan=someone.plan()["plan"])
    [warning] = someone.plan()["warnings"]
    assert "has not ended" in warning
    assert someone.installation().last_run in warning


BEGIN = {"version": "2.9", "startedAt": "2026-11-21T12:00:00Z", "startedBy": "jane"}


def test_a_run_without_its_lease_says_since_when() -> None:
    record: Object = {
        "apiVersion": API_VERSION,
        "kind": "KymaRun",
        "metadata": {"name": "r"},
        "status": {"state": "running", "begin": BEGIN},
    }
    lost = open_run_note(record, is_lost=True)
    assert "the run r of Kyma 2.9, begun by jane" in lost
    assert "its record was last written at 2026-11-21T12:00:00Z: it no longer holds the lease" in lost
    record["metadata"]["managedFields"] = [{"time": "2026-11-21T13:00:00Z"}]
    alive = open_run_note(record, is_lost=False)
    assert "at 2026-11-21T13:00:00Z: while it is active no other run begins" in alive
    assert open_run_note({**record, "status": {"state": "failed"}}, is_lost=False) == ""
