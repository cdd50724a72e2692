# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of durations for runs of errands: pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._errands.errand_model import ErrandKey
from ..._jobs.run_history import FAILED, SUCCEEDED
from ..._runs.outcomes import ERRAND, duration_of


def errand_durations(key: ErrandKey, run: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The row of a run that has ended, see :class:`~..._runs.outcomes.Duration`; no row before its end.

    The times are those that Kubernetes has recorded, in whole seconds.

    Args:
        key: of the errand.
        run: see :func:`~..._errands.authoring.errand_report.errand_run_report`.
    """
    if run.get("state") not in (SUCCEEDED, FAILED):
        return []
    entry = {**run, "started_at": run["started"], "finished_at": run["finished"]}
    return [duration_of(ERRAND, f"{key.namespace}/{key.name}", entry)]
