# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An upgrade over several releases whose last one is refused: all outputs say alike what was written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.audit import writes
from tests.support.extent import IS_FULL
from tests.support.hop_outputs import (
    HopOutputs,
    assert_outputs_agree_on_a_refused_end,
    installation_of,
    sums_of,
)
from tests.support.own_cluster import OwnCluster
from tests.support.playbook_run import Outcome, Playbook
from tests.support.result_schema import check_result
from tests.support.small_release import SmallRelease, config_map, deployment

pytestmark = [pytest.mark.control_plane, pytest.mark.night]

VERSIONS = ("1.0", "1.1", "1.2", "1.3")


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The releases 1.0 to 1.3. The last one changes the immutable selector of a Deployment."""
    folder = tmp_path_factory.mktemp("releases")
    for version in VERSIONS:
        release = SmallRelease(folder / version)
        (release.folder / "release.yaml").write_text(f"version: '{version}'\n")
        web = deployment("web")
        if version == "1.3":
            web["spec"]["selector"]["matchLabels"] = {"app": "other"}
            web["spec"]["template"]["metadata"]["labels"] = {"app": "other"}
        extra = [config_map("extra")] if version == "1.1" else []
        release.component("first", config_map("first", v=version), *extra)
        release.component("web", config_map("web", v=version), web)
    return folder


@pytest.fixture(scope="module")
def first(playbook: Playbook, releases: Path) -> Outcome:
    """The first deployment."""
    return playbook.deploy(releases / "1.0").succeeded()


@pytest.fixture(scope="module")
def checked(playbook: Playbook, releases: Path, first: Outcome) -> Outcome:
    """A rehearsal of the whole way."""
    assert first.status == 0
    return playbook.deploy(releases / "1.3", "--check", hops="auto").succeeded()


def test_a_rehearsal_says_in_its_last_lines_how_far_the_way_leads_and_what_stops_it(checked: Outcome) -> None:
    assert writes(checked.requests) == []
    outputs = HopOutputs(checked, Path())
    check_result(outputs.result)
    states = [(hop["from"], hop["to"], hop["state"]) for hop in outputs.hops]
    assert states == [("1.0", "1.1", "planned"), ("1.1", "1.2", "planned"), ("1.2", "1.3", "refused")]
    assert all(set(hop["written"].values()) == {0} for hop in outputs.hops)
    sums = [_planned(hop["planned"]) for hop in outputs.hops]
    lines = outputs.last_lines
    assert lines[0].startswith("localhost: planned, Kyma 1.0 → 1.3, ")
    assert lines[1:5] == [
        f"1. 1.0 → 1.1: {sums[0]}",
        f"2. 1.1 → 1.2: {sums[1]}, provisional",
        f"3. 1.2 → 1.3: {sums[2]}, would be refused, provisional",
        "the way leads to 1.2: the hop to 1.3 would be refused, for 1 reason",
    ]
    assert lines[5].startswith("web: apply Deployment small/web: ")
    assert "selector" in lines[5]
    assert lines[-1] == (
        "next: nothing was written; correct what stops the way, or run the playbook without --check to apply"
        " the plan as far as it leads"
    )


def _planned(counts: dict[str, int]) -> str:
    words = {"created": "to create", "changed": "to change", "replaced": "to replace", "deleted": "to delete"}
    text = sums_of(counts)
    for done, planned in words.items():
        text = text.replace(done, planned)
    return text


def test_after_hops_of_which_the_last_is_refused_all_outputs_say_the_same(
    checked: Outcome, playbook: Playbook, releases: Path, own_cluster: OwnCluster, tmp_path: Path
) -> None:
    assert checked.status == 0
    files = HopOutputs.files(tmp_path)
    outputs = HopOutputs(playbook.deploy(releases / "1.3", hops="auto", **files).failed(), tmp_path)
    assert_outputs_agree_on_a_refused_end(outputs, own_cluster)
    # A second call has no other hop, and has written nothing at all.
    again = HopOutputs(playbook.deploy(releases / "1.3", hops="auto", **files).failed(), tmp_path)
    assert [(hop["from"], hop["to"], hop["state"]) for hop in again.hops] == [("1.2", "1.3", "refused")]
    assert again.last_lines[-4:] == [
        "next: nothing was written; correct the blockers, then run the same playbook again",
        *(f"{name}: {files[name]}" for name in ("report", "summary", "junit")),
    ]
    assert installation_of(own_cluster)["VERSION"] == "1.2"


if IS_FULL:  # They take minutes.

    def test_kyma_2_12_is_refused_after_two_hops_and_all_outputs_say_the_same(
        playbook: Playbook, kyma_releases: Path, own_cluster: OwnCluster, tmp_path: Path
    ) -> None:
        options = {"profile": "evaluation", "replace_immutable": ["Job"]}
        release = kyma_releases / "2.12"
        playbook.delete().succeeded()
        playbook.deploy(kyma_releases / "2.9", **options).succeeded()
        checked = HopOutputs(
            playbook.deploy(release, "--check", hops="auto", **options).succeeded(), tmp_path
        )
        [end] = [line for line in checked.last_lines if line.startswith("the way leads to 2.11: ")]
        assert end.startswith("the way leads to 2.11: the hop to 2.12 would be refused, for ")
        files = HopOutputs.files(tmp_path)
        outcome = playbook.deploy(release, hops="auto", **options, **files).failed()
        outputs = HopOutputs(outcome, tmp_path)
        assert [hop["to"] for hop in outputs.hops] == ["2.10", "2.11", "2.12"]
        assert_outputs_agree_on_a_refused_end(outputs, own_cluster)
