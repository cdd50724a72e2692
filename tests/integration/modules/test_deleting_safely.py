# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nothing of a module goes while it is not known whether anything lives that it manages (case 11)."""

from __future__ import annotations

import itertools
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import (
    ClusterError,
    Forbidden,
    NotFound,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.connection import connect
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.wrapper import Call

from tests.support.denials import modules_denied
from tests.support.eventually import eventually
from tests.support.module_driver import ModuleDriver
from tests.support.own_cluster import OwnCluster
from tests.support.own_module import OwnModule, definition

from .conftest import CRD, assert_gone, assert_whole, install, module_record, named

pytestmark = pytest.mark.control_plane

RBAC = "rbac.authorization.k8s.io"
BLIND = "deployer-without-sight"
GROUPS = ["", "apps", "apiextensions.k8s.io", "admissionregistration.k8s.io", "coordination.k8s.io", RBAC]


@pytest.fixture
def blind_user(api: LiveCluster, shop: OwnModule) -> Iterator[str]:
    """A user who may do anything but list what the module's first definition defines."""
    rules = [
        {
            "apiGroups": [*GROUPS, "autoscaling", "lifecycle.kyma-project.io"],
            "resources": ["*"],
            "verbs": ["*"],
        },
        {"apiGroups": [shop.group], "resources": ["*"], "verbs": ["get", "delete", "create", "patch"]},
        {"apiGroups": [shop.group], "resources": ["sites"], "verbs": ["*"]},
    ]
    role = {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRole", "metadata": {"name": BLIND}, "rules": rules}
    binding = {
        "apiVersion": f"{RBAC}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": BLIND},
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": BLIND},
        "subjects": [{"apiGroup": RBAC, "kind": "User", "name": BLIND}],
    }
    for obj in (role, binding):
        api.create(obj)
    yield BLIND
    for obj in (role, binding):
        api.delete(*named(obj))


def test_nothing_is_deleted_where_the_look_is_forbidden(
    api: LiveCluster, driver: ModuleDriver, shop: OwnModule, blind_user: str
) -> None:
    """Case 11: the run reviews its rights before it writes."""
    default = shop.site("default")
    install(driver, shop, data=default)
    api.create(shop.widget("mine"))

    refused = driver.manage(shop.absent(), impersonate_user=blind_user)

    assert refused.message.startswith("the user ")
    assert f"list widgets.{shop.group} in the whole cluster" in refused.message
    assert refused.all_writes == []
    assert_whole(api, shop)
    assert api.get(*named(default)) is not None


def test_nothing_is_deleted_where_a_conversion_webhook_is_down(
    api: LiveCluster, driver: ModuleDriver, shop: OwnModule
) -> None:
    """Case 11: the API server answers 500, as nothing converts what it has stored in the other version."""
    converted = definition(shop.group, "Widget", "Namespaced", "v1", "v2")
    _definition, *others = shop.objects("1.0.0")
    install(driver, shop, objects=[converted, *others], data=shop.widget("default"))
    api.create(shop.widget("mine"))
    webhook = {
        "conversionReviewVersions": ["v1"],
        "clientConfig": {"url": "https://127.0.0.1:1/convert"},
    }
    broken = {**converted["spec"], "conversion": {"strategy": "Webhook", "webhook": webhook}}
    broken["versions"] = [{**one, "storage": one["name"] == "v2"} for one in converted["spec"]["versions"]]
    shop.publish("1.0.0", [{**converted, "spec": broken}, *others])
    driver.manage(shop.name).succeeded()

    refused = driver.manage(shop.absent())

    assert "nothing of it was deleted, because it is unknown" in refused.message
    assert f"`kubectl describe crd widgets.{shop.group}`" in refused.message
    assert (refused.row["state"], module_record(api, shop)["spec"]["state"]) == ("Error", "absent")
    assert [write for write in refused.writes if write.startswith("delete")] == []
    assert_whole(api, shop)


@dataclass
class Writers:
    """Six that create and delete resources all the time.

    Attributes:
        created: how many were created.
        refused: how many were refused as the module is being deleted.
        lost: those that vanished though their writer had not deleted them yet.
    """

    created: int = 0
    refused: int = 0
    lost: list[str] = field(default_factory=list)


@contextmanager
def six_writers(kubeconfig: str, module: OwnModule) -> Iterator[Writers]:
    writers, stop, lock = Writers(), threading.Event(), threading.Lock()

    def write(number: int) -> None:
        cluster = connect({"kubeconfig": kubeconfig}, field_manager="writer")
        for count in itertools.count():
            if stop.wait(0.02):
                return
            widget = module.widget(f"w{number}-{count}")
            try:
                cluster.create(widget)
            except Forbidden:
                writers.refused += 1
                continue
            except ClusterError:
                continue
            time.sleep(0.003)
            with lock:
                writers.created += 1
                try:
                    if not cluster.delete(*named(widget)):
                        writers.lost.append(widget["metadata"]["name"])
                except (NotFound, ClusterError):
                    writers.lost.append(widget["metadata"]["name"])

    threads = [threading.Thread(target=write, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    try:
        yield writers
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_of_what_six_writers_create_all_the_time_nothing_is_lost(
    api: LiveCluster, driver: ModuleDriver, shop: OwnModule, own_cluster: OwnCluster
) -> None:
    """Case 11."""
    install(driver, shop)
    with six_writers(str(own_cluster.kubeconfig), shop) as writers:
        eventually(lambda: writers.created > 20)
        gone = driver.manage(shop.absent())
    assert writers.lost == []
    assert writers.refused > 0
    gone.succeeded()
    assert_gone(api, shop)


def test_a_resource_that_is_created_before_the_definitions_go_is_seen_by_the_last_list(
    api: LiveCluster, driver: ModuleDriver, shop: OwnModule
) -> None:
    """Somebody has removed the policy meanwhile. The operator is gone then; the definitions are not."""
    install(driver, shop)
    late = shop.widget("late")

    def create_late(call: Call) -> None:
        if call.verb == "delete" and call.kind == "Deployment":
            for kind in ("ValidatingAdmissionPolicyBinding", "ValidatingAdmissionPolicy"):
                api.delete("admissionregistration.k8s.io/v1", kind, f"kyma-lifecycle-deleting-{shop.name}")
            eventually(lambda: _is_created(api, late))

    blocked = driver.manage(shop.absent(), before=create_late)

    assert "late" in blocked.message
    assert api.get(*named(late)) is not None
    assert all(api.get(*CRD, name) for name in shop.crds)


def _is_created(api: LiveCluster, obj: Object) -> bool:
    try:
        api.create(obj)
    except Forbidden:
        return False
    return True


def test_a_cancelled_deletion_leaves_the_denial_in_force_and_the_next_run_goes_on(
    api: LiveCluster, driver: ModuleDriver, shop: OwnModule
) -> None:
    install(driver, shop)
    own = shop.widget("own", finalizers=["modules.test/hold"])
    is_requested = threading.Event()

    install(driver, shop, objects=[*shop.objects("1.0.0"), own])

    def cancel(call: Call) -> None:
        if call.verb == "delete" and call.kind == "Widget":
            is_requested.set()

    cut_off = driver.manage(shop.absent(), before=cancel, cancelled=is_requested.is_set, grace=1)

    assert cut_off.result["state"] == "cancelled"
    assert_whole(api, shop)
    with pytest.raises(Forbidden, match="is being deleted"):
        api.create(shop.widget("new"))
    assert modules_denied(api) == {shop.name}

    api.patch(*named(own), {"metadata": {"finalizers": None}})
    driver.manage(shop.absent()).succeeded()
    assert_gone(api, shop)


def test_a_thousand_resources_of_twenty_kinds_cost_a_request_per_kind_and_few_lines(
    api: LiveCluster, driver: ModuleDriver, shop: OwnModule
) -> None:
    """1,000 resources of 20 kinds in 100 namespaces: at most 21 requests to know them, and 40 lines."""
    kinds = [f"Kind{number}" for number in range(20)]
    places = [f"{shop.namespace}-{number}" for number in range(100)]
    _widgets, _sites, *operator = shop.objects("1.0.0")
    install(driver, shop, objects=[*(definition(shop.group, one, "Namespaced") for one in kinds), *operator])
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: api.create(_namespace(name)), places))
        list(pool.map(api.create, (_resource(shop, kind, place) for kind in kinds[:10] for place in places)))

    looks: list[str] = []

    def note(call: Call) -> None:
        is_whole_definition = call.kind == CRD[1] and ("metadata_only", True) not in call.options
        if call.verb == "list" and (call.api_version.startswith(shop.group) or is_whole_definition):
            looks.append(call.kind)

    blocked = driver.manage(shop.absent(), before=note)

    assert "and 990 more" in blocked.message
    assert len(blocked.message.splitlines()) <= 40
    # One look before anything is asked to go, and one after that. The first one reads the definitions, too.
    assert Counter(looks) == {**dict.fromkeys(kinds, 2), CRD[1]: 1}
    assert api.get(*shop.manager) is not None


def _namespace(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def _resource(module: OwnModule, kind: str, namespace: str) -> Object:
    return {**module.widget("one", namespace), "kind": kind}
