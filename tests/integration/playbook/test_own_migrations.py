# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Migrations of the user's own, beside the playbook: side by side, failing, hanging, unusable."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.own_cluster import OwnCluster
from tests.support.playbook_run import Outcome, Playbook
from tests.support.small_release import NAMESPACE, Object, SmallRelease, config_map, mark_of, marking

pytestmark = pytest.mark.control_plane

# What fails or hangs in its rehearsal already would stop the plan: the first time it does neither.
ONLY_FOR_REAL = """if Path("{flag}").exists(): {what}
        Path("{flag}").touch()"""


@pytest.fixture(scope="module")
def outcome(playbook: Playbook, small: SmallRelease, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """A deployment with a component whose migrations do well, one whose fails and one whose hangs."""
    flags = tmp_path_factory.mktemp("flags")
    fails = ONLY_FOR_REAL.format(flag=flags / "fails", what='raise MigrationError("the disk burns")')
    hangs = ONLY_FOR_REAL.format(flag=flags / "hangs", what="time.sleep(3600)")
    path = "from pathlib import Path"
    for name in ("well", "failing", "hanging", "other"):
        small.component(name, config_map(name))
    playbook.migration("well", marking("One", "well", "pre", body="time.sleep(1)"))
    playbook.migration("well_too", marking("Two", "well", "pre", body="time.sleep(1)"))
    playbook.migration("failing", path + marking("Burn", "failing", "pre", body=fails))
    playbook.migration("hanging", path + marking("Wait", "hanging", "pre", body=hangs, more="timeout = 1"))
    return playbook.deploy(small.folder).failed()


def _mark(cluster: OwnCluster, name: str, component: str, phase: str) -> Object:
    mark = cluster.api.get("v1", "ConfigMap", mark_of(name, component, phase), "default")
    assert mark
    return mark


def test_two_of_one_phase_overlap_and_both_end_before_the_apply(
    outcome: Outcome, own_cluster: OwnCluster
) -> None:
    one, two = (_mark(own_cluster, name, "well", "pre")["data"] for name in ("One", "Two"))
    assert max(float(one["began"]), float(two["began"])) < min(float(one["ended"]), float(two["ended"]))
    target = f"configmaps {NAMESPACE}/well"
    applied = next(
        request.time for request in outcome.requests if request.persists and request.target == target
    )
    assert applied > max(float(one["ended"]), float(two["ended"]))
    assert outcome.components["well"]["state"] == "succeeded"


def test_a_failed_migration_is_reported_and_its_component_is_not_applied(
    outcome: Outcome, own_cluster: OwnCluster
) -> None:
    assert outcome.migrations["failing/burn"]["state"] == "failed"
    assert outcome.components["failing"]["state"] == "failed"
    assert "- component failing: migration failing/burn: the disk burns" in outcome.reasons
    assert own_cluster.api.get("v1", "ConfigMap", "failing", NAMESPACE) is None


def test_one_that_hangs_is_ended_by_its_own_timeout(outcome: Outcome, own_cluster: OwnCluster) -> None:
    migration = outcome.migrations["hanging/wait"]
    assert migration["state"] == "timeout"
    assert 1 <= migration["seconds"] < 5
    [line] = [line for line in outcome.reasons.splitlines() if line.startswith("- component hanging:")]
    assert "migration hanging/wait" in line
    assert "1 s" in line
    assert own_cluster.api.get("v1", "ConfigMap", "hanging", NAMESPACE) is None
    # Nobody waits for it afterwards.
    assert outcome.run["seconds"] < 60


def test_other_components_go_on(outcome: Outcome, own_cluster: OwnCluster) -> None:
    assert outcome.components["other"]["state"] == "succeeded"
    assert own_cluster.api.get("v1", "ConfigMap", "other", NAMESPACE)


def test_one_that_fails_when_rehearsed_stops_the_plan(
    playbook: Playbook, outcome: Outcome, small: SmallRelease, tmp_path: Path
) -> None:
    assert outcome.status
    place = tmp_path / "other.py"
    place.write_text(marking("Sink", "other", "post", body='raise MigrationError("the ship sinks")'))
    message = playbook.deploy(small.folder, migration_paths=[str(tmp_path)]).refused()
    assert "other/sink" in message
    assert "the ship sinks" in message


def test_all_unusable_migrations_are_reported_and_nothing_runs(
    playbook: Playbook, outcome: Outcome, small: SmallRelease, tmp_path: Path
) -> None:
    assert outcome.status
    (tmp_path / "broken.py").write_text("class Broken:\n    def (\n")
    homeless = marking("Homeless", "other", "pre").replace('component = "other"', "")
    (tmp_path / "homeless.py").write_text(homeless)
    (tmp_path / "twin.py").write_text(marking("One", "well", "pre"))
    for name, other in (("hen", "egg"), ("egg", "hen")):
        code = marking(name.title(), "other", "pre", more=f'after = ["other/{other}"]')
        (tmp_path / f"{name}.py").write_text(code)
    message = playbook.deploy(small.folder, migration_paths=[str(tmp_path)]).refused()
    lines = [line for line in message.splitlines() if line.startswith("- ")]
    assert any(f"{tmp_path}/broken.py:2" in line for line in lines)
    assert any(f"{tmp_path}/homeless.py" in line and "component" in line for line in lines)
    assert any("well/one" in line and f"{tmp_path}/twin.py" in line and "/well.py" in line for line in lines)
    assert any("other/hen" in line and "other/egg" in line for line in lines)
    assert len(lines) == 4
