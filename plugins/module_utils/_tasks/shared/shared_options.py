# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options that the tasks of a deployment share."""

from __future__ import annotations

from dataclasses import fields

from ..._carrier.options import MIGRATION_SPEC, RELEASE_SPEC, ArgumentSpec
from ..._carrier.task import LEASE_SECONDS, SERVICE_ACCOUNT
from ..._objects.ownership.policy import Policy
from ..._progress import GRACE

RELEASE_POLICY_SPEC: ArgumentSpec = {
    one.name: {"type": "list", "elements": "str", "default": list(one.default)}
    if isinstance(one.default, tuple)
    else {"type": "bool", "default": one.default}
    for one in fields(Policy)
}
"""What a user allows for a whole release: each field of :class:`Policy` is an option."""
CHANGE_PROFILE: ArgumentSpec = {"change_profile": {"type": "bool", "default": False}}
PRUNE_ALLOW: ArgumentSpec = {"prune_allow": RELEASE_POLICY_SPEC["prune_allow"]}
POLICY_SPEC: ArgumentSpec = {
    name: spec
    for name, spec in RELEASE_POLICY_SPEC.items()
    if name not in ("prune", *PRUNE_ALLOW, "allow_webhooks")
}
"""The same for components and modules."""
MIGRATING_SPEC: ArgumentSpec = {
    **MIGRATION_SPEC,
    "migration_variables": {"type": "dict", "default": {}},
    "skip_migrations": {"type": "list", "elements": "str", "default": []},
}
LEASE_TIMES_SPEC: ArgumentSpec = {
    "lease_wait": {"type": "float", "default": 0},
    "lease_seconds": {"type": "int", "default": LEASE_SECONDS},
}
LEASE_SPEC: ArgumentSpec = {
    **LEASE_TIMES_SPEC,
    "service_account": {"type": "str", "default": SERVICE_ACCOUNT},
}
HEALTH_SPEC: ArgumentSpec = {"require_healthy": {"type": "bool", "default": False}}
STOPPING_SPEC: ArgumentSpec = {"grace": {"type": "float", "default": GRACE}}
PACE_SPEC: ArgumentSpec = {
    "workers": {"type": "int", "default": 16},
    "timeout": {"type": "float", "default": 600},
    "deadline": {"type": "float", "default": 0},
    **STOPPING_SPEC,
}
WORK_SPEC: ArgumentSpec = {**POLICY_SPEC, **MIGRATING_SPEC, **PACE_SPEC, **LEASE_SPEC}
"""For the work on components and modules, see :func:`~.option_values.work_options`."""
DEPLOY_SPEC: ArgumentSpec = {**RELEASE_SPEC, **POLICY_SPEC, **MIGRATING_SPEC}
