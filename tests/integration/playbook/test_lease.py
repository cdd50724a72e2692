# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One at a time: two deployers at once, one that stands still, one whose lease is taken from it."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.fence import LeaseLost
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.access.rights import Right
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.acquisition import (
    AcquiredLease,
    Acquisition,
    LeaseRequest,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.held_lease import read_lease
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.lease import (
    LEASE_API_VERSION,
    LEASE_NAME,
    LEASE_OBJECT_KIND,
    LIFECYCLE_NAMESPACE,
    Holder,
    Lease,
)

from tests.support.extent import IS_FULL
from tests.support.own_cluster import OwnCluster
from tests.support.playbook_run import Outcome, Playbook, Running
from tests.support.small_release import NAMESPACE as SMALL
from tests.support.small_release import SmallRelease, config_map, marking

pytestmark = pytest.mark.control_plane

RECORDS = "lifecycle.kyma-project.io/v1"
PAIRS = int(os.environ.get("KYMA_TEST_PAIRS", "1"))
"""How many pairs of deployers start at the same moment."""
ACCOUNT = "deployer"
DEPLOYER = f"system:serviceaccount:{LIFECYCLE_NAMESPACE}:{ACCOUNT}"
SHORT = 8
"""Seconds that a lease lasts here."""
SLOW = marking("Slow", "global", "pre", body="time.sleep(6)")
LATER = marking("Later", "global", "pre", body="time.sleep(6)")


class Deployers:
    """Two people with a release that is new for each deployment."""

    def __init__(self, playbooks: list[Playbook], cluster: OwnCluster, release: SmallRelease) -> None:
        self.playbooks = playbooks
        self.cluster = cluster
        self.release = release
        self._round = 0
        release.component("first", config_map("first", round="0"))
        release.component("second", config_map("second", round="0"))

    def renew(self) -> str:
        """Write the release anew; how its first component is to be."""
        self._round += 1
        for name in ("first", "second"):
            self.release.write(name, config_map(name, round=str(self._round)))
        return str(self._round)

    def deploy(self, number: int, **options: Any) -> Outcome:
        return self.playbooks[number].deploy(self.release.folder, **options)

    def deployed(self, name: str = "first") -> str:
        live = self.cluster.api.get("v1", "ConfigMap", name, SMALL)
        return str(live["data"]["round"]) if live else ""

    def runs(self) -> list[dict[str, Any]]:
        """All runs, the oldest first."""
        runs = self.cluster.api.list(RECORDS, "KymaRun").items
        return sorted(runs, key=lambda run: str(run["metadata"]["name"]))

    def lease(self) -> Lease:
        return read_lease(self.cluster.api)

    def leftovers(self) -> list[str]:
        """The Secrets of runs that are still there, and who has the lease."""
        secrets = self.cluster.api.list("v1", "Secret", LIFECYCLE_NAMESPACE).items
        return [str(one["metadata"]["name"]) for one in secrets] + [self.lease().holder] * bool(
            self.lease().holder
        )


@pytest.fixture(scope="module")
def deployers(
    own_cluster: OwnCluster, tmp_path_factory: pytest.TempPathFactory, small: SmallRelease
) -> Deployers:
    folders = [tmp_path_factory.mktemp(name) for name in ("alice", "bob")]
    # Administrators, who may make tokens of the account: what somebody lacks for that is tried beside it.
    playbooks = [Playbook(folder, own_cluster.kubeconfig, own_cluster.audit) for folder in folders]
    return Deployers(playbooks, own_cluster, small)


@pytest.fixture
def account(own_cluster: OwnCluster) -> Iterator[None]:
    """The ServiceAccount of the fence, which may do everything."""
    subject = {"kind": "ServiceAccount", "name": ACCOUNT, "namespace": LIFECYCLE_NAMESPACE}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "everything-for-the-deployer"},
        "roleRef": role,
        "subjects": [subject],
    }
    make_account(own_cluster)
    own_cluster.api.apply(binding)
    yield
    own_cluster.api.delete("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", binding["metadata"]["name"])
    own_cluster.api.delete("v1", "ServiceAccount", ACCOUNT, LIFECYCLE_NAMESPACE)


