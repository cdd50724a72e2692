# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A callback that reads TRACEPARENT when Ansible loads it, as community.general.opentelemetry does."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = r"""
name: traceparent
type: aggregate
short_description: Writes the TRACEPARENT that it has been loaded with to a file
description:
  - For tests.
options: {}
"""


class CallbackModule(CallbackBase):
    """Writes TRACEPARENT to the file of KYMA_TEST_TRACEPARENT."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "kyma_test.spans.traceparent"
    CALLBACK_NEEDS_ENABLED = True

    def set_options(self, *args: Any, **kwargs: Any) -> None:
        """Ansible has loaded the callback."""
        super().set_options(*args, **kwargs)
        Path(os.environ["KYMA_TEST_TRACEPARENT"]).write_text(os.environ.get("TRACEPARENT", ""))
