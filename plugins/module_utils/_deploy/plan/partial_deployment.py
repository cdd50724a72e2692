# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deploying some components of a release alone: what must be deployed before. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..._objects.inventory.inventory import Inventory
from ..._release.model import ComponentEntry
from ..._text import did_you_mean, suggestion
from ..desired.release_versions import is_same_release


def partial_deployment_problems(
    entries: Sequence[ComponentEntry], alone: Sequence[str], inventories: Mapping[str, Inventory]
) -> list[str]:
    """Why some components can't be deployed alone, each in a sentence.

    A component needs the components in its ``needs``, and the prerequisites before it.

    Args:
        entries: the release's component list.
        alone: the names of the components to deploy; empty for the whole release.
        inventories: of what is deployed.
    """
    by_name = {entry.name: entry for entry in entries}
    problems = [_unknown(name, list(by_name)) for name in alone if name not in by_name]
    missing: dict[str, list[str]] = {}
    for name in alone:
        if name in by_name:
            for need in _needs_of(by_name[name], entries):
                if need not in alone and need in by_name and not _exists(inventories.get(need)):
                    missing.setdefault(need, []).append(name)
    for need, names in missing.items():
        claim = f"{', '.join(names)} {'needs' if len(names) == 1 else 'need'} {need}"
        how = "not deployed completely" if need in inventories else "not deployed"
        problems.append(
            f"{claim}, which is {how}: add it to components (kyma_components), or deploy the whole release"
        )
    return problems


def partial_deployment_warnings(alone: Sequence[str], version: str, desired: str) -> tuple[str, ...]:
    """Warnings for a deployment of components alone, from another release than the cluster's.

    Args:
        alone: the names of the components to deploy; empty for the whole release.
        version: the cluster's release, or empty.
        desired: the release that the components are from.
    """
    if not alone or not version or is_same_release(version, desired):
        return ()
    return (
        f"{', '.join(alone)} and the CRDs move to {desired} alone, and the cluster stays at {version}:"
        f" to deploy {version} again would be a downgrade of them",
    )


def _needs_of(entry: ComponentEntry, entries: Sequence[ComponentEntry]) -> list[str]:
    before = [one.name for one in entries[: entries.index(entry)] if one.prerequisite]
    return list(dict.fromkeys((*before, *entry.needs)))


def _exists(inventory: Inventory | None) -> bool:
    return inventory is not None and inventory.digest != ""


def _unknown(name: str, names: Sequence[str]) -> str:
    hint = suggestion(name, names) or did_you_mean(names)
    return f"components (kyma_components): the release has no component {name}; {hint}"
