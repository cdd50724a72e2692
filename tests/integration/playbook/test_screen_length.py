# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How much a first deployment of a real release of Kyma prints, into a file as in the log of a CI job."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.playbook_run import PLAYBOOK, Playbook

pytestmark = [pytest.mark.control_plane, pytest.mark.night]

MOST_LINES = 64
WAITING = re.compile(r"\[localhost\] \S+: (waiting|applying|rehearsing|rendering) .*\d+ of \d+")
"""Progress of which a busy machine has more."""


def printed(playbook: Playbook, release: Path, *arguments: str) -> list[str]:
    """The lines of a deployment without a terminal, at normal progress."""
    extra = json.dumps({"kyma_release": str(release), "kyma_profile": "evaluation"})
    done = subprocess.run(
        [str(Path(sys.executable).with_name("ansible-playbook")), PLAYBOOK, "-e", extra, *arguments],
        env={**playbook.environment, "KYMA_TEST_RECORD": str(playbook.folder / "record")},
        cwd=playbook.folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=400,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def rehearsed(playbook: Playbook, kyma_releases: Path) -> str:
    """What ``-v`` prints of the same plan."""
    return "\n".join(printed(playbook, kyma_releases / "2.11", "--check", "-v"))


@pytest.fixture(scope="module")
def deployed(playbook: Playbook, kyma_releases: Path, rehearsed: str) -> list[str]:
    """What the first deployment prints."""
    assert rehearsed
    return printed(playbook, kyma_releases / "2.11")


def test_a_first_deployment_needs_few_lines(deployed: list[str]) -> None:
    lines = [line for line in deployed if not WAITING.match(line)]
    assert len(lines) < MOST_LINES, "\n".join(deployed)


def test_a_short_screen_has_the_plan_and_the_end_of_each_component(deployed: list[str]) -> None:
    text = "\n".join(deployed)
    assert "15 components, 362 to create: foundation 31," in text
    assert "Plan: 362 to create, 0 to change, 0 to delete, 0 migrations" in text
    ended = [line for line in deployed if ": succeeded (" in line]
    assert sum(line.partition(": succeeded")[0].count(",") + 1 for line in ended) == 15
    assert re.search(r"seconds: plan .*, prerequisites .*, components ", text)
    assert re.search(r"component +10 others +succeeded", text)


def test_lines_that_are_cut_are_shown_with_v(deployed: list[str], rehearsed: str) -> None:
    assert re.search(r"  install   monitoring +102 to create", rehearsed)
    assert "note: ServiceMonitor kyma-system/eventing-nats: unknown field spec.path, which" in rehearsed
    assert "the API server warns: spec.template.spec.containers[2].ports[5]" in rehearsed
    assert sum("warnings about manifests of the release (-v shows all)" in line for line in deployed) == 2