def make_account(cluster: OwnCluster) -> None:
    cluster.api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": LIFECYCLE_NAMESPACE}})
    meta = {"name": ACCOUNT, "namespace": LIFECYCLE_NAMESPACE}
    cluster.api.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta})


def test_without_a_service_account_a_run_says_that_its_fence_is_advisory(deployers: Deployers) -> None:
    expected = deployers.renew()
    outcome = deployers.deploy(0).succeeded()
    reason = f"there is no ServiceAccount {LIFECYCLE_NAMESPACE}/{ACCOUNT}"
    assert (
        f"writes are not fenced: a run that loses its lease could still write, because {reason}"
        in outcome.text
    )
    assert (deployers.deployed(), deployers.leftovers()) == (expected, [])
    assert deployers.runs()[-1]["status"]["lease"]["note"] == reason


def test_a_deployment_without_changes_reads_no_lease(deployers: Deployers) -> None:
    before = deployers.lease()
    outcome = deployers.deploy(0).succeeded()
    assert [str(one) for one in outcome.requests if LIFECYCLE_NAMESPACE in one.uri or one.persists] == []
    assert deployers.lease() == before


@pytest.mark.usefixtures("account")
def test_a_run_writes_by_its_own_token_alone(deployers: Deployers) -> None:
    expected = deployers.renew()
    outcome = deployers.deploy(0).succeeded()
    assert deployers.deployed() == expected
    writes = [one for one in outcome.requests if one.persists and "kyma" in one.uri]
    others = {one.target for one in writes if one.user != DEPLOYER}
    run = deployers.runs()[-1]["metadata"]["name"]
    secret, account = (
        f"secrets {LIFECYCLE_NAMESPACE}/run-{run}",
        f"serviceaccounts {LIFECYCLE_NAMESPACE}/{ACCOUNT}",
    )
    lease = f"leases {LIFECYCLE_NAMESPACE}/{LEASE_NAME}"
    assert others - {f"secrets {LIFECYCLE_NAMESPACE}"} == {secret, account, lease}
    kinds = ("leases", "secrets", "serviceaccounts", "selfsubjectrulesreviews")
    spent = Counter(
        f"{one.verb} {one.target.partition(' ')[0]}"
        for one in outcome.requests
        if one.target.partition(" ")[0] in kinds and "kyma" in one.uri
    )
    assert spent == {
        "get leases": 1,
        "get serviceaccounts": 1,
        "create secrets": 1,
        # A token for each process that writes.
        "create serviceaccounts": 3,
        # The user's by the plan, which also asks whether one is let through, and the token's.
        "create selfsubjectrulesreviews": 3,
        # One is a dry run of the plan.
        "patch leases": 3,
        "delete secrets": 1,
    }
    assert deployers.leftovers() == []


def test_an_account_that_may_too_little_is_not_used(deployers: Deployers) -> None:
    make_account(deployers.cluster)
    expected = deployers.renew()
    outcome = deployers.deploy(0).succeeded()
    assert (
        f"the ServiceAccount {LIFECYCLE_NAMESPACE}/{ACCOUNT} lacks rights that this run needs: "
        in outcome.text
    )
    assert (deployers.deployed(), deployers.leftovers()) == (expected, [])
    deployers.cluster.api.delete("v1", "ServiceAccount", ACCOUNT, LIFECYCLE_NAMESPACE)


@pytest.mark.parametrize("pair", range(PAIRS))
def test_of_two_at_the_same_moment_one_works_and_both_finish(deployers: Deployers, pair: int) -> None:
    del pair
    expected, before = deployers.renew(), len(deployers.runs())
    start = threading.Barrier(2)

    def deploy(number: int) -> Outcome:
        start.wait()
        return deployers.deploy(number, lease_wait=120)

    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(deploy, (0, 1)))
    for outcome in outcomes:
        outcome.succeeded()
    assert (deployers.deployed("first"), deployers.deployed("second")) == (expected, expected)
    assert len(deployers.runs()) == before + 1, [outcome.text for outcome in outcomes]
    assert deployers.leftovers() == []


