# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of each component of a run and its first reason, for every output: pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .._objects.inventory.owner_kinds import COMPONENT
from .outcomes import NOT_STARTED

NEVER_REACHED = "the run ended before it"


@dataclass(frozen=True)
class ComponentState:
    """The state of one component or module.

    Attributes:
        name: of the component.
        state: one of :data:`~.outcomes.ENDS`.
        reason: for its state; empty for none.
        kind: what it is: a component, or a module.
    """

    name: str
    state: str = NOT_STARTED
    reason: str = ""
    kind: str = COMPONENT

    @property
    def label(self) -> str:
        """What it is, and its name."""
        return f"{self.kind} {self.name}"


def component_states(
    entries: Iterable[Mapping[str, Any]], names: Iterable[str] = ()
) -> dict[str, ComponentState]:
    """The states of the components of a run, by name.

    Args:
        entries: their outcomes, as results and the record of the run have them.
        names: of all that take part. A component without an outcome was not started.
    """
    states = {
        str(one.get("name")): ComponentState(
            str(one.get("name")),
            str(one.get("state") or ""),
            str(one.get("error") or ""),
            str(one.get("kind") or COMPONENT),
        )
        for one in entries
    }
    return states | {name: ComponentState(name, reason=NEVER_REACHED) for name in names if name not in states}
