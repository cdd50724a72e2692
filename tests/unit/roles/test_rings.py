# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What one call of ``deploy_kyma`` with rings does: Ansible's own work, and scripted clusters."""

from __future__ import annotations

import json
import re
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest

from tests.support.extent import IS_FULL, cases
from tests.support.played_rings import (
    DIGEST,
    OLD_DIGEST,
    PlayedRings,
    deployable,
    done,
    rollout_facts,
    to_deploy,
    unhealthy,
)
from tests.support.played_role import OUTDATED, Played, begun, planned

HELD = {"failed": True, "state": "held", "msg": "it is held: the auditors are here"}
UNREACHABLE = {"failed": True, "state": "unreachable", "msg": "no answer"}
LOST = {"unreachable": True, "msg": "the bastion does not answer"}
REFUSED = {"failed": True, "state": "refused", "msg": "the plan is refused"}
FAILING = {"state": "failed", "failures": ["component shop: no room"], "msg": "Kyma is not deployed"}


@pytest.fixture
def fleet(tmp_path: Path) -> PlayedRings:
    return PlayedRings(tmp_path)


def planned_by(played: Played) -> list[str]:
    return sorted(host for module, _args, host in played.calls if module == "plan")


def deployed(played: Played) -> list[str]:
    """The hosts whose run ended, in the order of their ends."""
    return [host for _module, args, host in played.calls if args.get("state") == "finished"]


def test_a_call_deploys_to_the_first_ring_and_names_what_waits(fleet: PlayedRings) -> None:
    rings = {
        "canary": {"held": {"plan": [HELD]}, "c1": deployable("run-c1"), "gone": {"plan": [UNREACHABLE]}},
        "rest": {"r1": {"plan": [to_deploy()]}},
    }
    played = fleet.roll_out(rings, "--forks=2", kyma_ring_parallel=3).succeeded()
    assert deployed(played) == ["c1"]
    # Each cluster is planned once for the decision, and once more for its run.
    assert planned_by(played) == ["c1", "c1", "gone", "held", "r1"]
    assert "canary: not deployed yet: 1 cluster (c1)" in played.text
    decided, ended = played.text.split("PLAY RECAP", 1)
    assert "canary: may start, 1 to deploy now (3 clusters)\n" in decided
    rows = [" ".join(line.split()) for line in ended.partition("ROLLOUT *")[2].splitlines()]
    assert {"canary: done (3 clusters)", "rest: may start, 1 to deploy at the next call (1 cluster)"} <= {
        *rows
    }
    assert any(row.startswith("c1 2.11 → 2.12 succeeded healthy 20") for row in rows)
    assert "next: run the same command again now: rest may start" in rows
    assert "the ring canary is 3, and Ansible works on 2 hosts at a time" in played.text
    assert "each of these" not in played.text
    assert {host: counts["failed"] for host, counts in played.recap.items()} == dict.fromkeys(
        ("c1", "gone", "held", "r1"), 0
    )


def test_a_check_decides_and_begins_nothing(fleet: PlayedRings) -> None:
    rings = {"canary": {"c1": {"plan": [to_deploy()]}}, "rest": {"r1": {"plan": [to_deploy()]}}}
    played = fleet.roll_out(rings, "--check").succeeded()
    assert planned_by(played) == ["c1", "r1"]
    assert not played.of("run")
    assert "rest: waits (1 cluster): canary: not deployed yet: 1 cluster (c1)\n" in played.text
    # It was shown already.
    assert "ROLLOUT *" not in played.text
    assert "run the same command without --check now: canary may start" in " ".join(played.text.split())


def test_earlier_rings_outside_of_the_limit_are_planned_with_their_own_variables(fleet: PlayedRings) -> None:
    rings = {
        "canary": {"c1": {"plan": [done()]}, "c2": {"plan": [done()]}},
        "early": {"e1": {"plan": [done()]}},
        "rest": {"r1": deployable("run-r1"), "r2": {"plan": [done()]}, "other": {"plan": [done()]}},
        "last": {"l1": {}},
    }
    hosts = {"r1": "kyma_hops=auto", "c2": "kyma_hops=auto", "c1": "ansible_connection=local"}
    played = fleet.roll_out(rings, "--limit", "r1,r2", hosts=hosts).succeeded()
    hops = sorted((host, args["hops"]) for module, args, host in played.calls if module == "plan")
    assert hops == [
        ("c1", "refuse"),
        ("c2", "auto"),
        ("e1", "refuse"),
        ("other", "refuse"),
        ("r1", "auto"),
        ("r1", "auto"),
        ("r2", "refuse"),
    ]
    assert deployed(played) == ["r1"]
    # Not in the recap, which has only hosts of the limit.
    assert {"r1", "r2"} == {*played.recap}


