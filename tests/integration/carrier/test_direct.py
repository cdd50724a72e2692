# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads: in Ansible's own process or shipped, they answer alike."""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from .conftest import CONNECTION, HERE, REPO, THERE, Outcome, Playbooks, play

KEY = CONNECTION["api_key"]
SECRETS = {"digit": "4", "word": "one", "long": "geheim-456"}


def quick(name: str, **options: Any) -> dict[str, Any]:
    return {"name": name, "kyma_test.carried.quick": {**CONNECTION, **options}, "ignore_errors": True}


ALIKE = [
    quick("plain", number="7"),
    quick("paths", values_files="values.yaml", migration_paths=["inventory"]),
    quick("deliberate", fail="the volume can't grow: do this"),
    quick("unknown", nonsense=1),
    quick("choice", mode="three"),
    quick("type", number="many"),
    quick("exclusive", fail="x", release_version="2.9"),
    quick("alias", verify_ssl=False),
    {**quick("environment"), "environment": {"KYMA_TEST_VARIABLE": "seen"}},
    {**quick("check"), "check_mode": True, "diff": True},
    quick("missing path", release="nowhere/2.9"),
]
"""Tasks that answer alike on both ways."""
RUN = {**CONNECTION, "state": "started", "plan": {"blockers": ["the cluster is held"]}}


@pytest.fixture(scope="module")
def outcome(playbooks: Playbooks) -> Outcome:
    """What came of all tasks that can be in one book."""
    playbooks.environment["ANSIBLE_INJECT_INVOCATION"] = "true"
    (playbooks.folder / "values.yaml").write_text("logging: {}\n")
    # An override takes a chart, and so helm: it is left out by the same rule as these.
    rendered = {
        "release": str(REPO / "examples" / "release"),
        "values_files": ["values.yaml"],
        "helm_binary": "a-secret-place",
        "migration_paths": [str(playbooks.folder)],
    }
    defaults = {"group/kyma.lifecycle.kyma": {**CONNECTION, "proxy": "http://127.0.0.1:2"}}
    return playbooks.run(
        play(
            *ALIKE,
            quick("values", values=SECRETS),
            quick("values by an alias", texts=SECRETS),
            quick("defect", defect=True),
            {"name": "begin", "kyma.lifecycle.run": RUN, "ignore_errors": True},
        ),
        play(
            {"name": "read", "kyma.lifecycle.run_info": {}, "ignore_errors": True}, module_defaults=defaults
        ),
        play(quick("rendered", **rendered), hosts=THERE),
    )


def test_short_secrets_hide_nothing_of_a_result_and_are_shown_nowhere(outcome: Outcome) -> None:
    for host in (HERE, THERE):
        for name in ("values", "values by an alias"):
            result = outcome.results[host, name]
            assert result["lengths"] == {"digit": 1, "word": 3, "long": 10}
            assert (result["params"]["number"], result["params"]["mode"]) == (4, "one")
            assert KEY not in result["said"]
            assert "geheim-456" not in str(result)
    invocation = outcome.results[THERE, "values by an alias"]["invocation"]["module_args"]
    assert invocation["values"] == invocation["texts"] == "VALUE_SPECIFIED_IN_NO_LOG_PARAMETER"
    assert "geheim-456" not in outcome.text


