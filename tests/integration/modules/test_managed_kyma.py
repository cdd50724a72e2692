# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task ``module`` on a managed runtime: a real API server, and a played KLM that works meanwhile.

Whatever a test does, the entries of others must be the same after it, field by field, and still be theirs.
"""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Conflict
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.connection import connect
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.wrapper import Call
from ansible_collections.kyma.lifecycle.plugins.module_utils._klm.kyma_resource import Kyma
from ansible_collections.kyma.lifecycle.plugins.module_utils._module_lifecycle import denial
from ansible_collections.kyma.lifecycle.plugins.module_utils._module_lifecycle._klm_work import klm_wave

from tests.support.accounts import ROLES, bind, playbook_of
from tests.support.denials import modules_denied
from tests.support.deployment_controllers import deployment_controllers
from tests.support.eventually import eventually
from tests.support.hooked_cluster import HookedCluster, Killed
from tests.support.klm import GROUP, LABEL, PLACE
from tests.support.kyma_clients import Busola, KymaCli
from tests.support.module_cleanup import remove_modules
from tests.support.module_driver import BeforeCall, ModuleDriver
from tests.support.own_cluster import OwnCluster
from tests.support.own_module import OwnModule
from tests.support.played_klm import PlayedKlm
from tests.support.toy_module import ModuleRelease, toy_release

from .conftest import MODULE, module_record

pytestmark = pytest.mark.control_plane
NAMESPACE = "test-managed"
ALPHA = OwnModule("alpha", NAMESPACE, Path("unused"))
BETA, GAMMA, THEIRS = (
    OwnModule(name, NAMESPACE, Path("unused"), has_kinds=False) for name in ("beta", "gamma", "theirs")
)
OTHERS: list[Object] = [
    {
        "name": "theirs",
        "channel": "fast",
        "customResourcePolicy": "Ignore",
        "managed": True,
        "controller": "theirs",
        "remoteModuleTemplateRef": "kyma-system/theirs",
    },
    {"name": "unknown", "customResourcePolicy": "CreateAndDelete", "managed": False},
]


def release_of(module: OwnModule, version: str) -> ModuleRelease:
    """A version without the namespace, which all modules share here."""
    data = {} if module.has_kinds else {"data": None}
    whole = toy_release(module, version, **data)
    return replace(whole, objects=tuple(one for one in whole.objects if one["kind"] != "Namespace"))


@dataclass
class Runtime:
    """A runtime of KLM, and the user of our task.

    Attributes:
        api: a connection of others.
        klm: at work.
        driver: of the user.
        calls: of the user's last task.
    """

    api: LiveCluster
    klm: PlayedKlm
    driver: ModuleDriver
    calls: list[Call] = field(default_factory=list)

    def manage(self, *modules: Any, before: BeforeCall = lambda _call: None, **options: Any) -> Any:
        """Call the task."""
        self.calls.clear()

        def note(call: Call) -> None:
            self.calls.append(call)
            before(call)

        return self.driver.manage(*modules, before=note, **options)

    @property
    def kyma(self) -> Object:
        live = self.api.get(*PLACE)
        assert live is not None
        return live

    def entry(self, module: OwnModule) -> Object | None:
        return self.entries.get(module.name)

    @property
    def entries(self) -> dict[str, Object]:
        return {one["name"]: one for one in self.kyma["spec"].get("modules") or ()}

    def status(self, module: OwnModule) -> Object:
        """What KLM says of a module; nothing if it says nothing."""
        said = (self.kyma.get("status") or {}).get("modules") or ()
        return next((one for one in said if one["name"] == module.name), {})

    def image(self, module: OwnModule) -> str:
        """The version that the operator has, empty without one."""
        live = self.api.get(*module.manager)
        if live is None:
            return ""
        return str(live["spec"]["template"]["spec"]["containers"][0]["image"]).rpartition(":")[2]

    def writes_of_kyma(self) -> list[str]:
        """The writes of the Kyma that persisted in the last task."""
        return [one.verb for one in self.calls if one.kind == "Kyma" and one.writes]

    def assert_untouched(self) -> None:
        """The entries of others and the rest of the spec are as they were, and nothing of them is ours."""
        spec = self.kyma["spec"]
        assert [one for one in spec["modules"] if one["name"] in ("theirs", "unknown")] == OTHERS
        rest = {key: value for key, value in spec.items() if key != "modules"}
        assert rest == {"channel": "regular", "skipMaintenanceWindows": True}
        kyma = Kyma(self.kyma)
        assert [kyma.own_keys(one["name"]) for one in OTHERS] == [frozenset(), frozenset()]


@pytest.fixture(scope="module")
def klm(own_cluster: OwnCluster) -> Iterator[PlayedKlm]:
    """KLM at work for all of this file, beside controllers of Deployments."""
    api = connect({"kubeconfig": str(own_cluster.kubeconfig)}, field_manager="tests")
    api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    one = PlayedKlm(api, defaults=OTHERS)
    one.install()
    for module in (ALPHA, BETA, GAMMA, THEIRS):
        one.catalog.publish(*(release_of(module, version) for version in ("1.0.0", "2.0.0")))
        one.catalog.offer(module.name, regular="1.0.0", fast="2.0.0")
    with deployment_controllers({"own": own_cluster}), one.running(0.05):
        yield one
    remove_modules(own_cluster.api)


@pytest.fixture
def runtime(
    own_cluster: OwnCluster, klm: PlayedKlm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Runtime]:
    """A runtime with the entries of others alone, which must be unchanged in the end."""
    for module, name, pause in (
        (denial, "REFUSAL_PAUSE_SECONDS", 0.05),
        (klm_wave, "ROLLOUT_SECONDS", 0.1),
        (klm_wave, "POLL_SECONDS", 0.5),
    ):
        monkeypatch.setattr(module, name, pause)
    api = connect({"kubeconfig": str(own_cluster.kubeconfig)}, field_manager="tests")
    _reset_runtime(api, klm)
    one = Runtime(api, klm, ModuleDriver(own_cluster.kubeconfig, tmp_path, {"catalog": [], "timeout": 30}))
    yield one
    klm.is_silent = False
    one.assert_untouched()


def _reset_runtime(api: LiveCluster, klm: PlayedKlm) -> None:
    """Have KLM create its Kyma again, and remove what earlier tests have left."""
    for widget in api.list(f"{ALPHA.group}/v1", "Widget").items if _has_kinds(api) else ():
        api.delete(f"{ALPHA.group}/v1", "Widget", widget["metadata"]["name"], NAMESPACE)
    api.delete(*PLACE)

    def is_new() -> bool:
        status = (api.get(*PLACE) or {}).get("status") or {}
        reported = {one["name"] for one in status.get("modules") or ()}
        return klm.manifests.keys() <= {"theirs"} and reported == {"theirs", "unknown"}

    eventually(is_new, 15)
    api.with_field_manager("kubectl").patch(*PLACE, {"spec": {"skipMaintenanceWindows": True}})
    for module in (BETA, GAMMA):
        for obj in release_of(module, "1.0.0").objects:
            api.delete(obj["apiVersion"], obj["kind"], obj["metadata"]["name"], NAMESPACE)
    for module in (ALPHA, BETA, GAMMA):
        if api.served(MODULE[0].partition("/")[0], MODULE[1]):
            api.delete(*MODULE, module.name)


def _has_kinds(api: LiveCluster) -> bool:
    return all(api.get("apiextensions.k8s.io/v1", "CustomResourceDefinition", name) for name in ALPHA.crds)


def once(matches: Callable[[Call], bool], act: Callable[[], object]) -> BeforeCall:
    """Do something before the first call that matches."""
    todo = [act]

    def before(call: Call) -> None:
        if todo and matches(call):
            todo.pop()()

    return before


def is_write_of_kyma(call: Call) -> bool:
    return call.kind == "Kyma" and call.writes


def test_a_list_is_installed_by_entries_and_a_second_run_only_reads(runtime: Runtime) -> None:
    installed = runtime.manage("alpha", BETA.entry(channel="fast")).succeeded()
    assert [(row["action"], row["state"]) for row in installed.rows.values()] == [("install", "Ready")] * 2
    assert (runtime.image(ALPHA), runtime.image(BETA)) == ("1.0.0", "2.0.0")
    assert installed.writes == ["apply Kyma default"]
    policy = {"customResourcePolicy": "CreateAndDelete", "managed": True}
    assert runtime.entry(ALPHA) == {"name": "alpha", **policy}
    assert runtime.entry(BETA) == {"name": "beta", "channel": "fast", **policy}

    again = runtime.manage("alpha", BETA.entry(channel="fast")).unchanged()
    requests = [one for one in runtime.calls if one.verb != "served"]
    of_klm = sorted((one.verb, one.kind) for one in requests if one.api_version.startswith(GROUP))
    assert of_klm == [("get", "Kyma"), ("list", "ModuleReleaseMeta"), ("list", "ModuleTemplate")]
    whole = [one for one in requests if one.kind == "Deployment" and one.namespace]
    assert [one.verb for one in whole] == ["list"]
    assert again.result["run"] == ""


def test_a_switch_of_the_channel_ends_when_the_operator_runs_the_new_version(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """KLM says the new version beside the old Ready before it has applied anything."""
    runtime.manage("beta").succeeded()

    def dawdle(_number: int, call: Call) -> None:
        if (call.verb, call.kind) == ("apply", "Deployment"):
            time.sleep(0.7)

    monkeypatch.setattr(runtime.klm, "cluster", HookedCluster(runtime.api, before=dawdle))
    switched = runtime.manage(BETA.entry(channel="fast")).succeeded()
    assert "beta: waiting KLM has 2.0.0, and its operator still runs 1.0.0" in switched.progress
    assert (runtime.image(BETA), runtime.status(BETA)["state"]) == ("2.0.0", "Ready")
    assert switched.result["summary"][0] == "beta 2.0.0: Ready, upgraded from 1.0.0"


def test_an_unmanaged_module_is_not_managed_again_in_a_lower_channel(runtime: Runtime) -> None:
    runtime.manage(BETA.entry(channel="fast")).succeeded()
    runtime.manage(BETA.entry(state="unmanaged")).succeeded()
    manager = runtime.api.get(*BETA.manager)
    assert manager is not None
    assert LABEL not in manager["metadata"]["labels"]
    runtime.manage(BETA.entry(state="unmanaged")).unchanged()

    refused = runtime.manage(BETA.entry(channel="regular"))
    assert "it would really go down" in refused.message
    assert (refused.writes, runtime.image(BETA)) == ([], "2.0.0")
    runtime.manage(BETA.entry(channel="fast")).succeeded()
    assert runtime.status(BETA)["state"] == "Ready"
    assert "KLM) does not go down" in runtime.manage(BETA.entry(channel="regular")).message


def test_a_module_that_is_absent_with_ignore_keeps_its_objects(runtime: Runtime) -> None:
    runtime.manage(BETA.entry(policy="ignore")).succeeded()
    before = {obj["kind"]: _uid(runtime, obj) for obj in release_of(BETA, "1.0.0").objects}
    gone = runtime.manage(BETA.absent()).succeeded()
    assert (gone.row["state"], runtime.entry(BETA)) == ("Unmanaged", None)
    assert runtime.writes_of_kyma() == ["apply", "patch"]
    assert {obj["kind"]: _uid(runtime, obj) for obj in release_of(BETA, "1.0.0").objects} == before
    runtime.manage(BETA.absent()).unchanged()


def _uid(runtime: Runtime, obj: Object) -> str:
    live = runtime.api.get(obj["apiVersion"], obj["kind"], obj["metadata"]["name"], NAMESPACE)
    assert live is not None, obj["kind"]
    assert not live["metadata"].get("deletionTimestamp")
    return str(live["metadata"]["uid"])


def test_a_resource_of_a_user_blocks_a_removal_before_anything_is_written(runtime: Runtime) -> None:
    """Also one of a kind that KLM does not look at, and would remove with its definition."""
    runtime.manage("alpha").succeeded()
    for users in (ALPHA.widget("users"), ALPHA.site("users")):
        runtime.api.create(users)
        for check in (True, False):
            blocked = runtime.manage(ALPHA.absent(), check=check)
            assert f"{users['kind']} " in blocked.message
            assert "users" in blocked.message
            assert (blocked.row["state"], blocked.writes) == ("Deleting", [])
        assert runtime.status(ALPHA)["state"] == "Ready"
        runtime.api.delete(
            users["apiVersion"], users["kind"], "users", NAMESPACE if users["kind"] == "Widget" else None
        )
    assert modules_denied(runtime.api) == frozenset()
    deleted = runtime.manage(ALPHA.absent()).succeeded()
    assert (deleted.row["state"], runtime.entry(ALPHA)) == ("NotInstalled", None)
    assert (runtime.image(ALPHA), runtime.status(ALPHA)) == ("", {})
    assert modules_denied(runtime.api) == frozenset()
    assert runtime.api.get(*MODULE, "alpha") is None


def test_a_removal_that_is_killed_at_any_write_is_finished_by_the_next_run(runtime: Runtime) -> None:
    objects = release_of(BETA, "1.0.0").objects
    for number in itertools.count(1):
        runtime.manage(BETA.entry(policy="ignore")).succeeded()
        before = {obj["kind"]: _uid(runtime, obj) for obj in objects}
        writes = itertools.count(1)

        def kill(call: Call, writes: Iterator[int] = writes, last: int = number) -> None:
            if call.writes and call.kind in ("Kyma", "KymaModule") and next(writes) == last:
                raise Killed

        try:
            runtime.manage(BETA.absent(), before=kill)
            is_whole = True
        except Killed:
            is_whole = False
        runtime.manage(BETA.absent(), lease_wait=60).succeeded()
        assert (runtime.entry(BETA), runtime.status(BETA)) == (None, {})
        assert {obj["kind"]: _uid(runtime, obj) for obj in objects} == before, f"killed at write {number}"
        assert module_record(runtime.api, "beta")["spec"]["state"] == "unmanaged"
        if is_whole:
            assert number > 4
            return


@pytest.mark.parametrize("is_rehearsed", [True, False])
def test_a_put_of_the_command_line_between_our_read_and_our_write_loses_nothing(
    runtime: Runtime, *, is_rehearsed: bool
) -> None:
    """The command line drops fields of others on its own account; here it has none to drop."""
    runtime.manage("beta").succeeded()
    ours = runtime.entry(BETA)
    cli = KymaCli(runtime.api)

    def add() -> None:
        cli.add("gamma", "fast", default_cr=True)
        _restore_others(runtime)

    between = once(lambda call: is_call_to_apply(call, dry_run=is_rehearsed), add)
    runtime.manage(BETA.entry(channel="fast"), before=between).succeeded()
    assert runtime.entry(BETA) == {**(ours or {}), "channel": "fast"}
    assert (runtime.entry(GAMMA) or {})["channel"] == "fast"

    # And the other way round: its PUT is refused after our write.
    with pytest.raises(Conflict):
        KymaCli(runtime.api, between=lambda: runtime.manage("alpha", wait=False).succeeded()).delete("gamma")
    assert set(runtime.entries) == {"theirs", "unknown", "alpha", "beta", "gamma"}


def _restore_others(runtime: Runtime) -> None:
    """Write again what Kyma's command line has dropped."""
    spec = runtime.kyma["spec"]
    entries = [{one["name"]: one for one in OTHERS}.get(one["name"], one) for one in spec["modules"]]
    whole = {"spec": {"skipMaintenanceWindows": True, "modules": entries}}
    runtime.api.with_field_manager("kyma").patch(*PLACE, whole)


