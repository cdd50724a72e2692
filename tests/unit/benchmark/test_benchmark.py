# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the benchmark makes of what it measures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.engine import check_migrations
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.loader import load_folders
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.migration_folders import (
    MigrationFolder,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.benchmark import audit, errands
from tests.benchmark.bounds import bounds
from tests.benchmark.measurements import Figure, Measurements, Sample, Setting, typical
from tests.benchmark.migrations import write_migrations
from tests.benchmark.names import (
    CHANGED,
    FIRST,
    HELM,
    KUBECTL_APPLY,
    MIGRATING,
    OURS,
    PING,
    ROLLOUT,
    UNCHANGED,
)
from tests.benchmark.page import page, workloads
from tests.benchmark.running import BenchmarkError
from tests.benchmark.tables import report
from tests.benchmark.trial import rounds_of
from tests.support.migrations import config_map, setting

MB = 1_000_000


def sample(seconds: float, *, peak: int = 100 * MB, requests: int = 10) -> Sample:
    return Sample(seconds, seconds / 2, peak, requests)


def measured(case: str, objects: int, **samples: Sample) -> Measurements:
    names = {
        "ours": OURS,
        "ping": PING,
        "migrating": MIGRATING,
        "kubectl": KUBECTL_APPLY,
        "helm": HELM,
        "rollout": ROLLOUT,
    }
    measurements = Measurements()
    for key, one in samples.items():
        measurements.add(Setting(case, objects), names[key], one)
    return measurements


def is_met(measurements: Measurements) -> dict[str, bool]:
    return {bound.what: bound.is_met for bound in bounds(measurements)}


def line(agent: str, number: int, stage: str = "ResponseComplete") -> bytes:
    event = {"userAgent": agent, "auditID": f"id-{number}", "stage": stage}
    return json.dumps(event).encode() + b"\n"


def test_requests_are_those_of_one_tool() -> None:
    log = [line("kubectl/v1.36.3 (linux)", 1), line("Helm/4.3.0", 2), line("kubectl/v1.36.3 (linux)", 3)]
    assert audit.count(log, ["kubectl/"]) == 2
    assert audit.count(log, ["kubectl/", "Helm/"]) == 3


def test_a_watch_is_one_request() -> None:
    log = [line("Helm/4.3.0", 1, "ResponseStarted"), line("Helm/4.3.0", 1)]
    assert audit.count(log, ["Helm/"]) == 1


def test_a_line_that_is_being_written_is_left_for_later() -> None:
    assert audit.count([line("Helm/4.3.0", 1), line("Helm/4.3.0", 2)[:-9]], ["Helm/"]) == 1


def test_requests_without_a_user_agent_are_not_counted() -> None:
    assert audit.count([b'{"auditID": "id-1"}\n'], ["kubectl/"]) == 0


def test_one_after_the_other_adds_up_but_for_memory() -> None:
    both = Sample(1.0, 0.5, 10, 3) + Sample(2.0, 0.25, 30, 4)
    assert both == Sample(3.0, 0.75, 30, 7)


def test_a_typical_sample_has_the_medians_and_the_highest_peak() -> None:
    assert typical([sample(1), sample(9, peak=3 * MB, requests=30), sample(2, peak=200 * MB)]) == Sample(
        2, 1, 200 * MB, 10
    )


def test_doing_nothing_is_bounded_by_a_ping_and_by_others() -> None:
    met = is_met(
        measured(UNCHANGED, 360, ours=sample(1.6), ping=sample(1), kubectl=sample(1.5), helm=sample(11))
    )
    assert met == {
        f"time, against {PING}": True,
        f"time, against {KUBECTL_APPLY}": False,
        f"time, against {HELM}": True,
    }


@pytest.mark.parametrize(("seconds", "holds"), [(1.8, True), (1.81, False)])
def test_a_hundred_migrations_change_little_of_that(seconds: float, *, holds: bool) -> None:
    met = is_met(measured(UNCHANGED, 360, ours=sample(1.2), migrating=sample(seconds), ping=sample(1)))
    assert met[f"time with 100 migrations, against {PING}"] is holds


def test_the_migrations_of_the_benchmark_are_valid_and_not_needed(tmp_path: Path) -> None:
    write_migrations(tmp_path)
    loaded = load_folders([MigrationFolder("yours", str(tmp_path))])
    assert loaded.problems == ()
    assert len(loaded.migrations) == 100
    results = check_migrations(loaded.migrations, setting(MemoryCluster(config_map("new"))))
    assert {(one.verdict, one.requests) for one in results} == {("not_needed", 1)}


def test_a_large_release_may_take_longer_than_a_small_one_but_not_more_memory() -> None:
    met = is_met(measured(UNCHANGED, 3600, ours=sample(2.2, peak=301 * MB), ping=sample(1)))
    assert met == {f"time, against {PING}": True, "memory of the largest process": False}
    assert not is_met(measured(UNCHANGED, 360, ours=sample(2.2), ping=sample(1)))[f"time, against {PING}"]


def test_a_first_deployment_takes_four_fifths_of_the_time_of_helm_at_most() -> None:
    assert is_met(measured(FIRST, 360, ours=sample(8), helm=sample(10))) == {f"time, against {HELM}": True}
    assert is_met(measured(FIRST, 360, ours=sample(8.1), helm=sample(10))) == {f"time, against {HELM}": False}


@pytest.mark.parametrize(
    ("objects", "seconds", "others"),
    [(360, 2.5, {}), (3600, 4, {"memory of the largest process": True})],
)
def test_a_change_may_take_some_seconds_beside_its_rollout(
    objects: int, seconds: float, others: dict[str, bool]
) -> None:
    what = "time beyond the rollout"
    for more, holds in ((0.0, True), (0.1, False)):
        ours = sample(3 + seconds + more)
        assert is_met(measured(CHANGED, objects, ours=ours, rollout=sample(3))) == {what: holds, **others}


def test_a_cluster_that_is_far_away_has_bounds_and_tables_of_its_own() -> None:
    measurements = Measurements()
    for case, round_trip, ours in ((FIRST, 100, 5.1), (FIRST, 20, 8.5), (UNCHANGED, 100, 0.6)):
        for name, seconds in ((OURS, ours), (KUBECTL_APPLY, 10), (HELM, 1), (PING, 0.1)):
            measurements.add(Setting(case, 360, round_trip), name, sample(seconds))
    checked = bounds(measurements)
    assert [(one.setting.case, one.setting.round_trip, one.is_met) for one in checked] == [
        (FIRST, 20, True),
        (FIRST, 100, False),
        (UNCHANGED, 100, True),
    ]
    text = report(measurements, checked)
    assert "## First deployment, 360 objects, 20 ms away" in text
    assert "| first deployment, 360 objects, 100 ms away |" in text


def test_tools_without_measurements_have_no_bounds() -> None:
    assert is_met(measured(UNCHANGED, 360, helm=sample(1))) == {}
    assert is_met(measured(UNCHANGED, 360, ours=sample(1))) == {}


def test_tables_have_ratios_to_ours_and_mark_broken_bounds() -> None:
    measurements = measured(UNCHANGED, 3600, ours=sample(3), ping=sample(1), helm=sample(90, requests=4567))
    text = report(measurements, bounds(measurements))
    assert "## Nothing to do, 3,600 objects" in text
    row = next(one for one in text.splitlines() if one.startswith(f"| {HELM}"))
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells == [HELM, "90.00 s", "30", "4,567", "45.00 s", "30", "100 MB"]
    assert "3.00 |     2.2 | **broken** |" in text
    widths = {len(one) for one in text.split("## Bounds")[1].splitlines() if one}
    assert len(widths) == 1, "the columns line up"


def test_tables_without_us_have_no_ratios() -> None:
    measurements = measured(UNCHANGED, 360, helm=sample(90))
    assert "| -" in report(measurements, bounds(measurements)).replace("          ", " ")


def test_a_tool_over_its_time_limit_is_listed_and_compared_with_that_limit() -> None:
    measurements = measured(UNCHANGED, 3600, ours=sample(2), ping=sample(2))
    measurements.add_limit(Setting(UNCHANGED, 3600), HELM, 900)
    measurements.failures.append("helm with 3600 objects to its end")
    text = report(measurements, bounds(measurements))
    row = next(one for one in text.splitlines() if one.startswith(f"| {HELM}"))
    assert [cell.strip() for cell in row.strip("|").split("|")] == [HELM, "> 900 s", "> 450", *4 * ["-"]]
    assert "< 0.00 |" in text
    assert is_met(measurements)[f"time, against {HELM}"]
    assert "Not measured: helm with 3600 objects to its end." in text


def test_our_exceeded_time_limit_breaks_a_bound() -> None:
    measurements = measured(FIRST, 3600, helm=sample(100))
    measurements.add_limit(Setting(FIRST, 3600), OURS, 900)
    assert is_met(measurements) == {"time": False}
    assert "> 900 s" in report(measurements, bounds(measurements))


def test_a_sample_counts_more_than_an_exceeded_limit() -> None:
    measurements = measured(FIRST, 3600, helm=sample(800))
    measurements.add_limit(Setting(FIRST, 3600), HELM, 900)
    assert measurements.beyond(Setting(FIRST, 3600)) == {}


def test_a_case_that_only_exceeded_its_limit_has_a_table() -> None:
    measurements = Measurements()
    measurements.add_limit(Setting(FIRST, 3600), HELM, 900)
    assert f"| {HELM} | > 900 s |" in report(measurements, bounds(measurements))


def test_the_page_names_only_measured_workloads() -> None:
    assert workloads({360: 389}) == "whose 15 components and CRDs are 389 objects"
    assert workloads({360: 389, 3600: 3638}).endswith(
        "389 objects, and a release with ten of each of its objects, 3,638"
    )
    assert workloads({3600: 3638}) == "a release with ten of each of its objects, 3,638"


def test_the_page_has_the_tables_and_no_blanks_left() -> None:
    facts = dict.fromkeys(("versions", "release", "ours", "component", "workloads", "limits"), "a fact")
    text = page("the tables", **facts)
    assert text.endswith("the tables\n")
    assert "$" not in text.replace("$ PYTHONPATH", "")


def test_rounds_can_be_limited() -> None:
    assert rounds_of("ours", 360, 1) == rounds_of("helm", 3600, 1)
    assert rounds_of("ours", 360).unchanged > rounds_of("helm", 3600).unchanged


@pytest.mark.parametrize(("value", "holds"), [(150.0, True), (150.5, False)])
def test_a_figure_is_shown_with_its_limit(value: float, *, holds: bool) -> None:
    measurements = Measurements(
        figures=[
            Figure("memory", value, "MB", 150.0),
            Figure("requests", 6),
            Figure("CPU", 0.0012, "core", 0.01),
        ]
    )
    assert [one.is_met for one in measurements.figures] == [holds, True, True]
    rows = [[cell.strip() for cell in line.split("|")] for line in report(measurements, []).splitlines()]
    assert ["", "memory", f"{value:.0f} MB", "150 MB", "kept" if holds else "**broken**", ""] in rows
    assert ["", "requests", "6", "", "", ""] in rows
    assert ["", "CPU", "0.0012 core", "0.01 core", "kept", ""] in rows


def test_the_answer_to_a_change_is_the_last_job_by_the_servers_clock(tmp_path: Path) -> None:
    def event(verb: str, resource: str, seconds: int, stage: str = "ResponseComplete") -> str:
        return json.dumps(
            {
                "auditID": f"{verb}-{resource}-{seconds}",
                "verb": verb,
                "stage": stage,
                "objectRef": {"resource": resource},
                "stageTimestamp": f"2026-11-25T00:00:{seconds:02}.500000Z",
                "userAgent": "kyma-lifecycle/0.1",
            }
        )

    log = tmp_path / "audit.log"
    before = event("create", "jobs", 0) + "\n"
    lines = [
        event("patch", "configmaps", 1),
        event("create", "jobs", 2),
        event("list", "pods", 2),
        event("create", "jobs", 4),
        event("watch", "jobs", 5),
        event("get", "errands", 6),
    ]
    log.write_text(before + "\n".join(lines) + "\n" + lines[0][:20])
    assert errands.answer_seconds(log, len(before), 2) == 3.0
    assert errands.reads(log, len(before)) == 2
    with pytest.raises(BenchmarkError, match="made 2 Jobs instead of 20"):
        errands.answer_seconds(log, len(before), 20)
