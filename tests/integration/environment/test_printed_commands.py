# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands of the tutorial and of guides work as printed.

Those of the tutorial also print what the page shows. The guides show the output of Kyma's own releases.
Here a small release has their names.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.cluster.paths import ROOT
from tests.support.extent import IS_FULL
from tests.support.own_cluster import new_cluster
from tests.support.printed_blocks import FAILS, Command, blocks_of, missing_lines
from tests.support.reader import Reader, installed_reader

pytestmark = pytest.mark.control_plane

TUTORIAL = "docs/tutorial.md"
GUIDES = (
    "docs/guide_job_store.md",
    "docs/guide_first_deployment.md",
    "docs/guide_upgrade.md",
    "docs/guide_release.md",
    "docs/guide_modules.md",
    "docs/guide_report.md",
    "docs/guide_migrations.md",
    "docs/guide_errands.md",
    "docs/guide_night.md",
    "docs/guide_awx.md",
    "docs/guide_delete.md",
)
"""In an order in which the cluster has what each page needs."""
VERSIONS = ("2.9", "2.10", "2.11")


def read_page(page: str) -> str:
    """The Markdown of a page."""
    return (ROOT / page).read_text(encoding="utf-8")


def write_world(reader: Reader) -> None:
    """Write the releases and the inventory that the guides name into the folder of the collection."""
    for version in VERSIONS:
        release = reader.collection / "releases" / version
        shutil.copytree(reader.collection / "examples" / "release", release)
        shutil.copytree(release / "frontend", release / "production" / "frontend")
        (release / "release.yaml").write_text(f'version: "{version}"\n')
    [inventory] = re.findall(
        r"^```yaml\n# inventory.yml\n(.*?)^```", read_page("docs/guide_modules.md"), re.MULTILINE | re.DOTALL
    )
    content = yaml.safe_load(inventory)
    content["all"]["vars"]["kyma_release"] = "releases/2.10"
    (reader.collection / "inventory.yml").write_text(yaml.safe_dump(content))
    (reader.home / ".kube").mkdir()
    shutil.copy(reader.cluster.kubeconfig, reader.home / ".kube" / "staging")


def problem_of(command: Command, code: int, printed: str, *, may_fail: bool) -> str:
    """How a command differs from its page; empty if it does not."""
    if (code != 0) != may_fail:
        return f"$ {command.typed}\nended with {code}:\n{printed}"
    missing = missing_lines(command.printed, printed)
    return f"$ {command.typed}\ndid not print {missing[0]!r}:\n{printed}" if missing else ""


def problems_of(reader: Reader, page: str, folder: Path, *, compares_output: bool) -> list[str]:
    """How the commands of a page differ from it."""
    typed = [
        (
            command if compares_output else Command(command.typed, ()),
            block.comment == FAILS and command is block.commands[-1],
        )
        for block in blocks_of(read_page(page))
        if block.is_run
        for command in block.commands
    ]
    assert typed
    ends = reader.paste_each([command.typed for command, _may_fail in typed], folder)
    problems = [
        problem_of(command, code, printed, may_fail=may_fail)
        for (command, may_fail), (code, printed) in zip(typed, ends, strict=True)
    ]
    return [problem for problem in problems if problem]


if IS_FULL:

    @pytest.fixture(scope="module")
    def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
        """A reader who has done what README.md says first, with an empty cluster."""
        with new_cluster(tmp_path_factory.mktemp("cluster")) as cluster:
            installed = installed_reader(tmp_path_factory.mktemp("home"), cluster)
            write_world(installed)
            yield installed

    def test_the_tutorial_works_as_printed(reader: Reader) -> None:
        assert problems_of(reader, TUTORIAL, reader.home, compares_output=True) == []

    @pytest.mark.parametrize("page", GUIDES)
    def test_the_commands_of_a_guide_work_as_printed(reader: Reader, page: str) -> None:
        assert problems_of(reader, page, reader.collection, compares_output=False) == []


def test_a_command_that_fails_or_prints_something_else_is_reported() -> None:
    command = Command("kubectl get kyin", ["kyma  1.0  True"])
    assert problem_of(command, 0, "kyma 1.1   True\n", may_fail=False) == ""
    assert "ended with 1" in problem_of(command, 1, "kyma 1.1 True\n", may_fail=False)
    assert "ended with 0" in problem_of(command, 0, "kyma 1.1 True\n", may_fail=True)
    assert "did not print" in problem_of(command, 0, "kyma 1.1 False\n", may_fail=False)
