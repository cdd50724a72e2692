# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A release as plain values: its contents once it is found, read and rendered."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from .._cluster.cluster import Object
from .limits import DEFAULT_LIMITS, Limits


@dataclass(frozen=True)
class ComponentEntry:
    """One entry of a component list.

    Attributes:
        name: unique in the release.
        namespace: the default namespace of its objects.
        prerequisite: whether it is deployed first, in the order of the list.
        needs: names of components that must be healthy before this one starts.
        timeout: seconds that it may take to become healthy, or None for the run's default.
        source: the location of its content, relative to the release, if it differs from the convention.
        version: its own version, for display.
        role: the Ansible role that deploys it instead of the default one.
        provides: API groups whose definitions it installs when it runs, such as ``networking.istio.io``.
    """

    name: str
    namespace: str
    prerequisite: bool = False
    needs: tuple[str, ...] = ()
    timeout: float | None = None
    source: str | None = None
    version: str | None = None
    role: str | None = None
    provides: tuple[str, ...] = ()


@dataclass(frozen=True)
class Content:
    """The rendered content of a component (or a CRD folder).

    Attributes:
        objects: the manifests in the order of their files, unchanged. A manifest without a namespace has none
            here: only discovery knows whether its kind needs the component's.
        hooks: names of Helm hooks that were skipped, as ``Job pre-upgrade-thing (pre-upgrade)``.
        source: sha256 over all inputs of the rendering, as hexadecimal digits; empty if unknown.
        has_namespaces: whether there may be a Namespace among the objects.
        is_read: whether the objects were read; else the hooks are unknown, and the objects are read on
            first access.
    """

    objects: Sequence[Object]
    hooks: tuple[str, ...] = ()
    source_hash: str = ""
    has_namespaces: bool = True
    is_read: bool = True


@dataclass(frozen=True)
class Release:
    """A version of Kyma, rendered for one profile and one set of values.

    Attributes:
        version: e.g. ``2.9`` or ``2.9.3``.
        digest: sha256 over all inputs of the rendering but the profile: files, values, tools.
        profile: e.g. ``production``, or empty for the release's default.
        default_namespace: for components without a namespace.
        components: prerequisites first, each in the order of the list.
        content: per component name.
        crds: the content that is applied and established before any component.
        upgrades_from: versions that it may follow; empty means the previous minor.
        kubernetes: the range of server versions it supports as a PEP 440 specifier set, or empty.
        warnings: messages about the rendering.
        release_digest: sha256 over the paths and contents of its files, whatever the profile, values and
            tools are.
    """

    version: str
    digest: str
    profile: str
    default_namespace: str
    components: tuple[ComponentEntry, ...]
    content: dict[str, Content]
    crds: Content
    upgrades_from: tuple[str, ...] = ()
    kubernetes: str = ""
    warnings: tuple[str, ...] = ()
    release_digest: str = ""


@dataclass(frozen=True)
class ReleaseRequest:
    """The user's request: the location of a release, and how to render it.

    Attributes:
        source: a directory, an archive, or the URL of an archive.
        checksum: ``sha256:<hex>`` of the archive; required for a URL.
        profile: the profile, or empty.
        is_deployed_profile: whether the profile is that of the cluster, because the user has named none.
        values_files: paths of the user's value files; later ones override earlier ones.
        overrides: ``component.key=value`` strings; later ones override earlier ones, and all override files.
        version: the release's version if the source doesn't contain it.
        component_list: path of the user's own component list in place of the release's.
        helm_binary: name or path of the helm binary.
        limits: how much of the controller it may use.
    """

    source: str
    checksum: str = ""
    profile: str = ""
    is_deployed_profile: bool = False
    values_files: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()
    version: str = ""
    component_list: str = ""
    helm_binary: str = "helm"
    limits: Limits = DEFAULT_LIMITS


NO_PROFILE = "none"
"""The value of the option ``profile`` for no profile: an empty one means the deployed profile."""


def rendering_digest(fingerprint: str, profile: str) -> str:
    """sha256 over all inputs of the rendering of a release.

    Args:
        fingerprint: the digest of all of them but the profile.
        profile: that the release is rendered for, or empty.
    """
    return hashlib.sha256(f"{fingerprint} {profile}".encode()).hexdigest()


FOUNDATION = "foundation"
"""The name under which a release's CRDs and the components' namespaces are deployed, before any component."""
