# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a playbook's end says: each independent reason once, where, and what to do."""

from __future__ import annotations

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.cluster_state import STATES, ClusterState
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._last_lines.playbook_summary import (
    NEXT_STEPS,
    summarize,
)

UNHEALTHY = (
    "component {0}: Deployment small/{0}: ReplicaSet timed out; pod {0}-5d758d7759-{1}, container main: {2}"
)
NEVER = "never started: frontend (it needs checkout, which failed)"


def end(cluster: str, *failures: str, state: str = "failed", run: str = "r1") -> ClusterState:
    return ClusterState(cluster, "2.9", "2.10", state, 3.0, failures, run)


def pull(component: str, random: str = "tcv2x", why: str = "ImagePullBackOff") -> str:
    return UNHEALTHY.format(component, random, why)


def with_context(cluster: str, command: str) -> str:
    return command.replace("kubectl", f"kubectl --context {cluster}")


def test_a_reason_names_its_pod_and_a_command_that_reaches_its_cluster() -> None:
    summary = summarize([end("eu", pull("checkout"), NEVER)], with_context)
    [reason] = summary.reasons
    assert (reason.subjects, reason.pod) == (("component checkout",), "small/checkout-5d758d7759-tcv2x")
    assert reason.command == "kubectl --context eu -n small describe pod checkout-5d758d7759-tcv2x"
    assert [one.text for one in summary.never_started] == [NEVER]
    assert summary.record == "kubectl --context eu describe kymaruns r1"


def test_reasons_keep_the_order_in_which_they_came() -> None:
    summary = summarize([end("eu", pull("web"), pull("cart"), "migration global/move: no such table")])
    assert [one.subjects[0] for one in summary.reasons] == [
        "component web",
        "component cart",
        "migration global/move",
    ]


@pytest.mark.parametrize(
    ("one", "other", "entries"),
    [
        (pull("web"), pull("web", "bbbbb"), 1),
        (pull("web", why="a after 5 restarts"), pull("web", why="a after 6 restarts"), 1),
        (pull("web", why="ended with exit code 1"), pull("web", why="ended with exit code 137"), 2),
        (pull("web"), pull("cart"), 2),
        ("component web: no answer", "component cart: no answer", 2),
    ],
)
def test_clusters_with_the_same_reason_share_an_entry(one: str, other: str, entries: int) -> None:
    summary = summarize([end("eu", one), end("us", other)])
    assert len(summary.reasons) == entries
    if entries == 1:
        assert summary.reasons[0].clusters == ("eu", "us")


def test_components_with_the_same_reason_share_an_entry() -> None:
    [reason] = summarize([end("eu", "component a: no answer", "component b: no answer")]).reasons
    assert (reason.subjects, reason.text) == (("component a", "component b"), "no answer")


def test_failed_clusters_come_before_those_that_are_held_or_were_never_reached() -> None:
    ends = [
        end("never", state="not started"),
        end("held", "the cluster is held", state="held", run=""),
        end("fine", state="succeeded"),
        end("eu", "component a: it hangs"),
    ]
    summary = summarize(ends)
    assert [one.clusters[0] for one in summary.reasons] == ["eu", "held", "never"]
    assert [one.cluster for one in summary.clusters] == ["never", "held", "fine", "eu"]
    # A cluster that was not started needs what the others need.
    assert summary.next_steps == (NEXT_STEPS["failed"], NEXT_STEPS["held"])


def test_a_cancelled_component_follows_from_the_cancellation() -> None:
    failures = ("cancelled by alice", "component a: cancelled, all is applied, and not healthy yet")
    summary = summarize([end("eu", *failures, state="cancelled")])
    assert [one.text for one in summary.reasons] == ["cancelled by alice"]


def test_a_note_about_commands_is_a_step_before_them() -> None:
    note = "run kubectl on bastion, as its kubeconfig is there"
    assert summarize([end("eu", "it hangs")], notes={"eu": note}).next_steps[-1] == note


def test_success_needs_no_step() -> None:
    summary = summarize([end("eu", state="succeeded"), end("us", state="unchanged")], report="report.html")
    assert (summary.reasons, summary.next_steps, summary.record) == ((), (), "")
    assert summary.report == "report.html"


def test_each_other_state_that_a_playbook_ends_with_has_a_step() -> None:
    # No playbook ends with `running`; only readers of records see `lost` and `unknown`.
    without = {"succeeded", "unchanged", "running", "unknown"}
    assert set(STATES) - set(NEXT_STEPS) == without
