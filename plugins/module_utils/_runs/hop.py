# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A call of the playbook as one value: the hops of its way, and what was written for each. Pure.

``kyma_result.hops`` is this value. :mod:`~.hop_progress` adds what a task has done, and :mod:`~.hop_lines`
says what was written. No other module has a sentence about that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .outcomes import NOT_STARTED

COUNTED = ("create", "change", "replace", "delete", "migrations")
"""What a result counts: objects by what happens to them, and migrations that run."""
NO_CHANGES: Mapping[str, int] = dict.fromkeys(COUNTED, 0)


@dataclass(frozen=True)
class Hop:
    """One release on the way of a call of the playbook, which may be the only one.

    Attributes:
        previous, version: from which release to which; empty if unknown.
        state: one of :data:`~.cluster_state.STATES`. A hop ahead has the state that its plan predicts.
        seconds: how long its plan and its run took.
        run: its name; empty if none has begun, so that nothing was written.
        planned: what its plan counts; None if it was not planned.
        written: what was written, counted in the same way; None if a run has begun, and its end is not known.
        failures: the reasons for its state, the first one first.
    """

    previous: str = ""
    version: str = ""
    state: str = NOT_STARTED
    seconds: float = 0.0
    run: str = ""
    planned: Mapping[str, int] | None = None
    written: Mapping[str, int] | None = None
    failures: tuple[str, ...] = ()

    def as_result(self) -> dict[str, Any]:
        """The hop in ``kyma_result``."""
        written = self.written if self.run else NO_CHANGES
        return {
            "from": self.previous,
            "to": self.version,
            "state": self.state,
            "seconds": self.seconds,
            "run": self.run,
            "planned": None if self.planned is None else dict(self.planned),
            "written": None if written is None else dict(written),
            "failures": list(self.failures),
        }


def hop_from(result: Mapping[str, Any]) -> Hop:
    """A hop from :meth:`Hop.as_result`. A task leaves out the keys that it does not know."""
    return Hop(
        str(result.get("from") or ""),
        str(result.get("to") or ""),
        str(result.get("state") or NOT_STARTED),
        float(result.get("seconds") or 0.0),
        str(result.get("run") or ""),
        result.get("planned"),
        result.get("written"),
        tuple(map(str, result.get("failures") or ())),
    )


def changes_in(
    components: Iterable[Mapping[str, Any]], migrations: Iterable[Mapping[str, Any]]
) -> dict[str, int]:
    """What a run has changed: objects of its components, and migrations that have written.

    Args:
        components, migrations: their outcomes, from the record of the run.
    """
    keys = {"create": "created", "change": "changed", "replace": "replaced", "delete": "deleted"}
    known = list(components)
    counts = {key: sum(int(one.get(done) or 0) for one in known) for key, done in keys.items()}
    return {**counts, "migrations": sum(1 for one in migrations if one.get("wrote"))}


def deployed_completely(version: str) -> str:
    """The sentence for a release that the cluster has, also in the record of the installation."""
    return f"{version} was deployed completely"


def not_deployed_completely(version: str) -> str:
    """The sentence for a release that the cluster does not have yet."""
    return f"{version} is not deployed completely"
