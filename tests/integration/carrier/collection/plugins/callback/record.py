# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A callback that writes every result to a file, for tests to read."""

from __future__ import annotations

DOCUMENTATION = r"""
name: record
type: aggregate
short_description: Writes every result to a file
description:
  - For tests.
options: {}
"""

import json
import os
from pathlib import Path
from typing import Any

from ansible.plugins.callback import CallbackBase


class CallbackModule(CallbackBase):
    """Writes results as JSON lines."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "kyma_test.carried.record"
    CALLBACK_NEEDS_ENABLED = True

    def v2_runner_on_ok(self, result: Any) -> None:
        """A task has succeeded."""
        self._record(result, failed=False)

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        """A task has failed."""
        self._record(result, failed=True)

    def v2_runner_on_unreachable(self, result: Any) -> None:
        """A host is out of reach."""
        self._record(result, failed=True)

    def _record(self, result: Any, *, failed: bool) -> None:
        line = {
            "host": result._host.get_name(),
            "task": result._task.get_name(),
            "result": {**json.loads(json.dumps(result._result, default=str)), "failed": failed},
        }
        with Path(os.environ["KYMA_TEST_RECORD"]).open("a") as file:
            file.write(json.dumps(line) + "\n")
