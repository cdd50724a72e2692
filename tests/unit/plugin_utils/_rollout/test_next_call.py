# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When to run a rollout again, what it needs before that, and how runs end after a decision."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._result_codec import from_result, to_result
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.cluster_state import ClusterState
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._last_lines.closing_lines import render_summary
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._last_lines.playbook_summary import (
    NextStep,
    summarize,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._rollout.local_time import with_local_times
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._rollout.model import Rollout
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._rollout.next_call import (
    DEPLOY,
    FOR_REAL,
    Call,
    rollout_steps,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._rollout.rollout_result import (
    with_ends,
)

from tests.support.rollout_samples import (
    COMPLETE,
    DIGEST,
    HELD,
    LONG_NAME,
    OPEN_ROLLOUT,
    OPENING,
    STOPPED_ROLLOUT,
    UNREACHABLE,
    WAITING_ROLLOUT,
    ZONE,
)

FROM = "next: run the same command again from 2026-11-27 09:40 CET (2026-11-27T08:40:00Z), when"
SOAKING = replace(WAITING_ROLLOUT, rings=WAITING_ROLLOUT.rings[:2])
APPROVAL = NextStep(
    "next: approve ring rest with the variables of this call, then run the same command again",
    f"ansible-playbook kyma.lifecycle.approve_ring -e kyma_ring=rest -e kyma_release_digest={DIGEST}"
    " -e kyma_reason=WHY",
)


@pytest.mark.parametrize(
    ("rollout", "undeployed", "steps"),
    [
        (COMPLETE, (), [NextStep("the rollout of Kyma 2.11 is complete")]),
        (WAITING_ROLLOUT, (), [NextStep(f"{FROM} early may start")]),
        (SOAKING, (), [NextStep(f"{FROM} the soak of canary is over")]),
        (OPEN_ROLLOUT, (), [APPROVAL]),
        (replace(OPEN_ROLLOUT, next_at=OPENING), ("eu-9",), [APPROVAL, NextStep(f"{FROM} more may be done")]),
        (
            OPEN_ROLLOUT,
            ("eu-1",),
            [APPROVAL, NextStep("next: run the same command again now: early may start")],
        ),
        (STOPPED_ROLLOUT, (), []),
        (Rollout(), (), []),
    ],
)
def test_the_next_call_is_named(rollout: Rollout, undeployed: tuple[str, ...], steps: list[NextStep]) -> None:
    assert rollout_steps(rollout, Call(undeployed=undeployed), ZONE) == steps


def test_a_check_is_followed_by_a_deployment() -> None:
    approval, start = rollout_steps(OPEN_ROLLOUT, Call(FOR_REAL, ["eu-1"]), ZONE)
    assert approval.text.endswith(", then run the same command without --check")
    assert start.text == (
        "next: nothing was written; run the same command without --check now: early may start"
    )
    [later] = rollout_steps(WAITING_ROLLOUT, Call(FOR_REAL), ZONE)
    assert later.text.startswith("next: run the same command without --check from 2026-11-27 09:40 CET (")


def test_a_playbook_that_only_decides_names_the_one_that_deploys() -> None:
    assert rollout_steps(OPEN_ROLLOUT, Call(DEPLOY, ["eu-1"]), ZONE) == [
        NextStep("next: once ring rest is approved, run kyma.lifecycle.deploy_kyma"),
        NextStep("next: run kyma.lifecycle.deploy_kyma now: early may start"),
    ]


def test_a_rollout_is_complete_without_the_clusters_that_are_out() -> None:
    rings = (*COMPLETE.rings, replace(COMPLETE.rings[1], name="early", clusters=(HELD, UNREACHABLE)))
    [step] = rollout_steps(replace(COMPLETE, rings=rings), Call())
    assert step.text == f"the rollout of Kyma 2.11 is complete, except for eu-9, {LONG_NAME}"


def test_the_steps_of_a_rollout_stand_in_the_last_lines() -> None:
    ends = [
        ClusterState("canary-1", "2.11", "2.11", "unchanged", 0.4),
        ClusterState("us-1", "2.10", "2.11", "waiting", 0.4, ("rest: no approval for this release",)),
    ]
    summary = summarize(ends, rollout=rollout_steps(OPEN_ROLLOUT, Call(), ZONE))
    assert render_summary(summary, 80) == [
        "1 waiting (us-1), 1 unchanged: Kyma 2.10, 2.11 → 2.11, 0.4 s",
        "[us-1] rest: no approval for this release",
        "next: approve ring rest with the variables of this call, then run the same",
        "  command again",
        f"  {APPROVAL.command}",
    ]
    assert summarize(ends).next_steps == ("run the same playbook again after the ring before it is deployed",)
    wrapped = render_summary(summarize(ends, rollout=rollout_steps(WAITING_ROLLOUT, Call(), ZONE)), 60)
    assert wrapped[-2:] == [
        "next: run the same command again from 2026-11-27 09:40 CET",
        "  (2026-11-27T08:40:00Z), when early may start",
    ]


@pytest.mark.parametrize("rollout", [WAITING_ROLLOUT, OPEN_ROLLOUT, COMPLETE, STOPPED_ROLLOUT, Rollout()])
def test_a_result_is_read_again(rollout: Rollout) -> None:
    assert from_result(Rollout, to_result(rollout)) == rollout


def test_a_rollout_shows_how_runs_have_ended() -> None:
    again = replace(
        OPEN_ROLLOUT.rings[1].clusters[0], reason="soaks until 2026-11-27T08:40:00Z", previous="2.11"
    )
    rings = (replace(OPEN_ROLLOUT.rings[1], clusters=(again, *OPEN_ROLLOUT.rings[1].clusters[1:])),)
    ended = with_ends(
        replace(OPEN_ROLLOUT, rings=rings),
        [
            ClusterState("eu-1", "2.10", "2.11", "succeeded", 60.0),
            ClusterState("eu-2", "2.10", "2.11", "failed", 60.0, ("component checkout: no memory",)),
            ClusterState("eu-3", "2.10", "2.11", "planned"),
        ],
    )
    assert [(one.previous, one.state, one.health, one.reason) for one in ended.rings[0].clusters] == [
        ("2.10", "succeeded", "healthy", "soaks until 2026-11-27T08:40:00Z"),
        ("2.10", "failed", "unknown", "component checkout: no memory"),
        ("2.10", "planned", "healthy", ""),
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("until 2026-07-01T08:40:00Z.", "until 2026-07-01 10:40 CEST."),
        ("from 2026-11-27T08:40:30.500Z", "from 2026-11-27 09:40:30 CET"),
        ("at 2026-11-27T08:40:00+02:00", "at 2026-11-27 07:40 CET"),
        ("release 2026-11-27, run 20261127-084000-29541c", "release 2026-11-27, run 20261127-084000-29541c"),
        ("2026-13-45T08:40:00Z", "2026-13-45T08:40:00Z"),
        ("0001-01-01T00:00:00+14:00", "0001-01-01T00:00:00+14:00"),
    ],
)
def test_times_are_shown_in_the_zone(text: str, shown: str) -> None:
    assert with_local_times(text, ZONE) == shown


def test_the_zone_is_the_one_of_this_machine_by_default() -> None:
    local = datetime(2026, 11, 27, 8, 40, tzinfo=UTC).astimezone()
    assert with_local_times("2026-11-27T08:40:00Z", None) == f"{local:%Y-%m-%d %H:%M %Z}"


def test_an_approval_names_the_inventory_and_the_files_of_variables() -> None:
    odd = replace(OPEN_ROLLOUT, rings=(replace(OPEN_ROLLOUT.rings[2], name="the rest"),))
    [step] = rollout_steps(odd, Call(inventory=["fleet.ini", "my fleet"], files=["@rings.yml"]))
    assert step.command.startswith(
        "ansible-playbook -i fleet.ini -i 'my fleet' kyma.lifecycle.approve_ring -e @rings.yml"
        " -e 'kyma_ring=the rest' -e kyma_release_digest="
    )