@pytest.mark.parametrize(("most", "ended"), [(0, ["c1"]), (1, ["c1", "c2", "c3"])])
def test_a_ring_stops_when_too_many_clusters_have_failed(
    fleet: PlayedRings, most: int, ended: list[str]
) -> None:
    rings = {
        "canary": {
            "c1": deployable("run-c1", **FAILING),
            "c2": deployable("run-c2"),
            "c3": deployable("run-c3"),
        },
        "rest": {"r1": {"plan": [to_deploy()]}},
    }
    played = fleet.roll_out(rings, kyma_ring_parallel=1, kyma_ring_max_failures={"canary": most})
    assert played.status == 2, played.text
    assert deployed(played) == ended
    failed = {host for host, counts in played.recap.items() if counts["failed"]}
    assert failed == {"c1"}
    stopped = "nothing has begun here: the ring canary has stopped, as c1 failed"
    assert (stopped in played.text) is (most == 0)


def test_a_cluster_that_failed_in_an_earlier_call_is_tried_again_before_others_begin(
    fleet: PlayedRings,
) -> None:
    failed = to_deploy(run={"name": "run-1", "state": "failed", "release_digest": DIGEST})
    # A person holds it because an older release failed there.
    held = {
        **HELD,
        "rollout": rollout_facts(run={"name": "run-0", "state": "failed", "release_digest": "ef"}),
    }
    again = {**deployable("run-2"), "plan": [failed, failed]}
    rings = {"canary": {"held": {"plan": [held]}, "c1": {"plan": [to_deploy()]}, "c2": again}}
    played = fleet.roll_out(rings).succeeded()
    assert deployed(played) == ["c2"]


def test_a_cluster_without_a_plan_stops_no_other(fleet: PlayedRings) -> None:
    rings = {
        "canary": {"bad": {}, "c1": deployable("run-c1"), "far": {"plan": [LOST]}},
        "rest": {"r1": {"plan": [REFUSED]}},
    }
    hosts = {"bad": "kyma_hops='{{ nowhere }}'"}
    played = fleet.roll_out(rings, hosts=hosts, kyma_ring_max_failures=2)
    assert played.status == 2, played.text
    assert deployed(played) == ["c1"]
    failed = {host for host, counts in played.recap.items() if counts["failed"]}
    assert failed == {"bad", "r1"}


def test_a_release_that_changes_after_the_decision_is_not_deployed(fleet: PlayedRings) -> None:
    changed = {**deployable("run-c1"), "plan": [to_deploy(), to_deploy(release_digest=OLD_DIGEST)]}
    played = fleet.roll_out({"canary": {"c1": changed}})
    assert played.status == 2, played.text
    assert "the files of the release have changed" in played.text
    assert not played.of("run")


NOT_BEGUN = {"run started": [{"failed": True, "msg": "another run is active on this cluster"}]}
OVERTAKEN = {"run started": [OUTDATED]}
REFUSED_LATER = {"plan": [to_deploy(), to_deploy(), REFUSED], **OVERTAKEN}
DEPLOYED_MEANWHILE = {"plan": [to_deploy(), to_deploy(), done()], **OVERTAKEN}


@pytest.mark.parametrize(
    ("began", "status", "row"),
    cases(
        [(NOT_BEGUN, 2, "c1 2.11 → 2.12 failed unknown another run is active on this cluster")],
        [
            (REFUSED_LATER, 2, "c1 2.11 → 2.12 refused unknown the plan is refused"),
            (DEPLOYED_MEANWHILE, 0, "c1 2.12 unchanged healthy 20"),
        ],
    ),
)
def test_a_run_that_does_not_begin_leaves_its_cluster_as_it_is(
    fleet: PlayedRings, began: dict[str, Any], status: int, row: str
) -> None:
    rings = {"canary": {"c1": {**deployable(""), **began}}, "rest": {"r1": {"plan": [to_deploy()]}}}
    played = fleet.roll_out(rings)
    assert played.status == status, played.text
    ended = " ".join(played.text.partition("ROLLOUT *")[2].split())
    assert row in ended
    assert ("rest may start" in ended) is (status == 0)