def is_call_to_apply(call: Call, *, dry_run: bool) -> bool:
    return (call.verb, call.kind, call.dry_run) == ("apply", "Kyma", dry_run)


@pytest.mark.parametrize("theirs", ["gamma", "beta"])
def test_a_patch_by_index_of_the_dashboard_between_our_read_and_our_write_loses_nothing(
    runtime: Runtime, theirs: str
) -> None:
    """Of another module, which moves ours to another index, or of our own entry."""
    Busola(runtime.api).add("gamma", "fast")
    runtime.manage(BETA.entry(policy="ignore")).succeeded()
    busola = Busola(runtime.api)
    acts = {"gamma": lambda: busola.remove("gamma"), "beta": lambda: busola.set_channel("beta", "regular")}
    gone = runtime.manage(
        BETA.absent(),
        before=once(lambda call: call.verb == "patch" and is_write_of_kyma(call), acts[theirs]),
    ).succeeded()
    assert gone.row["state"] == "Unmanaged"
    assert set(runtime.entries) == {"theirs", "unknown", *(() if theirs == "gamma" else ("gamma",))}
    assert runtime.writes_of_kyma() == ["apply", "patch", "patch"]
    assert runtime.image(BETA) == "1.0.0"


def test_a_kyma_that_is_replaced_before_our_write_gets_nothing(runtime: Runtime) -> None:
    uid = runtime.kyma["metadata"]["uid"]

    def replace_kyma() -> None:
        runtime.api.delete(*PLACE)
        eventually(lambda: (runtime.api.get(*PLACE) or {"metadata": {"uid": uid}})["metadata"]["uid"] != uid)
        runtime.api.with_field_manager("kubectl").patch(*PLACE, {"spec": {"skipMaintenanceWindows": True}})

    for dry_run in (True, False):
        uid = runtime.kyma["metadata"]["uid"]

        def is_moment(call: Call, dry_run: bool = dry_run) -> bool:
            return is_call_to_apply(call, dry_run=dry_run)

        refused = runtime.manage("beta", before=once(is_moment, replace_kyma))
        assert "was deleted or replaced since the run was planned" in refused.message
        assert set(runtime.entries) == {"theirs", "unknown"}
        assert runtime.image(BETA) == ""


