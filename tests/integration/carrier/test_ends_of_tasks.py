# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of clusters says what Ansible says of the end of each task, wherever the task works."""

from __future__ import annotations

import shutil
import socket
import sys
from typing import Any

import pytest

from tests.support.result_schema import check_result
from tests.support.small_release import SmallRelease, config_map

from .conftest import CONNECTION, HERE, THERE, Outcome, Playbooks, play

RELEASE = {"release": "{{ playbook_dir }}/release"}


def plan(host: str = CONNECTION["host"], **keywords: Any) -> dict[str, Any]:
    """A task that plans a deployment to a cluster that does not answer."""
    options = {**CONNECTION, **RELEASE, "host": host}
    return {"name": "plan", "kyma.lifecycle.plan": options, **keywords}


def role(**variables: Any) -> dict[str, Any]:
    """The role that deploys."""
    connection = {f"kyma_{name}": value for name, value in (CONNECTION | RELEASE).items()}
    return {
        "ansible.builtin.include_role": {"name": "kyma.lifecycle.kyma", "rolespec_validate": False},
        "vars": {**connection, **variables},
    }


def rows(outcome: Outcome) -> dict[str, tuple[str, str, str]]:
    """The state, the seconds and the first reason of each cluster in the table."""
    lines = [line for _time, line in outcome.lines]
    table = lines[next(n for n, line in enumerate(lines) if line.startswith("CLUSTERS ")) + 2 :]
    return {host: _row(line) for line in table for host in (HERE, THERE) if line.split(" ")[0] == host}


def _row(line: str) -> tuple[str, str, str]:
    _cluster, _previous, _version, state, seconds, *reason = line.split()
    return state, seconds, " ".join(reason)


@pytest.fixture(autouse=True)
def release(playbooks: Playbooks) -> None:
    """A release of one component."""
    folder = playbooks.folder / "release"
    shutil.rmtree(folder, ignore_errors=True)
    SmallRelease(folder).component("one", config_map("one"))


def test_an_option_of_the_role_that_has_no_value_fails_its_cluster(playbooks: Playbooks) -> None:
    broken = {
        "kyma_release": "{{ no_such_variable if inventory_hostname == 'here' else 'release' }}",
        "kyma_profile": "{{ 1 / 0 if inventory_hostname == 'there' else '' }}",
    }
    outcome = playbooks.run(play(role(**broken)))
    reasons = {HERE: "'no_such_variable' is undefined", THERE: "division by zero"}
    assert set(rows(outcome)) == set(reasons)
    for host, (state, _seconds, first) in rows(outcome).items():
        assert state == "failed"
        assert reasons[host] in first
        check_result(outcome.results[host, "kyma.lifecycle.kyma : Plan"])


def test_a_plan_in_the_background_has_its_own_state(playbooks: Playbooks) -> None:
    keywords = {"async": 60, "poll": "{{ (inventory_hostname == 'here') | int }}"}
    own = {"ansible_python_interpreter": sys.executable}
    outcome = playbooks.run(play(plan(vars=own, **keywords)))
    # Nothing says how a task without a poll ends.
    states = {host: row[0] for host, row in rows(outcome).items()}
    assert states == {HERE: "unreachable", THERE: "running"}, outcome.text
    check_result(outcome.results[HERE, "plan"])


def test_a_plan_that_ansible_ends_has_failed(playbooks: Playbooks) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        host = f"http://127.0.0.1:{silent.getsockname()[1]}"
        outcome = playbooks.run(play(plan(host=host, timeout=3)))
    for state, _seconds, reason in rows(outcome).values():
        assert state == "failed", outcome.text
        assert "Timed out after 3 second(s)" in reason


def test_the_last_time_of_a_repeated_plan_counts(playbooks: Playbooks) -> None:
    again = plan(retries=1, delay=0, register="it", until="it is succeeded", ignore_errors=True)
    outcome = playbooks.run(play(again))
    for host, row in rows(outcome).items():
        result = outcome.results[host, "plan"]
        assert result["attempts"] == 1
        assert row == ("unreachable", f"{result['seconds']:.1f}", row[2])
        assert row[2].startswith("no answer from")