def test_a_bastion_that_is_lost_in_a_run_ends_no_rollout(fleet: PlayedRings) -> None:
    lost = {**deployable("run-c1"), "component": [LOST], "run finished": [LOST]}
    rings = {"canary": {"c1": lost, "c2": deployable("run-c2")}}
    played = fleet.roll_out(rings, kyma_ring_parallel=1, kyma_ring_max_failures=1)
    assert played.status == 2, played.text
    assert deployed(played) == ["c1", "c2"]
    assert {host for host, counts in played.recap.items() if counts["failed"]} == {"c1"}
    assert played.recap["c1"]["rescued"] == 1


def test_the_report_has_each_cluster_once(fleet: PlayedRings, tmp_path: Path) -> None:
    rings = {"canary": {"c1": deployable("run-c1")}, "rest": {"r1": {"plan": [to_deploy()]}}}
    summary, junit, report = (tmp_path / name for name in ("summary.md", "junit.xml", "report.html"))
    files = {"kyma_summary": str(summary), "kyma_junit": str(junit), "kyma_report": str(report)}
    fleet.roll_out(rings, **files).succeeded()
    suites = re.findall(r'<testsuite name="([^"]+)"', junit.read_text())
    assert sorted(suites) == ["c1", "r1"]
    assert "waiting" in summary.read_text()
    assert sorted(re.findall(r"<h2>(c1|r1)</h2>", report.read_text())) == ["c1", "r1"]


def test_a_cluster_that_has_the_release_is_adopted(fleet: PlayedRings) -> None:
    unknown = done(installed_digest=OLD_DIGEST)
    answers = {"plan": [unknown, unknown], "run noted": [{"state": "unchanged"}]}
    played = fleet.roll_out({"canary": {"c1": answers}, "rest": {"r1": {"plan": [to_deploy()]}}}).succeeded()
    assert [args["state"] for args in played.of("run")] == ["noted"]


def test_a_done_cluster_that_is_not_healthy_fails(fleet: PlayedRings) -> None:
    rings = {"canary": {"c1": {"plan": [unhealthy()]}}, "rest": {"r1": {"plan": [to_deploy()]}}}
    played = fleet.roll_out(rings, "--limit", "rest")
    assert played.status == 2, played.text
    assert not deployed(played)
    assert "no pod is ready" in played.text


@pytest.mark.parametrize(("status", "state"), cases([(1, "wait")], [(0, "go"), (2, "failed")]))
def test_a_check_is_asked_before_a_ring_starts(
    fleet: PlayedRings, tmp_path: Path, status: int, state: str
) -> None:
    check = tmp_path / "check"
    check.write_text(f"#!/bin/sh\ncat > {tmp_path}/question\necho p99 is 900 ms\nexit {status}\n")
    check.chmod(0o755)
    # A host of the inventory may have this name.
    rings = {"canary": {"localhost": {"plan": [done()]}}, "rest": {"r1": deployable("run-r1")}}
    played = fleet.roll_out(rings, kyma_ring_check={"rest": "check"})
    assert played.status == (2 if state == "failed" else 0), played.text
    assert deployed(played) == ([] if status else ["r1"])
    assert f"the check of the ring rest: {state}: p99 is 900 ms" in played.text
    question = json.loads((tmp_path / "question").read_text())
    assert [(one["ring"], one["name"]) for one in question["clusters"]] == [
        ("canary", "localhost"),
        ("rest", "r1"),
    ]


@pytest.mark.parametrize("option", cases(["--syntax-check"], ["--list-tasks", "--tags=none"]))
def test_nothing_begins_where_no_task_of_the_rollout_does(fleet: PlayedRings, option: str) -> None:
    played = fleet.roll_out({"canary": {"c1": deployable("run-c1")}}, option).succeeded()
    assert not played.calls


REFUSALS = cases(
    [
        ({"kyma_serial": 1, "kyma_ring_soak": "soon"}, "kyma_ring_soak"),
        ({"kyma_soak": "2h"}, "Rename it to kyma_ring_soak"),
    ],
    [
        ({"kyma_ring_approval": ["rest"]}, "did you mean kyma_ring_approve?"),
        ({"kyma_approve": ["rest"]}, "Rename it to kyma_ring_approve"),
        ({"kyma_serial": 1, "kyma_plan_out": "plan.zip", "kyma_components": ["a"]}, "kyma_serial"),
        ({"kyma_ring_check": "no-such-check"}, "kyma_ring_check"),
        ({"kyma_rings": ["canary"]}, "kyma_rings"),
    ],
)


@pytest.mark.parametrize(("variables", "name"), REFUSALS)
def test_bad_variables_are_refused_before_any_plan(
    fleet: PlayedRings, variables: dict[str, Any], name: str
) -> None:
    rings = {"canary": {"c1": {"plan": [to_deploy()]}}, "rest": {"r1": {"plan": [to_deploy()]}}}
    played = fleet.roll_out(rings, **variables)
    assert played.status == 2, played.text
    assert name in played.text
    assert not played.calls


