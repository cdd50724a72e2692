# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The components of a release that need not be read, because they are unchanged since their deployment.

A component with the source that it was deployed from consists of the same objects, unless something else of
the release affects it. That can be its namespace, whose manifest is the foundation's, a definition that is
also among the release's CRDs, or an autoscaler. So the foundation, which names all namespaces, has to be the
same as well, and no changed component may scale anything.
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
    """The release, read as far as necessary, and the records of the rest of it.

    Args:
        materials: where to read it.
        inventories: all that the cluster has recorded.

    Raises:
        LifecycleError: the problems of the release.
    """
    sources = sources_of(inventories)
    release = materials.release(sources)
    unchanged = unchanged_components(release, inventories, sources)
    # Components that must be read anyway are read at once, so that all their problems are reported together.
    return (release if unchanged else materials.release()), unchanged


def sources_of(inventories: Mapping[str, Inventory]) -> dict[str, str]:
    """The sources of completely deployed components; none at all without the foundation's."""
    sources = {name: deployed_as(one).source for name, one in inventories.items() if one.digest}
    sources = {name: source for name, source in sources.items() if source}
    return sources if FOUNDATION in sources else {}


def unchanged_components(
    release: Release, inventories: Mapping[str, Inventory], sources: Mapping[str, str]
) -> dict[str, Inventory]:
    """The records of the components that need not be read.

    Args:
        release: of these components, it needs only the sources.
        inventories: all that the cluster has recorded.
        sources: of completely deployed components, by name.
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
