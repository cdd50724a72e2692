# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task ``errand_info``: the progress of errands, and the outcomes of their runs."""

from __future__ import annotations

from .._carrier.task import Result, Task, TaskDefinition
from .._cluster.cluster import API_VERSION
from .._cluster.errors import Forbidden
from .._errands.authoring.errand_report import errand_report
from .._errands.errand_definition import VIEWER_ROLE
from .._errands.errand_model import KIND, errand_from
from .._errors import LifecycleError
from .._text import one_line
from .._threads import map_in_threads


def errand_info(task: Task) -> Result:
    """Read the errands, by namespace and name."""
    params = task.params
    try:
        pages = map_in_threads(
            lambda namespace: task.cluster.list(
                API_VERSION, KIND, namespace or None, label_selector=",".join(params["label_selectors"])
            ),
            dict.fromkeys(params["namespaces"] or [""]),
        )
    except Forbidden as refusal:
        narrower = "" if params["namespaces"] else ", or set namespaces to those where you have it"
        raise LifecycleError(
            f"cannot list errands: {one_line(refusal.api_message)}. Have the ClusterRole"
            f" {VIEWER_ROLE['metadata']['name']} granted to you{narrower}"
        ) from refusal
    errands = [errand_from(obj) for page in pages for obj in page.items]
    return {
        "changed": False,
        "errands": [
            errand_report(one)
            for one in sorted(errands, key=lambda one: one.key)
            if not params["names"] or one.key.name in params["names"]
        ],
    }


DEFINITION = TaskDefinition(
    function=errand_info,
    argument_spec={
        "namespaces": {"type": "list", "elements": "str", "default": [], "aliases": ["namespace"]},
        "names": {"type": "list", "elements": "str", "default": [], "aliases": ["name"]},
        "label_selectors": {"type": "list", "elements": "str", "default": []},
    },
)