NAMED = '["canary", "rest"]'
FLEET = f"[fleet:children]\ncanary\nrest\n[fleet:vars]\nkyma_rings={NAMED}\n"
PLACES = cases(
    [{"fleet.ini": f"[all:vars]\nkyma_rings={NAMED}\n"}, {"rings.yml": f"kyma_rings: {NAMED}\n"}],
    [
        {"group_vars/all.yml": f"kyma_rings: '{{{{ named }}}}'\nnamed: {NAMED}\n"},
        {"fleet.ini": FLEET},
        {"host_vars/c1.yml": f"kyma_rings: {NAMED}\n", "host_vars/r1.yml": f"kyma_rings: {NAMED}\n"},
    ],
)


@pytest.mark.parametrize("files", PLACES)
def test_rings_are_read_where_other_variables_are(fleet: PlayedRings, files: dict[str, str]) -> None:
    rings = {"canary": {"c1": deployable("run-c1")}, "rest": {"r1": {"plan": [to_deploy()]}}}
    played = fleet.roll_out(rings, files=files, kyma_rings=None, kyma_ring_parallel=1).succeeded()
    assert deployed(played) == ["c1"]
    assert planned_by(played) == ["c1", "c1", "r1"]
    assert "rest: may start, 1 to deploy at the next call" in " ".join(played.text.split())


if IS_FULL:

    def test_with_a_limit_the_rings_of_the_inventory_count_too(fleet: PlayedRings) -> None:
        others = {"plan": [done()]}
        rings = {"canary": {"c1": others}, "rest": {"r1": deployable("run-r1"), "r2": others}}
        played = fleet.roll_out(rings, "--limit", "r1", files={"fleet.ini": FLEET}, kyma_rings=None)
        assert deployed(played.succeeded()) == ["r1"]
        assert planned_by(played) == ["c1", "r1", "r1", "r2"]


def test_rings_that_differ_between_hosts_are_refused(fleet: PlayedRings) -> None:
    rings = {"canary": {"c1": {"plan": [to_deploy()]}}, "rest": {"r1": {"plan": [to_deploy()]}}}
    played = fleet.roll_out(rings, hosts={"r1": f"kyma_rings='{NAMED}'"}, kyma_rings=None)
    assert played.status == 2, played.text
    assert (
        "rings (kyma_rings) is not set for c1 and ['canary', 'rest'] for r1, and must be the same for all"
        " hosts. Set it for all hosts, such as in group_vars/all.yml beside the inventory"
    ) in " ".join(played.text.split())
    assert not played.calls


@pytest.mark.night
def test_rings_of_the_call_have_precedence_over_those_of_the_inventory(fleet: PlayedRings) -> None:
    rings = {"canary": {"c1": deployable("run-c1")}, "rest": {"r1": deployable("run-r1")}}
    files = {"fleet.ini": '[all:vars]\nkyma_rings=["rest", "canary"]\n', "rings.yml": "kyma_rings: [no]\n"}
    assert deployed(fleet.roll_out(rings, files=files).succeeded()) == ["c1"]
    without = fleet.roll_out(rings, files=files, kyma_rings="none").succeeded()
    assert sorted(deployed(without)) == ["c1", "r1"]


def test_a_file_of_rings_has_no_other_variables(fleet: PlayedRings) -> None:
    rings = {"canary": {"c1": {"plan": [to_deploy()]}}}
    files = {"rings.yml": "kyma_rings: [canary]\nkyma_ring_sok: 2h\nkyma_profile: production\n"}
    played = fleet.roll_out(rings, files=files, kyma_rings=None)
    assert played.status == 2, played.text
    assert "rings.yml has kyma_ring_sok, kyma_profile, and may only have variables of rings" in played.text
    assert not played.calls


def test_an_inventory_with_groups_and_without_rings_costs_no_further_task(fleet: PlayedRings) -> None:
    rings = {"canary": {"c1": {"plan": [done()]}}, "rest": {"r1": {"plan": [done()]}}}
    plain = fleet.roll_out(rings, kyma_rings="none").succeeded()
    grouped = fleet.roll_out(rings, kyma_rings=None).succeeded()
    assert grouped.recap == plain.recap
    # The hosts of one task come in any order.
    [grouped_calls, plain_calls] = [sorted(played.calls, key=itemgetter(2)) for played in (grouped, plain)]
    assert grouped_calls == plain_calls
    # A banner comes again after one of another task.
    tasks = [set(re.findall(r"^TASK \[.*\]", played.text, re.MULTILINE)) for played in (grouped, plain)]
    assert tasks[0] == tasks[1]


