# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples of QuarksJob, taken as they are, on a real API server."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.quarks_job import is_quarks_job

from tests.cluster.paths import ROOT
from tests.support.needs import skip

from .conftest import Author

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def quarks_jobs() -> Path:
    """The folder with the examples; without them the test is skipped (but not in CI)."""
    folder = Path(os.environ.get("KYMA_TEST_DATA") or ROOT.parent / "shared" / "data") / "quarks-jobs"
    if not folder.is_dir():
        skip(f"no examples of QuarksJob: there is no {folder} (KYMA_TEST_DATA)")
    return folder


def documents(folder: Path, name: str) -> tuple[Object, list[Object]]:
    """The QuarksJob of an example, and the other objects of it."""
    objects: list[Any] = [one for one in yaml.safe_load_all((folder / f"{name}.yaml").read_text()) if one]
    (quarks_job,) = [one for one in objects if is_quarks_job(one)]
    return quarks_job, [one for one in objects if one is not quarks_job]


@pytest.mark.parametrize(
    ("name", "runs", "strategy"),
    [
        ("qjob_auto-errand", 1, "done"),
        ("qjob_auto-errand-deletes-pod", 1, "done"),
        ("qjob_errand", 0, "manual"),
        ("qjob_errand_updated", 1, "manual"),
    ],
)
def test_an_example_runs_and_is_unchanged_the_second_time(
    author: Author, quarks_jobs: Path, name: str, runs: int, strategy: str
) -> None:
    definition, _others = documents(quarks_jobs, name)
    done = author.errand(definition=definition).succeeded()
    assert (done.result["run"], done.result["errand"]["trigger"]) == (runs, strategy)
    assert done.result["outcome"] == ("Completed" if runs else "")
    author.errand(definition=definition).unchanged()

    pods = author.api.list("v1", "Pod", author.namespace).items
    deletes_pod = name.endswith("deletes-pod")
    assert len(pods) == (0 if deletes_pod else runs)
    assert ("label delete: pod" in done.warnings) is not deletes_pod
    # Only where it is beside spec it was ignored.
    is_beside_spec = name != "qjob_auto-errand"
    assert ("spec.template.backoffLimit is left out" in done.warnings) is is_beside_spec
    assert ("template.spec.backoffLimit is 2, but 0 is used" in done.warnings) is not is_beside_spec


def test_now_with_the_module_runs_at_each_call(author: Author, quarks_jobs: Path) -> None:
    definition, _others = documents(quarks_jobs, "qjob_errand_updated")
    for number in (1, 2):
        done = author.errand(definition=definition, trigger="now").succeeded()
        assert (done.result["run"], done.result["errand"]["trigger"]) == (number, "manual")


def test_a_change_of_its_configuration_runs_it_again(author: Author, quarks_jobs: Path) -> None:
    for name, runs in (("updating", 1), ("updating_updated", 2)):
        definition, others = documents(quarks_jobs, f"qjob_auto-errand-{name}")
        for obj in others:
            metadata = {**obj["metadata"], "namespace": author.namespace}
            author.api.apply({**obj, "metadata": metadata})
        author.errand(definition=definition).succeeded()
        while author.reconcile().succeeded().result["changed"]:
            pass
        run = author.info()["auto-errand-sleep-again"]["run"]
        assert (run["run"], run["trigger"]) == (runs, "Once" if runs == 1 else "ConfigurationChanged")


def test_the_example_with_output_is_accepted_with_its_differences_as_warnings(
    author: Author, quarks_jobs: Path
) -> None:
    definition, _others = documents(quarks_jobs, "qjob_output")
    rehearsed = author.errand(check=True, definition=definition).succeeded()
    assert "hold-jsonout" in rehearsed.warnings
    assert "runs once for each template" in rehearsed.warnings
    assert rehearsed.writes == []
