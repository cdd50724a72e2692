# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run on a real API server does what its plan says, field by field.

See :mod:`tests.support.plan_comparison`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task import Result
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, Object, ref_of
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Invalid, Unreachable
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.wrapper import Call, ClusterWrapper, T
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import (
    ComponentEntry,
    Release,
    ReleaseRequest,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.installation import (
    read_installation,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import component
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    GLOBAL,
    Context,
    Phase,
    Verdict,
    not_needed,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.materials import ControllerMaterials
from hypothesis import HealthCheck, given, settings
from hypothesis import Phase as Stage

from tests.cluster.paths import ROOT
from tests.support.audit import writes
from tests.support.driver import Deployer, config_map, crd, custom, deployment, release
from tests.support.eventually import eventually
from tests.support.extent import IS_FULL, examples
from tests.support.live_deployer import user_of
from tests.support.needs import skip
from tests.support.own_cluster import OwnCluster, new_cluster
from tests.support.plan_comparison import (
    Observed,
    count_disagreements,
    kinds_in,
    migration_disagreements,
    object_disagreements,
    observed_run,
    order_disagreements,
    shown_states,
)
from tests.support.random_releases import Attempt, Step, lives
from tests.support.writing_migrations import MIGRATIONS, Marked, mark, seeds

pytestmark = pytest.mark.control_plane

Wrap = Callable[[Cluster], Cluster]
OLD, NEW = "v1alpha1", "v1"
NAMESPACE = "kyma-system"


@pytest.fixture(scope="module")
def own_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnCluster]:
    """A cluster for the releases of this file."""
    with new_cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


def plan_without_writes(cluster: OwnCluster, user: Deployer) -> Result:
    """A plan in check mode, which must store nothing."""
    with cluster.audit.recorded() as requests:
        planned = user.plan(check_mode=True)
    planned["requests"] = requests
    assert [one for one in writes(requests) if "accessreviews" not in one] == []
    return planned


def run_disagreements(
    cluster: OwnCluster,
    user: Deployer,
    planned: Result,
    *,
    wrap: Wrap = lambda cluster: cluster,
) -> list[str]:
    """Carry out a plan; the disagreements of both.

    Args:
        cluster: the cluster.
        user: the user with the release of the plan.
        planned: the plan.
        wrap: what the run gets in place of the live cluster.
    """
    live = user.cluster
    with observed_run(cluster.api, cluster.audit, kinds_in(planned["diff"])) as observed:
        user.cluster = wrap(live)
        ended = user.carry_out(planned)
    user.cluster = live
    lines = needless_reads(observed)
    is_complete = not ended.get("failed")
    lines += all_disagreements(cluster, user, planned, observed, is_complete=is_complete)
    # A run that has failed prunes nothing.
    if is_complete:
        lines += count_disagreements(planned["plan"], user.record()["status"].get("components") or {})
    return lines


def needless_reads(observed: Observed) -> list[str]:
    """What a run has read again although it knew it, each a line.

    The plan has read the core kinds, which no release changes. A watch of workloads continues from its last
    position. Only the tasks for prerequisites, for components and for pruning list workloads, each once.
    """
    most = {"/api": 0, f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments": 3}
    counts = {address: observed.reads.count(address) for address in most}
    return [
        f"{address} is read {counts[address]} times" for address in most if counts[address] > most[address]
    ]


def all_disagreements(
    cluster: OwnCluster, user: Deployer, planned: Result, observed: Observed, *, is_complete: bool = True
) -> list[str]:
    """The disagreements of a plan with its run."""
    status = user.record()["status"]
    plan, ran = planned["plan"], status.get("migrations") or {}
    # The diff of a plan ends with the provisional ones of later hops.
    diff = [one for one in planned["diff"] if "provisional" not in one["after_header"]]
    return [
        *object_disagreements(diff, observed, cluster.api, is_complete=is_complete),
        *migration_disagreements(plan, ran, observed, is_complete=is_complete),
        *order_disagreements(plan["components"], planned["requests"], observed),
    ]


def definition(*versions: str) -> Object:
    """The definition of Offers in some versions, stored in the first."""
    made = crd("Offer", "shop.test")
    [one] = made["spec"]["versions"]
    made["spec"]["versions"] = [
        {**one, "name": version, "storage": version == versions[0]} for version in versions
    ]
    return made


def shop(version: str, **more: Any) -> Release:
    """Each release changes something; 1.2 narrows a definition, and drops an object and a component."""
    is_last = version >= "1.2"
    offer = custom("Offer", "apples", "shop.test", v=version)
    offer["apiVersion"] = f"shop.test/{NEW if is_last else OLD}"
    first = [config_map("content", v=version), *([] if is_last else [config_map("dropped")])]
    components = {
        "first": first,
        "second": [config_map("more", a="b"), offer, deployment("web", f"example.com/web:{version}")],
        **({} if is_last else {"legacy": [config_map("legacy"), deployment("legacy")]}),
        **more.pop("components", {}),
    }
    definitions = [crd("Widget"), definition(*([NEW] if is_last else [OLD, NEW]))]
    return release(version, components, crds=definitions, **more)


class Ends(Marked):
    """Runs after the components of the second release."""

    component = GLOBAL
    phase = Phase.POST
    mark = "ended"

    def run(self, ctx: Context) -> None:
        ctx.cluster.patch("v1", "ConfigMap", "content", "kyma-system", {"metadata": {"labels": {"end": "1"}}})
        ctx.cluster.create(mark("ended"))


class AfterPruning(Marked):
    """Is needed once the release has dropped an object."""

    component = GLOBAL
    phase = Phase.POST
    mark = "pruned"

    def check(self, ctx: Context) -> Verdict:
        if ctx.cluster.get("v1", "ConfigMap", "dropped", "kyma-system"):
            return not_needed("the dropped object exists")
        return super().check(ctx)

    def run(self, ctx: Context) -> None:
        ctx.cluster.create(mark("pruned"))


class AfterBroken(Marked):
    """Belongs to a component that fails."""

    component = "broken"
    phase = Phase.POST
    mark = "after-broken"

    def run(self, ctx: Context) -> None:
        ctx.cluster.create(mark("after-broken"))


@pytest.fixture(scope="module")
def first_release(own_cluster: OwnCluster) -> list[str]:
    """The disagreements of the first release, with migrations that write in every way."""
    by_hand = own_cluster.api.with_field_manager("kubectl-create")
    for seed in seeds():
        by_hand.create(seed)
    eventually(lambda: all(_is_ready(own_cluster.api, kind) for kind in ("Deployment", "StatefulSet")), 60)
    user = user_of(own_cluster, shop("1.0"), *MIGRATIONS)
    planned = plan_without_writes(own_cluster, user)
    assert len(shown_states(planned["diff"])) > 30
    assert "hunter2" not in str(planned)
    return run_disagreements(own_cluster, user, planned)


@pytest.fixture(scope="module")
def hops(own_cluster: OwnCluster, first_release: list[str]) -> list[str]:
    """The disagreements of two hops with a plan made before the first one."""
    del first_release
    later = shop("1.2")
    user = user_of(own_cluster, later, *MIGRATIONS, Ends, AfterPruning, prune=True, hops="auto")
    user.materials.others = (shop("1.1"),)
    planned = plan_without_writes(own_cluster, user)
    user.materials.given = shop("1.1")
    lines = run_disagreements(own_cluster, user, planned)
    user.materials.given, user.materials.others = later, ()
    second = plan_without_writes(own_cluster, user)
    provisional = [one for one in planned["diff"] if "(1.2, provisional)" in one["after_header"]]
    plain = [{**one, "after_header": one["after_header"].partition(" (1.2, ")[0]} for one in provisional]
    predicted = {**second, "diff": plain, "plan": planned["plan"]["later"][0]}
    with observed_run(own_cluster.api, own_cluster.audit, kinds_in(second["diff"])) as observed:
        assert user.carry_out(second)["state"] == "succeeded"
    lines += all_disagreements(own_cluster, user, second, observed)
    return [*lines, *all_disagreements(own_cluster, user, predicted, observed)]


def _is_ready(cluster: Cluster, kind: str) -> bool:
    live = cluster.get("apps/v1", kind, "old", "default")
    return bool(live and live["status"].get("readyReplicas"))


def test_a_first_release_and_its_migrations_write_what_the_plan_says(first_release: list[str]) -> None:
    assert not first_release, "\n".join(first_release)


def test_hops_narrow_prune_and_migrate_as_the_first_plan_says(hops: list[str]) -> None:
    assert not hops, "\n".join(hops)


def test_a_run_with_a_failing_component_does_a_part_of_the_plan(
    own_cluster: OwnCluster, hops: list[str]
) -> None:
    """The rest is that of this component, of those that need it, and of the global phase after."""
    del hops
    broken = deployment("broken", "broken.invalid/x", progressDeadlineSeconds=2)
    dependent = (ComponentEntry("dependent", "kyma-system", needs=("broken",)), [config_map("dependent")])
    given = shop("1.3", components={"broken": [broken], "dependent": dependent})
    user = user_of(own_cluster, given, *MIGRATIONS, Ends, AfterBroken, timeout=30)
    planned = plan_without_writes(own_cluster, user)
    assert {one["id"] for one in planned["plan"]["migrations"] if one["verdict"] == "needed"} == {
        "broken/after-broken"
    }
    assert run_disagreements(own_cluster, user, planned) == []
    assert {name for name, state in user.states().items() if state != "succeeded"} == {"broken", "dependent"}
    assert user.record()["status"]["migrations"].get("broken/after-broken") is None
    mended = user_of(own_cluster, shop("1.3"))
    assert run_disagreements(own_cluster, mended, plan_without_writes(own_cluster, mended)) == []


def test_a_component_that_the_plan_blocks_is_refused_in_the_same_words(
    own_cluster: OwnCluster, hops: list[str]
) -> None:
    del hops
    content = config_map("content", v="1.4")
    content["immutable"] = "perhaps"
    web = deployment("web", "example.com/web:1.4", selector={"matchLabels": {"app": "other"}})
    web["spec"]["template"]["metadata"]["labels"] = {"app": "other"}
    given = shop("1.4", components={"first": [content], "second": [config_map("more", a="c"), web]})
    user = user_of(own_cluster, given, timeout=30)
    planned = plan_without_writes(own_cluster, user)
    for name in ("first", "second"):
        [blocker] = [one for one in planned["blockers"] if one.startswith(f"{name}: ")]
        refused = user.task(component.DEFINITION, names=[name])
        assert refused["failed"]
        # The plan also says how to allow it.
        assert str(refused["components"][0]["error"]).partition(". ")[0] in blocker


def skips_a_write(name: str) -> Wrap:
    """A fault of the run: it does not apply an object."""

    class Skipping(ClusterWrapper):
        def _through(self, call: Call, ask: Callable[[], T]) -> T:
            if call.verb == "apply" and not call.dry_run and call.obj and _name(call.obj) == name:
                return cast(T, self.get(call.obj["apiVersion"], call.obj["kind"], name, "kyma-system"))
            return ask()

    return Skipping


class AppliesAnotherField(ClusterWrapper):
    """A fault of the run: it applies a field that the release does not have."""

    def apply(self, obj: Object, *, force: bool = False, dry_run: bool = False) -> Object:
        if _name(obj) == "content" and not dry_run:
            obj = {**obj, "data": {**obj["data"], "extra": "field"}}
        return super().apply(obj, force=force, dry_run=dry_run)


def _name(obj: Mapping[str, Any]) -> str:
    return str(obj["metadata"]["name"])


@pytest.mark.parametrize(
    ("wrap", "version", "expected"),
    [
        (skips_a_write("content"), "1.4", "planned, and the run does not write it"),
        (AppliesAnotherField, "1.5", ".data.extra is planned as 'absent'"),
    ],
    ids=["skipped-write", "another-field"],
)
def test_the_comparison_fails_for_a_run_that_does_something_else(
    own_cluster: OwnCluster, hops: list[str], wrap: Wrap, version: str, expected: str
) -> None:
    del hops
    user = user_of(own_cluster, shop(version))
    lines = run_disagreements(own_cluster, user, plan_without_writes(own_cluster, user), wrap=wrap)
    assert any(line.startswith(f"ConfigMap kyma-system/content: {expected}") for line in lines), lines


class Faulty(ClusterWrapper):
    """A cluster that does not do, or does not answer, one write of the objects of a release."""

    def __init__(self, inner: Cluster, attempt: Attempt, refs: set[str]) -> None:
        super().__init__(inner)
        self._attempt = attempt
        self._refs = refs
        self._writes = [0]

    def _through(self, call: Call, ask: Callable[[], T]) -> T:
        fault = self._attempt.fault
        if fault not in ("refused", "lost", "unanswered") or not self._counts(call):
            return ask()
        self._writes[0] += 1
        if self._writes[0] != self._attempt.where + 1:
            return ask()
        if fault == "refused":
            raise Invalid("apply something", status=422, api_message="no")
        if fault == "unanswered":
            ask()
        raise Unreachable("the connection was lost")

    def _counts(self, call: Call) -> bool:
        # The server names an Event, which no release has.
        is_named = call.obj is not None and "name" in call.obj["metadata"]
        return call.writes and is_named and str(ref_of(call.obj)) in self._refs


class Life:
    """The releases of one cluster, one after the other.

    Attributes:
        lines: the disagreements of all plans with their runs.
        runs: how many there were.
    """

    def __init__(self, cluster: OwnCluster) -> None:
        self.lines: list[str] = []
        self.runs = 0
        self._cluster = cluster

    def go_on(self, steps: Sequence[Step]) -> None:
        """Deploy some further releases."""
        for step in steps:
            minor = int(read_installation(self._cluster.api).version.rpartition(".")[2])
            for attempt in step.attempts:
                self._attempt(f"1.{minor + 1}", attempt)

    def _attempt(self, version: str, attempt: Attempt) -> None:
        entries = attempt.layout.entries
        broken = entries[attempt.where % len(entries)].name if attempt.fault == "sick" else ""
        options = {"prune": attempt.prune, "components": list(attempt.alone), "timeout": 10}
        user = user_of(self._cluster, attempt.layout.release(version, broken), **options)
        planned = plan_without_writes(self._cluster, user)
        if planned.get("failed") or not planned["plan"]["needed"]:
            # The components that are deployed alone may lack others.
            if planned.get("failed") and not attempt.alone:
                self.lines.append(f"{version} is refused: {planned['msg']}")
            return
        refs = {ref for objects in attempt.layout.desired(broken).values() for ref in objects}
        lines = run_disagreements(self._cluster, user, planned, wrap=lambda live: Faulty(live, attempt, refs))
        self.runs += 1
        self.lines += [f"{version} ({attempt.fault or 'no fault'}): {line}" for line in lines]


def test_random_releases_do_what_their_plans_say(own_cluster: OwnCluster, hops: list[str]) -> None:
    """All on one cluster: what an earlier one leaves is the past of the next."""
    del hops
    life = Life(own_cluster)

    # A repetition would meet another cluster.
    @given(lives())
    @settings(
        max_examples=examples(3, 50),
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Stage.generate],
        suppress_health_check=list(HealthCheck),
    )
    def live(steps: list[Step]) -> None:
        life.go_on(steps)

    live()
    assert not life.lines, "\n".join(life.lines)
    assert life.runs > 2


@pytest.fixture(scope="module")
def kyma_releases() -> dict[str, Release]:
    """The real releases of Kyma; without them the test is skipped (but not in CI)."""
    folder = Path(os.environ.get("KYMA_TEST_DATA") or ROOT.parent / "shared" / "data") / "kyma-releases"
    if not folder.is_dir():
        skip(f"no real releases: there is no {folder} (KYMA_TEST_DATA)")
    versions = ("2.9", "2.10", "2.11", "2.12")
    requests = {one: ReleaseRequest(str(folder / one), profile="evaluation") for one in versions}
    return {one: ControllerMaterials(request).release() for one, request in requests.items()}


UNKNOWN_FIELD = "ServiceMonitor kyma-system/eventing-nats: .spec.path "
"""The chart of Kyma has it, and its schema does not: the server warns of it, and does not store it."""

if IS_FULL:  # They take minutes.

    def test_the_real_releases_do_what_their_plans_say(
        kyma_releases: Mapping[str, Release], tmp_path: Path
    ) -> None:
        allowed = ["Job", "StatefulSet kyma-system/eventing-nats"]
        migrations = ControllerMaterials(None).migrations().migrations
        lines: list[str] = []
        with new_cluster(tmp_path / "cluster") as cluster:
            for version, given in kyma_releases.items():
                options = {"replace_immutable": allowed, "prune": version == "2.12"}
                user = user_of(cluster, given, *migrations, **options)
                planned = plan_without_writes(cluster, user)
                changes = run_disagreements(cluster, user, planned)
                lines += [f"{version}: {line}" for line in changes if not line.startswith(UNKNOWN_FIELD)]
                assert user.installation().version == version
        assert not lines, "\n".join(lines)
