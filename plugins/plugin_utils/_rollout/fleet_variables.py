# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Refuses variables that a rollout in rings can't have, and those of rings in other deployments. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from ...module_utils._errors import LifecycleError
from ...module_utils._text import extra_variable, shown_value, suggestion

PREFIX, RING_PREFIX = "kyma_", "kyma_ring_"
RINGS, NO_RINGS = "kyma_rings", "none"
"""The variable with the rings, and its value for a deployment without rings."""
OTHER_NAMES: Mapping[str, str] = {"kyma_soak": "kyma_ring_soak", "kyma_approve": "kyma_ring_approve"}
"""Names that are taken for variables of rings, with the right ones."""
EMPTY: tuple[Any, ...] = (None, "", [], {}, 0)
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
    problems += _differences(hosts, ring_variables)
    names = dict.fromkeys(name for own in hosts.values() for name in own)
    problems += _misspelt(names, ring_variables.values())
    if problems:
        raise LifecycleError("\n".join(problems))


def refuse_other_rings(hosts: Mapping[str, Mapping[str, Any]]) -> None:
    """Refuse rings that differ between hosts.

    Args:
        hosts: the variables of each host, evaluated.

    Raises:
        LifecycleError: they differ.
    """
    if problems := [*_differences(hosts, {RINGS.removeprefix(PREFIX): RINGS})]:
        raise LifecycleError("\n".join(problems))


def refuse_file(file: str, names: Iterable[str], ring_variables: Collection[str]) -> None:
    """Refuse variables in the file of rings that are none of rings.

    Args:
        file: its path.
        names: of the variables in it.
        ring_variables: those of rings.

    Raises:
        LifecycleError: it has others.
    """
    if others := [name for name in names if name not in ring_variables]:
        raise LifecycleError(
            f"{file} has {', '.join(others)}, and may only have variables of rings:"
            f" {', '.join(sorted(ring_variables))}. Write other variables in the inventory"
        )


def _differences(hosts: Mapping[str, Mapping[str, Any]], ring_variables: Mapping[str, str]) -> Iterator[str]:
    """A line for each variable of rings that differs between hosts."""
    for option, name in ring_variables.items():
        values = {host: own.get(name) for host, own in hosts.items()}
        first = next(iter(values), "")
        if other := next((host for host in values if values[host] != values[first]), ""):
            remedy = (
                "Set it for all hosts, such as in group_vars/all.yml beside the inventory"
                if name == RINGS
                else "Name rings in its value, as in {canary: 1}"
            )
            yield (
                f"{option} ({name}) is {_shown(values[first])} for {first} and"
                f" {_shown(values[other])} for {other}, and must be the same for all hosts. {remedy}"
            )


def _shown(value: object) -> str:
    return "not set" if value is None else shown_value(value)


def _misspelt(names: Iterable[str], known: Collection[str]) -> Iterator[str]:
    """A line for each name that looks like a variable of rings, and is none."""
    for name in names:
        if name in OTHER_NAMES:
            yield f"{name} is no variable of rings. Rename it to {OTHER_NAMES[name]}"
        elif name.startswith(RING_PREFIX) and name not in known:
            similar = suggestion(name, known, 1) or f"they are {', '.join(sorted(known))}"
            yield f"{name} is no variable of rings: {similar}"


def refusal_without_rings(variables: Mapping[str, Any], rings: object) -> str:
    """Why a deployment that is none in rings must not begin; empty if it may.

    Args:
        variables: those that do not have the default of the role, not yet evaluated.
        rings: the value of ``kyma_rings``.
    """
    names = [name for name in variables if name.startswith(RING_PREFIX) or name in OTHER_NAMES]
    names = [name for name in names if variables[name] not in EMPTY]
    if misspelt := [*_misspelt((name for name in names if name in OTHER_NAMES), ())]:
        return f"nothing has begun here: {'; '.join(misspelt)}"
    set_names = [*([RINGS] if rings else []), *sorted(names)]
    if not set_names or rings == NO_RINGS:
        return ""
    groups = rings if rings and isinstance(rings, list) else ["canary", "rest"]
    return (
        f"nothing has begun here: {', '.join(set_names)} {'is' if len(set_names) == 1 else 'are'} set, and"
        " this call does not deploy in rings, so all hosts would get the release at once. Only the playbook"
        " kyma.lifecycle.deploy_kyma deploys in rings: without kyma_serial, and if rings (kyma_rings) names"
        " groups of the inventory in their order, in the inventory or in the call:"
        f"\n  {extra_variable(RINGS, groups)}"
        "\nTo deploy without rings instead, say so:"
        f"\n  -e {RINGS}={NO_RINGS}"
    )
