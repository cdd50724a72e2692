# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The text of a module's manifest to objects. Pure."""

from __future__ import annotations

from typing import NamedTuple

from .._cluster.cluster import Object
from .._release.limits import DEFAULT_LIMITS
from .._release.manifests import ManifestCollection, dump_warnings
from .._release.release_error import Problem, ReleaseError


class ManifestError(ReleaseError):
    """A manifest that can't be used, with all of its errors."""

    heading = "the manifest can't be used for {count} reasons:"


class ModuleManifest(NamedTuple):
    """The objects of a module's manifest.

    Helm hooks are objects like others: ``kubectl apply``, for which the manifest is written, knows no hooks.
    """

    objects: tuple[Object, ...]
    warnings: tuple[str, ...]


def read_manifest(
    text: str, name: str, namespace: str = "", most: int = DEFAULT_LIMITS.objects
) -> ModuleManifest:
    """The objects of a manifest, those of lists one by one.

    Args:
        text: YAML, or JSON if the name ends so.
        name: its name in messages: its link without login, or its path.
        namespace: of objects that name none.
        most: the limit of objects.

    Raises:
        ManifestError: it has no object, or an entry in it is no object, or one of the collection's own.
    """
    collected = ManifestCollection(keeps_hooks=True, namespace=namespace, most=most)
    collected.add_text(text, name)
    if not collected.objects and not collected.problems:
        collected.problems.append(Problem("there is no Kubernetes object in it", name))
    if collected.problems:
        raise ManifestError(collected.problems)
    return ModuleManifest(
        tuple(collected.objects), (*dump_warnings(list(collected.dumps)), *collected.warnings)
    )
