# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Several users write one job at once, on a real API server.

Whatever they do: one definition is left, what runs is what it means, nothing of the others is left, and the
next call settles the job.
"""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.runtime.normal_form import (
    normal_form,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.runtime.runtime_objects import (
    runtime_objects,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.storage.definition import (
    read_definition,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._threads import map_in_threads

from tests.support.extent import IS_FULL, cases
from tests.support.store_user import Done, User

from .test_stored_jobs import BACKUP, WEB

pytestmark = pytest.mark.cluster

IMAGES = [{**WEB, "image": f"nginx:1.{number}", "env": {"N": str(number)}} for number in range(4)]
TYPES = [{**BACKUP, "name": "web"}, WEB, {**WEB, "image": "nginx:2"}]
ROUNDS = 10 if IS_FULL else 1


def check_settled(user: User) -> None:
    """One definition is left, and what runs is what it means."""
    (obj,) = user.definitions()
    desired = runtime_objects(read_definition(obj).job)
    assert "replaces" not in obj["spec"]
    assert user.forms("web") == [normal_form(one) for one in desired]


@pytest.mark.parametrize(
    ("jobs", "has_one"),
    cases([(IMAGES, True), (TYPES, False)], [(IMAGES, False), (TYPES, True)]),
    ids=lambda value: f"{value[0]['type']}" if isinstance(value, list) else str(value),
)
def test_of_several_concurrent_declarations_of_one_job_one_counts(
    deployer: User, jobs: list[dict[str, Any]], has_one: bool
) -> None:
    for _round in range(ROUNDS):
        if has_one:
            deployer.jobs(jobs=[WEB]).succeeded()

        def declare(job: dict[str, Any]) -> Done:
            return deployer.jobs(jobs=[job])

        done = map_in_threads(declare, jobs)
        # A change of type that others interrupt is completed by the next call.
        failed = [one.message for one in done if one.result.get("failed")]
        assert all("web: refused: " in message for message in failed), failed
        assert len(failed) < len(jobs), failed
        deployer.jobs(jobs=[WEB]).succeeded()
        check_settled(deployer)
        deployer.jobs(jobs=[WEB]).unchanged()
        deployer.jobs(name="web", state="absent").succeeded()
        assert (deployer.definitions(), deployer.runtime("web")) == ([], [])


def test_one_deletes_a_job_while_another_declares_it(deployer: User) -> None:
    for _round in range(ROUNDS):
        deployer.jobs(jobs=[WEB]).succeeded()
        calls: list[dict[str, Any]] = [{"jobs": [IMAGES[1]]}, {"name": "web", "state": "absent"}]
        map_in_threads(lambda options: deployer.jobs(**options), calls)
        if deployer.definitions():
            deployer.jobs(jobs=[IMAGES[1]]).succeeded()
            check_settled(deployer)
        else:
            assert deployer.runtime("web") == []