def test_both_ways_answer_alike(playbooks: Playbooks, outcome: Outcome) -> None:
    results = outcome.results
    programs = {host: results[host, "plain"]["program"] for host in (HERE, THERE)}
    assert programs[HERE] == "ansible-playbook"
    assert "ansible-playbook" not in programs[THERE]
    for name in (task["name"] for task in ALIKE):
        here, there = ({**results[host, name]} for host in (HERE, THERE))
        for result in (here, there):
            result.pop("program", None)
            result.pop("invocation", None)
        assert here == there, name

    plain = results[HERE, "plain"]
    assert plain["params"]["number"] == 7
    assert plain["params"]["mode"] == "one"
    assert plain["changed"] is False
    assert plain["cluster"] == "LiveCluster"
    assert plain["warnings"] == ["mind the gap"]
    assert results[HERE, "paths"]["params"]["values_files"] == [str(playbooks.folder / "values.yaml")]
    assert results[HERE, "deliberate"]["msg"] == "the volume can't grow: do this"
    assert results[HERE, "deliberate"]["failed"] is True
    assert (
        "Unsupported parameters for (kyma_test.carried.quick) module: nonsense"
        in results[HERE, "unknown"]["msg"]
    )
    assert "one of: one, two" in results[HERE, "choice"]["msg"]
    assert results[HERE, "alias"]["params"]["validate_certs"] is False
    assert results[HERE, "environment"]["environment"] == "seen"
    assert (results[HERE, "check"]["check"], results[HERE, "check"]["diff_mode"]) == (True, True)
    assert str(playbooks.folder / "nowhere/2.9") in results[HERE, "missing path"]["msg"]
    assert "[here] quick: asked" in outcome.text
    assert KEY not in outcome.text
    assert KEY not in playbooks.record.read_text()


def test_a_defect_shows_as_one(outcome: Outcome) -> None:
    for host in (HERE, THERE):
        result = outcome.results[host, "defect"]
        assert result["failed"] is True
        assert "a defect" in result["msg"]


def test_a_run_is_begun_here_or_in_the_background_there_and_leaves_no_files(
    playbooks: Playbooks, outcome: Outcome
) -> None:
    for host in (HERE, THERE):
        assert "the cluster is held" in outcome.results[host, "begin"]["msg"]
    assert playbooks.async_dir.is_dir()
    assert list(playbooks.async_dir.iterdir()) == []


def test_options_can_be_set_for_the_whole_group(outcome: Outcome) -> None:
    for host in (HERE, THERE):
        assert "127.0.0.1" in outcome.results[host, "read"]["msg"]


ROUTED: list[dict[str, Any]] = [
    {"kyma.lifecycle.component_info": {}},
    {"component_info": {}, "collections": ["kyma.lifecycle"]},
    {
        "kyma.lifecycle.component_info": {},
        "async": 60,
        "poll": 1,
        "vars": {"ansible_python_interpreter": sys.executable},  # for Ansible's own async_status
    },
]
"""Tasks of a module that another one's action plugin runs."""


@pytest.mark.night
def test_a_module_without_an_action_plugin_has_its_own_options_and_defaults(playbooks: Playbooks) -> None:
    defaults = {
        "group/kyma.lifecycle.kyma": CONNECTION,
        "kyma.lifecycle.component_info": {"host": "https://127.0.0.1:2"},
        "kyma.lifecycle.run_info": {"limit": 1},
    }
    tasks = [{"name": str(number), "ignore_errors": True, **task} for number, task in enumerate(ROUTED)]
    outcome = playbooks.run(play(*tasks, module_defaults=defaults))
    for key in product((HERE, THERE), map(str, range(len(ROUTED)))):
        assert "https://127.0.0.1:2 " in outcome.results[key]["msg"], key


def test_options_that_the_rendered_release_replaces_are_not_sent(
    playbooks: Playbooks, outcome: Outcome
) -> None:
    params = outcome.results[THERE, "rendered"]["params"]
    assert (params["release"], params["values_files"], params["overrides"]) == (None, [], [])
    assert params["migration_paths"] == [str(playbooks.folder)]
    assert "a-secret-place" not in playbooks.record.read_text()


def test_a_kubeconfig_of_the_environment_is_relative_to_where_people_are(tmp_path: Path) -> None:
    playbooks = Playbooks(tmp_path)
    playbooks.environment["KUBECONFIG"] = "inventory/kubeconfig"
    background = {**quick("background"), "async": 60, "poll": 1}
    background["vars"] = {"ansible_python_interpreter": sys.executable}  # for Ansible's own async_status
    results = playbooks.run(play(quick("read"), background, hosts=HERE)).results
    expected = str(tmp_path / "inventory" / "kubeconfig")
    assert results[HERE, "read"]["kubeconfig"] == expected
    assert results[HERE, "background"]["kubeconfig"] == expected
    assert results[HERE, "background"]["program"] != "ansible-playbook"
