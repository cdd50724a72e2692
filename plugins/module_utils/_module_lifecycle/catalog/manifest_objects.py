# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The text of a module's manifest to objects: pure."""

from __future__ import annotations

from typing import NamedTuple

from ..._cluster.cluster import Object
from ..._release.manifests import ManifestCollection
from ..._release.release_error import Problem, ReleaseError


class ManifestError(ReleaseError):
    """A manifest that can't be used, with everything that is wrong with it."""

    heading = "the manifest can't be used for {count} reasons:"


class ModuleManifest(NamedTuple):
    """What a module's manifest consists of.

    Helm hooks are objects like others: ``kubectl apply``, for which the manifest was made, knows none.
    """

    objects: tuple[Object, ...]
    warnings: tuple[str, ...]


def read_manifest(text: str, name: str) -> ModuleManifest:
    """The objects of a manifest, those of lists one by one.

    Args:
        text: YAML, or JSON if the name ends so.
        name: what messages call it: its link without login, or its path.

    Raises:
        ManifestError: it has no object, or something in it is none.
    """
    collected = ManifestCollection(keeps_hooks=True)
    collected.add_text(text, name)
    if not collected.objects and not collected.problems:
        collected.problems.append(Problem("there is no Kubernetes object in it", name))
    if collected.problems:
        raise ManifestError(collected.problems)
    return ModuleManifest(tuple(collected.objects), tuple(collected.warnings))
