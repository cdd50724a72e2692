# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The inputs that a plan is bound to: it is applied only if all that it saw still holds.

Values are recorded as hashes, because some of them are secrets; the content of a Secret isn't recorded at
all.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ..._cluster.cluster import Cluster
from ..._components.component_plan import MigrationPlan
from ..._objects.apply.change import ObjectChange
from ..._objects.apply.diff import changed_values
from ..._objects.inventory.inventory_entry import short_hash
from ..._result_codec import to_result
from ..._runs.records.installation import identity_of
from ..._text import first_of
from .release_plan import Plan

Path = tuple[str, ...]

_PASSING = ("changes", "drift", "warnings", "writes", "seconds", "slow", "requests", "name", "id")
"""Fields of components and migrations that differ between two equal plans, or are compared separately."""
_LASTING = ("cluster", "options", "migration code")
"""What every hop of a plan is bound to like the first one, besides its release."""
_FORETOLD = ("component", "migration")
_MOST = 10
"""How many differences a message lists."""
_LONGEST = 80
"""Characters of a value in a message."""
_MEANINGS = {
    "cluster": "this is not the cluster that the plan was made for",
    "records": "another run has deployed to the cluster since",
    "release digest": "the release, its values, or the tools that render it are others",
    "migration code": "the code of the migrations, or of this collection, is another",
}


def plan_inputs(plan: Plan, cluster: Cluster, options: Mapping[str, Any]) -> dict[str, Any]:
    """All inputs of a plan, as plain values without secrets.

    Args:
        plan: the plan.
        cluster: that it was created for.
        options: those for the deployment; recorded as hashes.
    """
    return {
        "cluster": identity_of(cluster),
        "records": plan.basis,
        "options": hashes_of(options),
        "release": _release(plan),
        "component": {
            one.name: _lasting(to_result(one))
            | {"content": one.digest, "object": {str(c.ref): _change(c, values=True) for c in one.changes}}
            for one in plan.components
        },
        "migration": {
            one.id: _of_migration(one) | {"write": {str(c.ref): _change(c, values=False) for c in one.writes}}
            for one in plan.migrations
        },
        "order": [list(wave) for wave in plan.waves],
        "prune": list(plan.prune),
        "later": {
            one.version: {"release": _release(one), **_predicted(one.as_result())} for one in plan.later
        },
    }


def differences_of_later_hop(before: Mapping[str, Any], now: Mapping[str, Any], version: str) -> list[str]:
    """The inputs of a later hop that no longer hold when it is its turn, each in a sentence.

    Args:
        before: what the whole plan saw.
        now: what the hop's plan sees.
        version: the hop's target.
    """
    then = {**before, "release": before["later"][version]["release"]}
    return input_differences(*({name: saw[name] for name in (*_LASTING, "release")} for saw in (then, now)))


def deviations(before: Mapping[str, Any], plan: Mapping[str, Any]) -> list[str]:
    """What a later hop does differently than predicted, each in a sentence.

    Args:
        before: what the whole plan saw.
        plan: of the hop, as the task ``plan`` returns it when it is the hop's turn.
    """
    foretold = before["later"][plan["version"]]
    return input_differences({name: foretold[name] for name in _FORETOLD}, _predicted(plan))


def _release(plan: Plan) -> dict[str, str]:
    return {"version": plan.version, "profile": plan.profile, "digest": plan.digest}


def _predicted(plan: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a provisional plan whose deviations are reported: objects may well deviate."""
    return {
        "component": {one["name"]: one["action"] for one in plan["components"]},
        "migration": {one["id"]: one["verdict"] for one in plan["migrations"]},
    }


def hashes_of(options: Mapping[str, Any]) -> dict[str, str]:
    """Options as hashes, which can be compared but not read; without empty options."""
    return {name: _hash(value) for name, value in options.items() if value}


def input_differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """The plan inputs that have changed, each in a sentence; the first ten, and how many more there are."""
    old, new = dict(_flat(before, ())), dict(_flat(now, ()))
    # A record has no empty fields.
    paths = [
        path for path in dict.fromkeys((*old, *new)) if (old.get(path) or None) != (new.get(path) or None)
    ]
    return first_of([_difference(path, old.get(path), new.get(path)) for path in paths], _MOST)


def _hash(value: Any) -> str:
    return short_hash(json.dumps(value, sort_keys=True, default=str))


def _of_migration(migration: MigrationPlan) -> dict[str, Any]:
    inputs = _lasting(to_result(migration))
    if migration.verdict == "not_needed":
        # It writes nothing, and may have counted objects without a problem.
        del inputs["evidence"]
    return inputs


def _lasting(result: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in result.items() if key not in _PASSING}


def _change(change: ObjectChange, *, values: bool) -> str:
    """The planned change of an object, with a hash of the values before and after."""
    text = " ".join([change.action, ", ".join(change.fields)]).strip()
    if change.unverified:
        text += " (unverified)"
    plain = values and change.action == "change" and change.ref.kind != "Secret"
    if plain and change.before and change.after:
        text += f" [{_hash(changed_values(change.before, change.after))}]"
    return text


def _flat(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(inner, (*path, str(key)))
    else:
        yield path, value


def _difference(path: Path, before: Any, now: Any) -> str:
    what = " ".join(path)
    if what in _MEANINGS:
        return _MEANINGS[what]
    if path[0] == "later" and path[2:] == ("release", "digest"):
        return f"hop to {path[1]}: {_MEANINGS['release digest']}"
    if path[0] == "options":
        return f"{path[-1]} (kyma_{path[-1]}) differs from the plan"
    if path[-1] == "content":
        return f"{what} is not what it was"
    return f"{what}: the plan has {_shown(before)}, and now it is {_shown(now)}"


def _shown(value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value or "")
    return (text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}...") or "nothing"
