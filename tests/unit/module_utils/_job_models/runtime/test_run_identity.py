# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs whose runs do the same have the same hash."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models import defaults
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.core_job import JobKey, JobType
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.job_fields import core_job
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.runtime.run_identity import (
    run_identity,
)

KEY = JobKey("shop", "report")


def identity(job_type: JobType = JobType.ONE_OFF, release: int = 1, **fields: Any) -> str:
    return run_identity(core_job(KEY, job_type, {"image": "busybox", **fields}), release)


@pytest.mark.parametrize(
    "fields",
    [
        {"memory": "512Mi", "cpu": "500m"},
        {"memory": "0.5Gi", "cpu": "0.5"},
        {"env": {}},
        {"timeout": 0},
        {"logs": {}},
        {"emails": "all", "retry": 3, "suspend": True},
        {"pod": {}},
        {"pod": {"spec": {"dnsPolicy": "ClusterFirst"}}},
        {"job": {"metadata": {"labels": {"team": "web"}}, "spec": {"ttlSecondsAfterFinished": 2}}},
    ],
)
def test_another_way_to_say_the_same_changes_nothing(fields: dict[str, Any]) -> None:
    assert identity(**fields) == identity()


@pytest.mark.parametrize(
    "fields",
    [
        {"memory": "1Gi"},
        {"cpu": ""},
        {"image": "busybox:2"},
        {"command": "date"},
        {"command": "date", "logs": {"stdout": "/data/out"}},
        {"env": {"A": "1"}},
        {"mount": {"claim": "data"}},
        {"timeout": 60},
        {"pod": {"spec": {"dnsPolicy": "Default"}}},
    ],
)
def test_a_field_that_changes_the_run_changes_the_identity(fields: dict[str, Any]) -> None:
    assert identity(**fields) != identity()


def test_the_schedule_of_a_job_is_no_part_of_its_runs() -> None:
    daily, other = ({"schedule": text} for text in ("@daily", "30 4 * * *"))
    assert identity(JobType.SCHEDULED, **daily) == identity(JobType.SCHEDULED, **other)
    assert identity(JobType.SCHEDULED, **daily) != identity(JobType.SCHEDULED, timeout=60, **daily)


def test_the_given_release_of_defaults_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = {**defaults.DEFAULTS, 2: MappingProxyType({**defaults.DEFAULTS[1], "memory": "1Gi"})}
    monkeypatch.setattr(defaults, "DEFAULTS", MappingProxyType(tables))
    assert identity(release=2) != identity(release=1)
    assert identity(release=2) == identity(memory="1Gi", release=1)
    made_with_2 = core_job(KEY, JobType.ONE_OFF, {"image": "busybox"}, 2)
    assert run_identity(made_with_2, 1) == identity(release=1)
