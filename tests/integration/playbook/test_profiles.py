# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The profile of a cluster: an upgrade keeps it, and only a word of the user changes it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cluster.paths import BIN
from tests.support.kubectl import kubectl
from tests.support.own_cluster import OwnCluster
from tests.support.playbook_run import Outcome, Playbook
from tests.support.small_release import NAMESPACE, SmallRelease

from .remote_host import inventory_elsewhere

pytestmark = [pytest.mark.control_plane, pytest.mark.night]

TEMPLATE = """
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {size: {{ .Values.size | quote }}, version: {{ .Values.version | quote }}}
"""
COMPONENT = [
    {
        "hosts": "localhost",
        "gather_facts": False,
        "tasks": [
            {
                "kyma.lifecycle.component": {
                    "release": "{{ release }}",
                    "names": ["shop"],
                    "profile": "{{ profile }}",
                }
            }
        ],
    }
]
"""A playbook of a user, who deploys a component without a run."""


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Releases of one chart: each with the profiles production and evaluation, but 2.13, which has none."""
    folder = tmp_path_factory.mktemp("releases")
    for version in ("2.9", "2.10", "2.11", "2.12", "2.13"):
        release = SmallRelease(folder / version).chart(
            "shop", f"size: plain\nversion: '{version}'\n", settings=TEMPLATE
        )
        (release.folder / "release.yaml").write_text(f"version: '{version}'\n")
        for profile in ("production", "evaluation") if version != "2.13" else ():
            (release.folder / "shop" / f"profile-{profile}.yaml").write_text(f"size: {profile}\n")
    return folder


@pytest.fixture(scope="module", autouse=True)
def _environment(playbook: Playbook) -> None:
    """Finds Helm, and the connection plugin, which does not lie beside the playbook of the collection."""
    playbook.settings["PATH"] = f"{BIN}:{playbook.environment['PATH']}"
    playbook.settings["ANSIBLE_CONNECTION_PLUGINS"] = str(playbook.folder / "connection_plugins")


@pytest.fixture(params=["here", "elsewhere"])
def arguments(request: pytest.FixtureRequest, playbook: Playbook) -> Sequence[str]:
    """Both carriers: the work is done in Ansible's own process, and by a module that is shipped."""
    return [] if request.param == "here" else inventory_elsewhere(playbook.folder)


def settings(cluster: OwnCluster) -> dict[str, str]:
    config = cluster.api.get("v1", "ConfigMap", "settings", NAMESPACE)
    assert config
    return dict(config["data"])


def recorded_profile(cluster: OwnCluster) -> str:
    return kubectl(cluster.kubeconfig, "get", "kyin", "kyma", "-o", "jsonpath={.status.profile}")


def writes(outcome: Outcome) -> list[str]:
    return [str(request) for request in outcome.requests if request.persists]


def test_a_new_cluster_has_the_profile_that_is_requested(
    releases: Path, playbook: Playbook, own_cluster: OwnCluster
) -> None:
    first = playbook.deploy(releases / "2.9", profile="production").succeeded()
    assert "Kyma 2.9 (production):" in first.text
    assert settings(own_cluster) == {"size": "production", "version": "2.9"}
    assert recorded_profile(own_cluster) == "production"


def test_nothing_to_do_is_one_task_that_reads_without_and_with_the_profile(
    releases: Path, playbook: Playbook, arguments: Sequence[str]
) -> None:
    named = playbook.deploy(releases / "2.9", *arguments, profile="production").succeeded()
    unnamed = playbook.deploy(releases / "2.9", *arguments).succeeded()
    assert "Kyma 2.9 (production): nothing to do" in named.text
    assert "Kyma 2.9 (deployed profile production): nothing to do" in unnamed.text
    for outcome in (named, unnamed):
        assert outcome.recap["changed"] == 0
        assert len([result for result in outcome.results if "plan" in result]) == 1
        assert writes(outcome) == []
    assert len(unnamed.requests) == len(named.requests)
    assert unnamed.plan["profile"] == unnamed.plan["previous_profile"] == "production"


@pytest.mark.parametrize("profile", ["none", "evaluation"])
def test_another_profile_is_refused_without_a_word_of_the_user(
    releases: Path, playbook: Playbook, arguments: Sequence[str], profile: str
) -> None:
    for version in ("2.9", "2.10"):
        options = {"profile": profile}
        message = playbook.deploy(releases / version, *arguments, **options).refused()
        assert f"profile production → {profile}: " in message
        assert "change_profile=true (kyma_change_profile)" in message