@pytest.mark.night
def test_a_run_that_does_not_wait_fails_and_names_the_holder(deployers: Deployers) -> None:
    deployers.renew()
    deployers.playbooks[0].migration("slow", SLOW.replace("time.sleep(6)", "time.sleep(20)"))
    texts: list[str] = []

    def meanwhile(line: str, _running: Running) -> None:
        if "running" in line and "global/slow" in line and not texts:
            texts.append(deployers.deploy(1).failed().text)

    deployers.deploy(0, watch=meanwhile).succeeded()
    run = deployers.runs()[-1]
    assert f"{run['metadata']['name']} of {run['status']['begin']['startedBy']} (process " in texts[0]
    assert "holds its lease, and renewed it while" in texts[0]
    assert forget_mark(deployers)


def forget_mark(deployers: Deployers, name: str = "slow") -> bool:
    """Have the slow migration be needed again."""
    return deployers.cluster.api.delete("v1", "ConfigMap", f"global-pre-{name}", "default")


def processes_of(playbook: Playbook) -> list[int]:
    mark = f"KYMA_TEST_RECORD={playbook.folder}/".encode()
    ids = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (process / "environ").read_bytes():
                ids.append(int(process.name))
        except OSError:
            continue
    return ids


@pytest.mark.usefixtures("account")
@pytest.mark.parametrize("wakes", ["at work", *(["afterwards"] if IS_FULL else [])])
def test_a_run_that_stands_still_is_taken_over_and_writes_no_more(deployers: Deployers, wakes: str) -> None:
    expected = deployers.renew()
    alice, bob = deployers.playbooks
    alice.migration("slow", SLOW)
    bob.migration("later", LATER)
    second: list[Outcome] = []
    stopped: list[int] = []

    def wake() -> None:
        while stopped:
            with suppress(ProcessLookupError):
                os.kill(stopped.pop(), signal.SIGCONT)

    def of_bob(line: str, _running: Running) -> None:
        if wakes == "at work" and "running" in line and "global/later" in line:
            wake()

    def meanwhile(line: str, _running: Running) -> None:
        if "running" in line and "global/slow" in line and not second:
            stopped.extend(processes_of(alice))
            for process in stopped:
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGSTOP)
            try:
                second.append(deployers.deploy(1, watch=of_bob))
                assert bool(stopped) == (wakes == "afterwards")
            finally:
                wake()

    first = deployers.deploy(0, lease_seconds=SHORT, watch=meanwhile).failed()
    second[0].succeeded()
    assert "has lost the lease of the cluster, so it may write no more: " in first.text
    assert "taking over (from " in second[0].text
    assert (deployers.deployed(), deployers.leftovers()) == (expected, [])
    # What she was at when she was stopped came to no effect afterwards: he had no such migration.
    assert not forget_mark(deployers)
    assert forget_mark(deployers, "later")
    (bob.folder / "kyma_migrations" / "later.py").unlink()
    older, newer = deployers.runs()[-2:]
    assert (older["status"]["state"], newer["status"]["state"]) == ("cancelled", "succeeded")
    assert newer["metadata"]["name"] in older["status"]["cancelled"]
    if wakes == "at work":
        assert f"{newer['metadata']['name']} of " in first.text


def take(deployers: Deployers, **more: Any) -> None:
    """Have another holder in the lease, who is silent."""
    spec = {"holderIdentity": Holder("b", "bob@laptop", 8).identity, **more}
    deployers.cluster.api.patch(
        LEASE_API_VERSION, LEASE_OBJECT_KIND, LEASE_NAME, LIFECYCLE_NAMESPACE, {"spec": spec}
    )


