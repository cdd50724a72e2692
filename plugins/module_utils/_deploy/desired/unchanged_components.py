# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which components of a release need not be looked at, as they stand as they were deployed.

A component whose source is the one that it was deployed from consists of the same objects, unless something
else of the release reaches into it: a component's namespace, whose manifest is the foundation's, a definition
that is among the release's CRDs, too, or an autoscaler. So the foundation has to be the same as well, which
names all namespaces, and nothing that is not the same may scale anything.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..._carrier.task import Materials
from ..._components.component_inventory import deployed_as
from ..._objects.inventory.inventory import Inventory
from ..._objects.ownership.autoscaling import is_autoscaler
from ..._release.model import FOUNDATION, Release
from .desired_release import foundation_source


def read_release(
    materials: Materials, inventories: Mapping[str, Inventory]
) -> tuple[Release, dict[str, Inventory]]:
    """The release, read as far as it has to be, and what is remembered of the rest of it.

    Args:
        materials: where to read it.
        inventories: all that the cluster remembers.

    Raises:
        LifecycleError: what is wrong with the release.
    """
    sources = sources_of(inventories)
    release = materials.release(sources)
    kept = unchanged_components(release, inventories, sources)
    # What has to be looked at anyway is read at once, so that all that is wrong with it is told at once.
    return (release if kept else materials.release()), kept


def sources_of(inventories: Mapping[str, Inventory]) -> dict[str, str]:
    """The sources of components that were deployed completely; none at all without the foundation's."""
    found = {name: deployed_as(one).source for name, one in inventories.items() if one.digest}
    found = {name: source for name, source in found.items() if source}
    return found if FOUNDATION in found else {}


def unchanged_components(
    release: Release, inventories: Mapping[str, Inventory], sources: Mapping[str, str]
) -> dict[str, Inventory]:
    """What is remembered of the components that need not be looked at.

    Args:
        release: of which nothing but the sources has to be known of those.
        inventories: all that the cluster remembers.
        sources: of components that were deployed completely, by name.
    """
    if sources.get(FOUNDATION, "") != foundation_source(release) or not sources:
        return {}
    contents = release.content
    same = [e.name for e in release.components if contents[e.name].source_hash == sources.get(e.name)]
    kinds = {ref.kind for name, one in inventories.items() if name not in same for ref in one.refs}
    kinds |= {
        obj["kind"]
        for entry in release.components
        if entry.name not in same
        for obj in contents[entry.name].objects
    }
    if any(map(is_autoscaler, kinds)):
        return {}
    return {name: inventories[name] for name in (FOUNDATION, *same)}