def test_a_component_alone_does_not_change_the_profile_unseen(
    releases: Path, playbook: Playbook, own_cluster: OwnCluster
) -> None:
    variables = {"release": str(releases / "2.9")}
    playbook.play(json.dumps(COMPONENT), **variables, profile="").succeeded()
    assert settings(own_cluster) == {"size": "production", "version": "2.9"}
    refused = playbook.play(json.dumps(COMPONENT), **variables, profile="evaluation").failed()
    assert "profile production → evaluation: " in refused.results[0]["msg"]
    assert settings(own_cluster) == {"size": "production", "version": "2.9"}
    assert playbook.deploy(releases / "2.9").succeeded().recap["changed"] == 0


def test_an_upgrade_without_a_profile_keeps_the_deployed_one_and_says_so(
    releases: Path, playbook: Playbook, own_cluster: OwnCluster
) -> None:
    rehearsed = playbook.deploy(releases / "2.10", "--check", "--diff").succeeded()
    assert "Kyma 2.9 → 2.10 (deployed profile production):" in rehearsed.text
    [change] = [one for one in rehearsed.diff if "ConfigMap" in one["before_header"]]
    assert "size: plain" not in change["after"]
    upgraded = playbook.deploy(releases / "2.10").succeeded()
    assert "Kyma 2.9 → 2.10 (deployed profile production):" in upgraded.text
    assert settings(own_cluster) == {"size": "production", "version": "2.10"}
    assert recorded_profile(own_cluster) == "production"


def test_hops_from_another_host_keep_it_too(
    releases: Path, playbook: Playbook, own_cluster: OwnCluster
) -> None:
    elsewhere = inventory_elsewhere(playbook.folder)
    hops = playbook.deploy(releases / "2.12", *elsewhere, hops="auto").succeeded()
    assert "Kyma 2.10 → 2.11 (deployed profile production), hop 1 of 2, exact:" in hops.text
    assert "Kyma 2.11 → 2.12 (deployed profile production), hop 2 of 2, provisional" in hops.text
    assert settings(own_cluster) == {"size": "production", "version": "2.12"}
    assert recorded_profile(own_cluster) == "production"


def test_a_release_without_the_deployed_profile_is_refused(
    releases: Path, playbook: Playbook, arguments: Sequence[str]
) -> None:
    message = playbook.deploy(releases / "2.13", *arguments).refused()
    assert "the release has no profile 'production', which the cluster has: it has no profiles" in message
    assert "profile=none (kyma_profile)" in message
    assert "change_profile=true (kyma_change_profile)" in message


def test_a_plan_that_was_stored_does_not_outlive_a_change_of_the_profile(
    releases: Path, playbook: Playbook, own_cluster: OwnCluster
) -> None:
    playbook.deploy(releases / "2.12", plan_out="same.json").succeeded()
    changed = {"profile": "evaluation", "change_profile": True, "plan_out": "plan.json"}
    planned = playbook.deploy(releases / "2.12", **changed).succeeded()
    assert "Kyma 2.12 (profile production → evaluation):" in planned.text
    assert writes(planned) == []
    applied = playbook.deploy("", plan="plan.json").succeeded()
    assert "Kyma 2.12 (profile production → evaluation):" in applied.text
    assert settings(own_cluster) == {"size": "evaluation", "version": "2.12"}
    assert recorded_profile(own_cluster) == "evaluation"
    outdated = playbook.deploy("", plan="same.json").refused()
    assert "profile" in outdated


def test_the_plan_shows_both_profiles_where_the_user_allows_the_change(
    releases: Path, playbook: Playbook, own_cluster: OwnCluster, arguments: Sequence[str]
) -> None:
    options = {"profile": "none", "change_profile": True}
    changed = playbook.deploy(releases / "2.13", *arguments, **options).succeeded()
    if not arguments:
        assert "Kyma 2.12 → 2.13 (profile evaluation → none):" in changed.text
    assert settings(own_cluster) == {"size": "plain", "version": "2.13"}
    assert recorded_profile(own_cluster) == ""
    again = playbook.deploy(releases / "2.13", *arguments).succeeded()
    assert again.recap["changed"] == 0
    assert "Kyma 2.13: nothing to do" in again.text
