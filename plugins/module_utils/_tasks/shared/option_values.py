# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of tasks, as the values that the lower packages use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._components.migrations.migration_runner import MigrationOptions
from ..._errors import LifecycleError
from ..._objects.ownership.policy import Policy, allowed_problem
from ..._progress import GRACE


def policy_of(params: Mapping[str, Any]) -> Policy:
    """The policy in the options.

    Raises:
        LifecycleError: an entry of a list can't allow anything.
    """
    problems = [
        f"{option} (kyma_{option}): {problem}"
        for option in ("replace_immutable", "prune_allow")
        for entry in params.get(option) or ()
        if entry != "Job" and (problem := allowed_problem(entry))
    ]
    if problems:
        raise LifecycleError("; ".join(problems))
    return Policy(
        replace_immutable=tuple(params["replace_immutable"]),
        force_conflicts=params["force_conflicts"],
        interactive_managers=tuple(params["interactive_managers"]),
        strict_drift=params["strict_drift"],
        takeover=params["takeover"],
        prune=bool(params.get("prune")),
        prune_allow=tuple(params.get("prune_allow") or ()),
        allow_webhooks=tuple(params.get("allow_webhooks") or ()),
    )


def migration_options(params: Mapping[str, Any]) -> MigrationOptions:
    """The options for migrations as a value."""
    return MigrationOptions(
        skip=frozenset(params["skip_migrations"]),
        variables=params["migration_variables"],
        profile=params.get("profile") or "",
        grace=params.get("grace", GRACE),
    )
