# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A callback that writes every result to a file, for tests to read."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = r"""
name: record
type: aggregate
short_description: Writes every result to a file
description:
  - For tests.
options: {}
"""


class CallbackModule(CallbackBase):
    """Writes the results of tasks as JSON lines."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "record"
    CALLBACK_NEEDS_ENABLED = True

    def v2_runner_on_ok(self, result: Any) -> None:
        """A task has succeeded."""
        self._record(result)

    def v2_runner_on_failed(self, result: Any, **_more: Any) -> None:
        """A task has failed."""
        self._record(result)

    def _record(self, result: Any) -> None:
        line = json.dumps({"task": result.task.get_name(), "result": result.result}, default=str)
        with Path(os.environ["KYMA_TEST_RECORD"]).open("a") as file:
            file.write(line + "\n")
