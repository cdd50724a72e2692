# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A hash of what a run of a job does: equal for jobs whose runs do the same. Pure."""

from __future__ import annotations

from ..._cluster.pod_templates import spec_with_pod_template
from ..core_job import CoreJob
from ..defaults import CURRENT_DEFAULTS
from ..json_digest import json_digest
from .normal_form import normal_form
from .runtime_objects import runtime_objects

_TIMEOUT = "activeDeadlineSeconds"


def run_identity(job: CoreJob, release: int = CURRENT_DEFAULTS) -> str:
    """A hash of what a run of a job does: 32 hexadecimal digits.

    It covers the pods and the timeout, in the normal form of their objects. The notation of the fields does
    not count: a default that is written down, ``0.5Gi`` for ``512Mi``, and ``env: {}`` change nothing. Fields
    without an effect on a run, such as ``emails``, ``retry`` and ``suspend``, change nothing either.

    Args:
        job: of any type; its own defaults don't count.
        release: the number of the release of defaults by which its objects are built.
    """
    main = runtime_objects(job, release)[0]
    spec = spec_with_pod_template(normal_form(main, is_strict=True))
    return json_digest({name: spec.get(name) for name in ("template", _TIMEOUT)})