def test_a_silent_klm_fails_the_task_with_its_last_word(runtime: Runtime) -> None:
    runtime.manage("beta").succeeded()
    runtime.klm.is_silent = True
    failed = runtime.manage(BETA.entry(channel="fast"), timeout=3)
    assert "not done after 3 s: KLM reports Ready 1.0.0" in failed.message
    assert "s ago: it may not reach this cluster" in failed.message
    assert failed.row["state"] == "Processing"
    runtime.klm.is_silent = False
    runtime.manage(BETA.entry(channel="fast")).succeeded()


@pytest.fixture
def client(own_cluster: OwnCluster, tmp_path: Path) -> Iterator[Path]:
    """The kubeconfig of a user with the shipped roles for a client of KLM, and no right on objects."""
    (tmp_path / "client").mkdir()
    playbook_of(own_cluster, tmp_path / "client", "client")
    for file in ("deployer", "klm-client"):
        role = yaml.safe_load((ROLES / f"{file}.yaml").read_text())
        own_cluster.api.apply(role)
        bind(own_cluster, role["metadata"]["name"], "client")
    yield tmp_path / "client" / "kubeconfig"
    for file in ("deployer", "klm-client"):
        role = yaml.safe_load((ROLES / f"{file}.yaml").read_text())
        own_cluster.api.delete(role["apiVersion"], role["kind"], role["metadata"]["name"])


