# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options that the tasks of a deployment share."""

from __future__ import annotations

from ..._carrier.options import MIGRATION_SPEC, RELEASE_SPEC, ArgumentSpec
from ..._carrier.task import LEASE_SECONDS, SERVICE_ACCOUNT
from ..._objects.ownership.policy import INTERACTIVE_MANAGERS
from ..._progress import GRACE

POLICY_SPEC: ArgumentSpec = {
    "replace_immutable": {"type": "list", "elements": "str", "default": ["Job"]},
    "force_conflicts": {"type": "bool", "default": False},
    "interactive_managers": {"type": "list", "elements": "str", "default": list(INTERACTIVE_MANAGERS)},
    "strict_drift": {"type": "bool", "default": False},
    "takeover": {"type": "bool", "default": False},
}
PRUNE_ALLOW: ArgumentSpec = {"prune_allow": {"type": "list", "elements": "str", "default": []}}
ALLOW_WEBHOOKS: ArgumentSpec = {"allow_webhooks": {"type": "list", "elements": "str", "default": []}}
MIGRATING_SPEC: ArgumentSpec = {
    **MIGRATION_SPEC,
    "migration_variables": {"type": "dict", "default": {}},
    "skip_migrations": {"type": "list", "elements": "str", "default": []},
}
LEASE_SPEC: ArgumentSpec = {
    "lease_wait": {"type": "float", "default": 0},
    "lease_seconds": {"type": "int", "default": LEASE_SECONDS},
    "service_account": {"type": "str", "default": SERVICE_ACCOUNT},
}
WORK_SPEC: ArgumentSpec = {
    "workers": {"type": "int", "default": 4},
    "timeout": {"type": "float", "default": 600},
    "deadline": {"type": "float", "default": 0},
}
STOPPING_SPEC: ArgumentSpec = {"grace": {"type": "float", "default": GRACE}}
DEPLOY_SPEC: ArgumentSpec = {**RELEASE_SPEC, **POLICY_SPEC, **MIGRATING_SPEC}