@pytest.mark.parametrize(
    ("variable", "words", "serial"),
    cases(
        [
            ('kyma_rings=\'["c", "r"]\'', """-e '{"kyma_rings": ["c", "r"]}'""", {"kyma_serial": 1}),
            ("kyma_ring_approve=rest", "kyma_ring_approve is set", {}),
        ],
        [
            ("kyma_ring_soak=2h", "-e kyma_rings=none", {"kyma_serial": 1}),
            ("kyma_soak=2h", "Rename it to kyma_ring_soak", {}),
        ],
    ),
)
def test_rings_and_their_options_are_refused_in_a_deployment_without_rings(
    fleet: PlayedRings, variable: str, words: str, serial: dict[str, int]
) -> None:
    rings = {"canary": {"c1": {"plan": [to_deploy()]}}, "rest": {"r1": {"plan": [to_deploy()]}}}
    hosts = dict.fromkeys(("c1", "r1"), variable)
    played = fleet.roll_out(rings, hosts=hosts, kyma_rings=None, **serial)
    assert played.status == 2
    assert words in played.text
    assert not played.calls
    # Ansible begins no further batch.
    assert {host for host, counts in played.recap.items() if counts["failed"]} >= {"c1"}


@pytest.mark.night
def test_a_call_says_that_it_deploys_without_rings(fleet: PlayedRings) -> None:
    rings = {"canary": {"c1": deployable("run-c1")}, "rest": {"r1": deployable("run-r1")}}
    hosts = {"c1": "kyma_ring_soak=2h kyma_ring_minimum=1 kyma_ring_approve=''", "r1": "kyma_ring_check=a"}
    files = {"fleet.ini": "[all:vars]\nkyma_rings=none\n"}
    played = fleet.roll_out(rings, hosts=hosts, files=files, kyma_rings=None).succeeded()
    assert sorted(deployed(played)) == ["c1", "r1"]
    assert [args.get("rollout") for args in played.of("run") if args["state"] == "started"] == [None, None]


def test_empty_options_of_rings_need_no_rings(fleet: PlayedRings) -> None:
    empty = {"kyma_ring_soak": "", "kyma_ring_approve": [], "kyma_ring_minimum": 1, "kyma_ring_check": ""}
    fleet.roll_out({"all": {"c1": deployable("run-c1")}}, kyma_rings="", **empty).succeeded()


def test_a_first_ring_without_hosts_is_refused(fleet: PlayedRings) -> None:
    rings: dict[str, Any] = {"canary": {}, "rest": {"r1": {"plan": [to_deploy()]}}}
    played = fleet.roll_out(rings)
    assert played.status == 2, played.text
    assert "kyma_rings begins with canary, a group without hosts" in played.text
    assert not played.calls


def test_a_run_names_the_ring_whose_gate_let_it_begin(fleet: PlayedRings, tmp_path: Path) -> None:
    release = str(tmp_path / "release")
    way = planned(release, release, previous="2.10", version="2.11", release_digest=OLD_DIGEST, unhealthy=[])
    to_hop = {**way, "changed": True, "rollout": rollout_facts()}
    answers = deployable("run-c1")
    hops = {
        **answers,
        "run finished": answers["run finished"] * 2,
        "plan": [to_hop, to_hop, to_hop, to_deploy()],
        "run started": [OUTDATED, begun("run-c1"), begun("run-c2")],
    }
    rings = {"canary": {"c1": hops}, "rest": {"r1": {"plan": [to_deploy()]}}}
    played = fleet.roll_out(rings, kyma_hops="auto").succeeded()
    begins = [args["rollout"] for args in played.of("run") if args["state"] == "started"]
    # Also those of a plan that was made again, and of a hop.
    assert begins == [{"ring": "canary", "release_digest": DIGEST}] * 3


@pytest.mark.night
def test_with_numbers_a_run_that_does_not_begin_fails_only_its_cluster(fleet: PlayedRings) -> None:
    c1 = {**deployable(""), "plan": [to_deploy()], **NOT_BEGUN}
    c2 = {**deployable("run-c2"), "plan": [to_deploy()]}
    away = {"plan": [UNREACHABLE]}
    played = fleet.roll_out({"all": {"c1": c1, "c2": c2, "c3": away}}, kyma_rings=None, kyma_serial=3)
    assert played.status == 2
    assert deployed(played) == ["c2"]
    assert {host for host, counts in played.recap.items() if counts["failed"]} == {"c1", "c3"}
