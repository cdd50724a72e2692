# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Refuses variables of hosts that a rollout in rings can't have. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...module_utils._errors import LifecycleError
from ...module_utils._text import shown_value

PREFIX = "kyma_"
_APPROVE = "ring_approve (kyma_ring_approve) names rings that need an approval"
OTHERS: Mapping[str, str] = {
    "kyma_serial": "ring_parallel (kyma_ring_parallel) limits the clusters at a time",
    "kyma_max_fail_percentage": "ring_max_failures (kyma_ring_max_failures) says how many may fail",
    "kyma_plan": _APPROVE,
    "kyma_plan_out": "a rollout stores no plan; --check shows what it would do",
    "kyma_plan_digest": _APPROVE,
    "kyma_components": "a rollout is of a whole release",
}
"""Variables of other ways to deploy, with what to do instead."""


def refuse_variables(hosts: Mapping[str, Mapping[str, Any]], ring_variables: Mapping[str, str]) -> None:
    """Refuse variables that do not go with rings, and those of rings that differ between hosts.

    Args:
        hosts: the variables of each host, as written.
        ring_variables: the variables of rings, by option.

    Raises:
        LifecycleError: the message has one line for each variable.
    """
    problems = []
    for name, instead in OTHERS.items():
        if having := [host for host, own in hosts.items() if own.get(name)]:
            problems.append(
                f"{name.removeprefix(PREFIX)} ({name}) of {having[0]} can't be combined with rings"
                f" (kyma_rings): {instead}"
            )
    for option, name in ring_variables.items():
        values = {host: own.get(name) for host, own in hosts.items()}
        first = next(iter(values), "")
        if other := next((host for host in values if values[host] != values[first]), ""):
            problems.append(
                f"{option} ({name}) is {shown_value(values[first])} for {first} and"
                f" {shown_value(values[other])} for {other}, and must be the same for all hosts."
                " Name rings in its value, as in {canary: 1}"
            )
    if problems:
        raise LifecycleError("\n".join(problems))
