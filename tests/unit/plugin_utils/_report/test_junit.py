# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The clusters of a report as a document of JUnit."""

from __future__ import annotations

from xml.etree.ElementTree import Element, fromstring

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.cluster_state import STATES, ClusterState
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.outcomes import ComponentOutcome
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._report.junit import render_junit
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._report.model import (
    ClusterReport,
    RolloutReport,
    RunReport,
)

from tests.support.rollout_samples import OPEN_ROLLOUT

COMPONENTS = (
    ComponentOutcome("logging", state="failed", error="it crashed\nin a loop", seconds=3.0),
    ComponentOutcome("tracing", state="not started", error="logging failed"),
    ComponentOutcome("keda", state="succeeded", owner_kind="module", seconds=1.5),
)
RUN = RunReport(name="run-1", state="failed", started_at="2026-11-21T13:18:54Z", components=COMPONENTS)
EU = ClusterReport(ClusterState("eu", "2.9", "2.10", "failed", 12.34, ("it crashed",)), runs=(RUN,))
SKIPPED = ("held", "waiting", "not started")
PASSED = ("running", "planned", "succeeded", "unchanged")


def suites(*clusters: ClusterReport) -> Element:
    return fromstring(render_junit(clusters, "Kyma"))


def results(suite: Element) -> list[tuple[str | None, str | None]]:
    """The name and the result of each case."""
    return [(case.get("name"), next((one.tag for one in case), None)) for case in suite.iter("testcase")]


def test_a_suite_has_a_case_for_its_cluster_and_one_for_each_component() -> None:
    (suite,) = suites(EU)
    assert results(suite) == [
        ("cluster", "failure"),
        ("component logging", "failure"),
        ("component tracing", "skipped"),
        ("module keda", None),
    ]
    assert {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "4",
        "failures": "2",
        "errors": "0",
        "skipped": "1",
    }
    assert (suite.get("time"), suite.get("timestamp")) == ("12.340", "2026-11-21T13:18:54Z")
    assert {one.get("name"): one.get("value") for one in suite.iter("property")} == {
        "state": "failed",
        "from": "2.9",
        "to": "2.10",
    }


def test_a_failure_has_its_reason_and_its_first_line_as_message() -> None:
    (failure,) = suites(EU).findall("*/testcase[@name='component logging']/failure")
    assert (failure.get("type"), failure.get("message")) == ("failed", "failed: it crashed")
    assert failure.text == "failed: it crashed\nin a loop"


@pytest.mark.parametrize("state", [*STATES, "of a later version"])
def test_a_cluster_that_did_not_end_well_does_not_pass(state: str) -> None:
    root = suites(ClusterReport(ClusterState("eu", state=state, failures=("why",))))
    expected = "skipped" if state in SKIPPED else "error" if state == "unreachable" else "failure"
    assert results(root[0]) == [("cluster", None if state in PASSED else expected)]


def test_the_sums_of_all_suites_are_those_of_their_cases() -> None:
    held = ClusterReport(ClusterState("us", state="held", failures=("the auditors are here",)))
    root = suites(EU, held)
    assert (root.get("tests"), root.get("failures"), root.get("skipped")) == ("5", "2", "2")
    assert [suite.get("name") for suite in root] == ["eu", "us"]


def test_the_last_result_of_a_component_counts() -> None:
    again = RunReport(components=(ComponentOutcome("logging", state="succeeded"),))
    (suite,) = suites(ClusterReport(ClusterState("eu", state="succeeded"), runs=(RUN, again)))
    assert ("component logging", None) in results(suite)


def test_characters_that_xml_does_not_have_are_left_out() -> None:
    root = suites(ClusterReport(ClusterState("eu", state="failed", failures=("\x1b[31mred\x00 <&> ü",))))
    failure = root.find("*/testcase/failure")
    assert failure is not None
    assert failure.text == "failed: [31mred <&> ü"


def test_a_suite_has_the_ring_of_its_cluster() -> None:
    known = ClusterReport(ClusterState("eu-1", state="planned"))
    rings = [
        [one.get("value") for one in suite.iter("property") if one.get("name") == "ring"]
        for suite in fromstring(render_junit([known, EU], "Kyma", RolloutReport(OPEN_ROLLOUT)))
    ]
    assert rings == [["early"], []]
