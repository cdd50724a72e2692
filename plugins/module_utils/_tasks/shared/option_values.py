# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of tasks, as the values that the lower packages use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._components.migrations.migration_options import MigrationOptions
from ..._errors import LifecycleError
from ..._objects.ownership.policy import Policy
from ..._progress import GRACE
from .shared_options import PACE_SPEC, RELEASE_POLICY_SPEC


def policy_of(params: Mapping[str, Any]) -> Policy:
    """The policy in the options.

    Raises:
        LifecycleError: an entry of a list can't allow anything.
    """
    given: dict[str, Any] = {name: params[name] for name in RELEASE_POLICY_SPEC if name in params}
    lists = {name: tuple(value) for name, value in given.items() if isinstance(value, list)}
    policy = Policy(**{**given, **lists})
    if problems := policy.problems():
        raise LifecycleError("; ".join(problems))
    return policy


def migration_options(params: Mapping[str, Any]) -> MigrationOptions:
    """The options for migrations as a value."""
    return MigrationOptions(
        skip=frozenset(params["skip_migrations"]),
        variables=params["migration_variables"],
        grace=params.get("grace", GRACE),
    )


def work_options(params: Mapping[str, Any]) -> dict[str, Any]:
    """The options for the work on components or modules, by the fields of :class:`WorkOptions`."""
    plain = {name: params[name] for name in PACE_SPEC}
    return {"policy": policy_of(params), "migrations": migration_options(params), **plain}
