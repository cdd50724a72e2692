# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which version of a module runs, according to its managers. Pure.

This collection may not have installed a running module. Its version may be missing from the catalog. It may
also run twice: docker-registry 0.13 moved its manager to another namespace.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .._cluster.cluster import Object, Ref, ref_of
from .catalog.catalog_module import CatalogModule
from .catalog.module_version import Manager
from .catalog.pod_templates import pod_template
from .catalog.semantic_version import SemanticVersion, parse_version

MODULE_LABEL = "kyma-project.io/module"
"""A label of Kyma's operators, and of the objects that they create: the module's name."""
LABELLED_KINDS = (("apps/v1", "Deployment"), ("apps/v1", "StatefulSet"))
"""Kinds to search for managers by the label, besides those that templates name."""
VERSION_LABEL = "app.kubernetes.io/version"
DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container"
MANAGER_CONTAINER = "manager"


@dataclass(frozen=True)
class RecordedManager:
    """The manager in its last recorded state.

    Attributes:
        version: of the module.
        ref: the manager.
        uid: the manager's.
        image: of its container by :func:`manager_image`, or empty if it had none.
    """

    version: str
    ref: Ref
    uid: str
    image: str = ""


@dataclass(frozen=True)
class RunningVersion:
    """The version that runs.

    Attributes:
        version: a semantic version without a leading ``v``; empty if nothing runs or it is unknown.
        manager: the manager of that version, or of the unknown version; None if nothing runs.
        reason: why the version is unknown, or that nothing runs; else empty.
    """

    version: str = ""
    manager: Ref | None = None
    reason: str = ""

    @property
    def is_unknown(self) -> bool:
        """Whether a manager runs in an unknown version."""
        return self.manager is not None and not self.version


def manager_candidates(module: CatalogModule, recorded: Manager | None = None) -> tuple[Manager, ...]:
    """The possible managers of a module: from our record and all templates, the newest first."""
    managers = [version.manager for version in module.versions.values()]
    by_ref: dict[Ref, Manager] = {}
    for manager in (recorded, *reversed(managers)):
        if manager is not None:
            by_ref.setdefault(manager.ref, manager)
    return tuple(by_ref.values())


def running_version(
    managers: Iterable[Object], named: Collection[Ref], recorded: RecordedManager | None = None
) -> RunningVersion:
    """The highest version of the existing managers.

    Args:
        managers: those of :func:`manager_candidates` that exist, and objects with the label of the module.
        named: the references of the candidates. Other objects only count with a manager's container: objects
            that an operator creates have the label, too, and their own versions.
        recorded: the recorded manager. Its version counts if the manager is unchanged.
    """
    best: tuple[SemanticVersion, Ref] | None = None
    found = RunningVersion(reason="nothing of it runs")
    for ref, manager in {ref_of(one): one for one in managers}.items():
        if ref not in named and _manager_container(manager) is None:
            continue
        texts = list(_version_texts(manager))
        if recorded is not None and _is_as_recorded(manager, ref, recorded):
            texts.append(recorded.version)
        version = next(filter(None, map(parse_version, texts)), None)
        if version is None:
            return RunningVersion(manager=ref, reason=_unknown(ref, texts, recorded))
        if best is None or best[0] < version:
            best = version, ref
            text = next(text for text in texts if parse_version(text))
            found = RunningVersion(text.removeprefix("v"), ref)
    return found


def manager_image(manager: Object) -> str:
    """The image of a manager's own container, or empty.

    It is the container that the annotation of kubectl names, else the one named manager, else the only one.
    """
    containers = _containers(manager)
    container = _manager_container(manager)
    if container is None and len(containers) == 1:
        container = containers[0]
    image = (container or {}).get("image")
    return image if isinstance(image, str) else ""


def image_tag(image: str) -> str:
    """The tag of an image's name; empty without one. Digests and registry ports are no tags."""
    name = image.partition("@")[0].rpartition("/")[2]
    return name.partition(":")[2]


def _version_texts(manager: Object) -> Iterator[str]:
    """Texts that may be a manager's version, in order of precedence."""
    for labelled in (manager, pod_template(manager)):
        label = ((labelled.get("metadata") or {}).get("labels") or {}).get(VERSION_LABEL)
        if label:
            yield str(label)
    tag = image_tag(manager_image(manager))
    if tag:
        yield tag


def _is_as_recorded(manager: Object, ref: Ref, recorded: RecordedManager) -> bool:
    is_same = (ref, manager["metadata"].get("uid")) == (recorded.ref, recorded.uid)
    return is_same and recorded.image in ("", manager_image(manager))


def _containers(manager: Object) -> list[Mapping[str, Any]]:
    spec = pod_template(manager).get("spec") or {}
    return [one for one in spec.get("containers") or () if isinstance(one, Mapping)]


def _manager_container(manager: Object) -> Mapping[str, Any] | None:
    annotations = (pod_template(manager).get("metadata") or {}).get("annotations") or {}
    by_name = {container.get("name"): container for container in _containers(manager)}
    return by_name.get(annotations.get(DEFAULT_CONTAINER)) or by_name.get(MANAGER_CONTAINER)


def _unknown(ref: Ref, texts: list[str], recorded: RecordedManager | None) -> str:
    said = " and ".join(dict.fromkeys(map(repr, texts)))
    reason = f"neither the label {VERSION_LABEL} nor the tag of its image is a semantic version"
    if said:
        reason += f", but {said}"
    if recorded is not None:
        reason += f"; and it is not the manager that was left in version {recorded.version}"
    return f"{ref} runs in an unknown version: {reason}"
