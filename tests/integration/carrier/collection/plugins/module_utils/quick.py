# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A task function that tells all that it was given."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.options import (
    MIGRATION_SPEC,
    RELEASE_SPEC,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task import Task, TaskDefinition
from ansible_collections.kyma.lifecycle.plugins.module_utils._errors import LifecycleError


def answer(task: Task) -> dict[str, Any]:
    """Answer with everything."""
    task.progress("quick", "asked")
    if task.params["fail"]:
        raise LifecycleError(task.params["fail"])
    if task.params["defect"]:
        raise ZeroDivisionError(f"a defect with {task.params['api_key'].encode()!r}, {task.params['values']}")
    hidden = ("workdir", "progress_file", "values", "texts")
    params = {k: v for k, v in task.params.items() if k not in hidden}
    return {
        "params": params,
        "lengths": {key: len(value) for key, value in task.params["values"].items()},
        "check": task.check_mode,
        "diff_mode": task.diff,
        "environment": os.environ.get("KYMA_TEST_VARIABLE"),
        "kubeconfig": os.environ.get("KUBECONFIG"),
        "said": f"the key is {task.params['api_key']}",
        "warnings": ["mind the gap"],
        "program": Path(sys.argv[0]).name,
        "cluster": type(task.cluster).__name__,
    }


DEFINITION = TaskDefinition(
    answer,
    {
        "number": {"type": "int", "default": 4},
        "mode": {"type": "str", "choices": ["one", "two"], "default": "one"},
        "fail": {"type": "str"},
        "defect": {"type": "bool", "default": False},
        "values": {"type": "dict", "default": {}, "no_log": True, "aliases": ["texts"]},
        **RELEASE_SPEC,
        **MIGRATION_SPEC,
    },
    needs_release=True,
    mutually_exclusive=[("fail", "release_version")],
    secret_options=("values",),
)