def test_the_shipped_roles_are_enough_and_a_missing_right_is_an_error(runtime: Runtime, client: Path) -> None:
    """A refused read is no proof that there is no KLM."""
    user = replace(runtime, driver=replace(runtime.driver, kubeconfig=client))
    user.manage(BETA.entry(channel="fast")).succeeded()
    user.manage(BETA.entry(policy="ignore", channel="fast")).succeeded()
    user.manage(BETA.absent()).succeeded()

    rights: list[tuple[str, Callable[[Mapping[str, Any]], bool]]] = [
        ("patch", lambda rule: "patch" in rule["verbs"]),
        ("get", lambda _rule: True),
    ]
    for verb, is_withheld in rights:
        for role in ("kyma-lifecycle-deployer", "kyma-lifecycle-klm-client"):
            _withhold(runtime.api, role, is_withheld)
        refused = user.manage("gamma")
        assert f"{verb} kymas.{GROUP}" in refused.message
        assert (refused.writes, runtime.entry(GAMMA)) == ([], None)


def _withhold(api: LiveCluster, role: str, is_withheld: Callable[[Mapping[str, Any]], bool]) -> None:
    """Take rules for the Kyma from a role, and give the server a moment to read that."""
    place = ("rbac.authorization.k8s.io/v1", "ClusterRole", role, None)
    live = api.get(*place)
    assert live is not None
    rules = [rule for rule in live["rules"] if "kymas" not in rule["resources"] or not is_withheld(rule)]
    api.patch(*place, {"rules": rules})
    time.sleep(0.5)


def test_twenty_random_lists_never_touch_an_entry_of_others(runtime: Runtime) -> None:
    chance = random.Random(56)
    succeeded = 0
    for number in range(20):
        chosen = chance.sample([BETA, GAMMA], chance.choice((1, 2)))
        modules = [
            one.entry(
                state=chance.choice(("managed", "managed", "unmanaged", "absent")),
                policy=chance.choice(("create_and_delete", "ignore")),
                **chance.choice(({}, {"channel": "fast"}, {"channel": "regular"})),
            )
            for one in chosen
        ]
        done = runtime.manage(*modules, exclusive=chance.random() < 0.3)
        runtime.assert_untouched()
        if done.result.get("failed"):
            assert "go down" in done.message, (number, modules)
            continue
        succeeded += 1
    assert succeeded >= 10