def take_over(deployers: Deployers) -> str:
    take(deployers, leaseTransitions=deployers.lease().epoch + 1)
    return "b of bob@laptop (process 8)"


def overwrite(deployers: Deployers) -> str:
    take(deployers)
    return "others have written b of bob@laptop (process 8)"


def delete(deployers: Deployers) -> str:
    deployers.cluster.api.delete(LEASE_API_VERSION, LEASE_OBJECT_KIND, LEASE_NAME, LIFECYCLE_NAMESPACE)
    return "the Lease kyma-lifecycle/deployment was deleted"


@pytest.mark.usefixtures("account")
@pytest.mark.parametrize("harm", [overwrite, *([take_over, delete] if IS_FULL else [])])
def test_a_run_whose_lease_is_taken_in_the_middle_stops_and_names_the_holder(
    deployers: Deployers, harm: Callable[[Deployers], str]
) -> None:
    before = deployers.deployed()
    deployers.renew()
    alice = deployers.playbooks[0]
    alice.migration("slow", SLOW)
    reasons: list[str] = []

    def meanwhile(line: str, _running: Running) -> None:
        if "running" in line and "global/slow" in line:
            reasons.append(harm(deployers))

    outcome = deployers.deploy(0, lease_seconds=SHORT, watch=meanwhile).failed()
    assert reasons[0] in outcome.text
    assert deployers.deployed() == before
    # Who is silent is taken over, so that the next one goes on by itself.
    expected = deployers.renew()
    deployers.deploy(1).succeeded()
    assert (deployers.deployed(), deployers.leftovers()) == (expected, [])
    forget_mark(deployers)


def test_a_release_with_the_lease_is_refused_before_the_first_write(deployers: Deployers) -> None:
    before = deployers.lease()
    lease = {
        "apiVersion": LEASE_API_VERSION,
        "kind": LEASE_OBJECT_KIND,
        "metadata": {"name": LEASE_NAME, "namespace": LIFECYCLE_NAMESPACE},
        "spec": {"holderIdentity": "a backup's"},
    }
    deployers.renew()
    deployers.release.write(
        "second", config_map("second"), {"apiVersion": "v1", "kind": "List", "items": [lease]}
    )
    outcome = deployers.deploy(0).failed()
    assert "second/all.yaml:3: Lease kyma-lifecycle/deployment belongs to the collection" in outcome.text
    assert [str(one) for one in outcome.requests if one.persists] == []
    assert deployers.lease() == before


def acquired_lease(
    cluster: OwnCluster, holder: Holder, sleep: Callable[[float], None] = time.sleep
) -> AcquiredLease:
    claim = LeaseRequest(holder, 2, 0, ACCOUNT, (Right("patch", "", "configmaps"),))
    return Acquisition(cluster.api, claim, lambda *_report: None, lambda: False, sleep=sleep).acquire()


@pytest.mark.usefixtures("account")
def test_the_server_refuses_a_holder_whose_lease_was_taken_over(
    deployers: Deployers,
) -> None:
    cluster = deployers.cluster
    mark = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "mark", "namespace": "default"}}
    alice = acquired_lease(cluster, Holder("a", "alice@bastion", 7))
    alice.cluster.apply({**mark, "data": {"by": "alice"}})
    bob = acquired_lease(cluster, Holder("b", "bob@laptop", 8))
    with bob.tenure.keep_renewed():
        bob.cluster.apply({**mark, "data": {"by": "bob"}}, force=True)
        alice.tenure._until = float("inf")
        with (
            cluster.audit.recorded() as requests,
            pytest.raises(LeaseLost, match=r"b of bob@laptop \(process 8\)"),
        ):
            alice.cluster.apply({**mark, "data": {"by": "alice"}}, force=True)
    [refused] = [one for one in requests if one.target == "configmaps default/mark"]
    assert refused.status == 401
    live = cluster.api.get("v1", "ConfigMap", "mark", "default")
    assert live is not None
    assert live["data"] == {"by": "bob"}
    bob.tenure.release()
