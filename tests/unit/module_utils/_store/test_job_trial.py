# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The trials of an import: a dry run for each form of a job, not for each job."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import api_error
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.wrapper import ClusterWrapper
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.core_job import JobType
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.job_trial import JobTrials

from tests.support.job_store import job_of, store_cluster

REFUSED, EXISTS, FORBIDDEN = (422, "Invalid"), (409, "AlreadyExists"), (403, "Forbidden")


class TryingCluster(ClusterWrapper):
    """Answers each dry run in the same way.

    Attributes:
        tried: the kinds and names of the objects that were tried.
    """

    def __init__(self, status: int = 200, reason: str = "") -> None:
        super().__init__(store_cluster())
        self.tried: list[str] = []
        self._status, self._reason = status, reason

    def validate(self, obj: Object) -> Object:
        self.tried.append(f"{obj['kind']} {obj['metadata']['name']}")
        if self._status >= 300:
            raise api_error("create", self._status, {"reason": self._reason, "message": "no such field"})
        return obj


def labelled(name: str, *, team: str = "a", **fields: Any) -> dict[str, Any]:
    """Mappings with labels, one of which is the name of the job."""
    labels = {"app": name, "team": team}
    return {"name": name, "pod": {"metadata": {"labels": labels}}, "port": None, **fields}


@pytest.mark.parametrize("answer", [(), EXISTS])
def test_of_jobs_that_differ_only_in_names_and_short_forms_one_is_tried(answer: tuple[int, str]) -> None:
    cluster = TryingCluster(*answer)
    trials = JobTrials(cluster)
    for job in (job_of(**labelled("one")), job_of(**labelled("two", image="other:2", replicas=5))):
        assert trials.problems(job) == []
    assert cluster.tried == ["Deployment one"]


def test_another_form_or_type_is_tried() -> None:
    cluster = TryingCluster()
    trials = JobTrials(cluster)
    trials.problems(job_of(**labelled("one")))
    trials.problems(job_of(**labelled("two", team="b")))
    trials.problems(job_of(**labelled("three", replicas=None), type=JobType.ONE_OFF))
    trials.problems(job_of(**labelled("four", port=80, service={"spec": {"sessionAffinity": "ClientIP"}})))
    assert cluster.tried == [
        "Deployment one",
        "Deployment two",
        "Job three",
        "Deployment four",
        "Service four",
    ]


def test_each_job_with_a_refused_form_has_its_problem() -> None:
    trials = JobTrials(TryingCluster(*REFUSED))
    for name in ("one", "two"):
        assert trials.problems(job_of(**labelled(name))) == [
            "the API server refuses its Deployment: no such field"
        ]


def test_a_form_that_the_user_may_not_try_is_no_problem_and_is_tried_in_the_next_namespace() -> None:
    cluster = TryingCluster(*FORBIDDEN)
    trials = JobTrials(cluster)
    for name in ("one", "two"):
        assert trials.problems(job_of(**labelled(name))) == []
    assert cluster.tried == ["Deployment one", "Deployment two"]


def test_a_job_with_short_forms_alone_is_not_tried() -> None:
    cluster = TryingCluster()
    assert JobTrials(cluster).problems(job_of("one")) == []
    assert cluster.tried == []
