# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A rollback ends, also if its steps change nothing."""

from __future__ import annotations

from unittest.mock import Mock

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._errors import LifecycleError
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.core_job import JobType
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.changes import rollback
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.changes.change_steps import DeleteRuntime
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.changes.job_view import JobView

from tests.support.job_store import job_of


def test_a_rollback_whose_steps_change_nothing_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    view, writer = JobView(job_of("web").key, None), Mock()
    writer.write.return_value = view
    step = DeleteRuntime(JobType.ONE_OFF, {})
    monkeypatch.setattr(rollback, "next_step_back", lambda *_views: step)
    with pytest.raises(LifecycleError, match="not as before after 20 steps"):
        list(rollback.roll_back(writer, view, view, view, ()))
    assert writer.write.call_count == rollback.MOST_STEPS
