# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which requests of an audit log count as the creation of an object."""

from __future__ import annotations

import pytest

from tests.support.audit import Request
from tests.support.runs_of_errands import creations
from tests.support.started_engine import ENGINE_USER

JOBS = "/apis/batch/v1/namespaces/shop/jobs"


def request(status: int, name: str = "seed-1", *, uri: str = JOBS, user: str = ENGINE_USER) -> Request:
    return Request("create", f"jobs shop/{name}", uri, 1.0, user, status)


@pytest.mark.parametrize(
    ("requests", "count"),
    [
        ([request(201)], 1),
        ([request(201), request(409)], 1),
        ([request(201), request(201)], 2),
        ([request(201), request(201, "seed-2")], 2),
        # The client was killed before the answer; another one has found the object there, or created it.
        ([request(504), request(409)], 1),
        ([request(504), request(201)], 1),
        ([request(504), request(504)], 1),
        ([request(201, uri=f"{JOBS}?dryRun=All")], 0),
        ([request(201, user="admin")], 0),
        ([request(403)], 0),
    ],
)
def test_each_object_that_was_created_counts_as_often_as_it_was(requests: list[Request], count: int) -> None:
    assert len(creations(requests, "jobs", "shop")) == count
