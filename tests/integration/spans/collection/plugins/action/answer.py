# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An action that answers with a given result, after a pause."""

from __future__ import annotations

import time
from typing import Any

from ansible.plugins.action import ActionBase


class ActionModule(ActionBase):
    """Answers with the option ``result``, after ``pause`` seconds."""

    def run(self, *_args: Any, **_variables: Any) -> dict[str, Any]:
        """See ActionBase."""
        time.sleep(self._task.args.get("pause", 0))
        return dict(self._task.args["result"])
