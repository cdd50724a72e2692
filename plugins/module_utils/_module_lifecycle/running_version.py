# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who manages a module and which version of it runs, from what was found in the cluster. Pure.

This collection may not have installed a running module. Its template may name no manager. Its version may be
missing from the catalog. It may also run twice: docker-registry 0.13 moved its manager to another namespace.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .._cluster.cluster import FIELD_MANAGER, Object, Ref, ref_of
from .._cluster.kinds import CRD_KIND, NAMESPACE_KIND
from .._errors import MOST_REASONS
from .._objects.inventory.inventory_entry import is_written_by_us
from .catalog.catalog_module import CatalogModule
from .catalog.module_version import Manager
from .catalog.pod_templates import pod_template
from .catalog.semantic_version import parse_version

MODULE_LABEL = "kyma-project.io/module"
"""A label of Kyma's operators, and of the objects that they create: the module's name."""
LABELLED_KINDS = (("apps/v1", "Deployment"), ("apps/v1", "StatefulSet"))
"""Kinds to search for managers by the label, besides those that templates name."""
WORKLOADS = frozenset({("apps", "Deployment"), ("apps", "StatefulSet"), ("apps", "DaemonSet")})
"""Kinds of operators."""
SHARED_KINDS = frozenset({NAMESPACE_KIND, ("", "ServiceAccount")})
"""Kinds that prove neither that a module is installed nor who manages it."""
KLM_LABEL = ("operator.kyma-project.io/managed-by", "kyma")
KLM_APPLIER = "declarative.kyma-project.io/applier"
"""The marks of Kyma's own lifecycle manager on its objects: a label, and its field manager."""
VERSION_LABEL = "app.kubernetes.io/version"
DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container"
MANAGER_CONTAINER = "manager"


@dataclass(frozen=True)
class LiveManager:
    """A manager of a module that exists.

    Attributes:
        object: all of it; only its metadata if it is unchanged.
        is_as_left: whether it is unchanged since a run recorded it.
    """

    object: Object
    is_as_left: bool = False

    @property
    def ref(self) -> Ref:
        """The reference of the object."""
        return ref_of(self.object)


@dataclass(frozen=True)
class RecordedVersion:
    """What our record says of the version.

    Attributes:
        version: that was last deployed or adopted; empty if none was.
        manager: of that version; None if it has no workload.
        uid: the manager's.
        image: of its container by :func:`manager_image`, or empty if it had none.
        deploying: the version whose deployment has begun and has not succeeded; mostly empty.
        deploying_image: the image of its manager, or empty.
        is_managed: whether this collection manages the module.
        is_as_left: whether all recorded workloads are unchanged; it counts for a record without a manager.
        is_taken_over: whether the module was taken over from Kyma's lifecycle manager.
    """

    version: str = ""
    manager: Ref | None = None
    uid: str = ""
    image: str = ""
    deploying: str = ""
    deploying_image: str = ""
    is_managed: bool = False
    is_as_left: bool = False
    is_taken_over: bool = False


@dataclass(frozen=True)
class Evidence:
    """What was found of a module.

    Attributes:
        managers: the possible managers, and the workloads of manifests, that exist.
        named: those that the record, a template or a manifest names. The others have the label of the
            module. They only count with a manager's container: objects that an operator creates have the
            label, too, and their own versions.
        objects: the metadata of the module's other objects that exist.
        record: our record.
        catalog: the versions of the module in the catalog.
        wanted: the version to deploy, or empty.
        said: the running version by the user, or empty.
    """

    managers: Sequence[LiveManager] = ()
    named: Collection[Ref] = ()
    objects: Sequence[Object] = ()
    record: RecordedVersion = RecordedVersion()
    catalog: Collection[str] = ()
    wanted: str = ""
    said: str = ""

    @property
    def operators(self) -> list[LiveManager]:
        """The managers that count."""
        return [one for one in self.managers if one.ref in self.named or _manager_container(one.object)]

    @property
    def definitions(self) -> list[Object]:
        """The definitions that stay: one that is being deleted takes what it defines along."""
        return [
            obj
            for obj in self.objects
            if ref_of(obj)[:2] == CRD_KIND and not obj["metadata"].get("deletionTimestamp")
        ]


@dataclass(frozen=True)
class RunningVersion:
    """The version that runs, or that the objects of a module are left in.

    Attributes:
        version: a semantic version without a leading ``v``; empty if nothing exists or it is unknown.
        manager: the manager of that version, or of the unknown version; None if no manager exists.
        reason: why the version is unknown; else empty.
        klm_object: an object with the mark of Kyma's lifecycle manager, if that manages the module.
    """

    version: str = ""
    manager: Ref | None = None
    reason: str = ""
    klm_object: Ref | None = None

    @property
    def is_unknown(self) -> bool:
        """Whether something exists in an unknown version."""
        return bool(self.reason)


def manager_candidates(module: CatalogModule, recorded: Manager | None = None) -> tuple[Manager, ...]:
    """The possible managers of a module: from our record and all templates, the newest first."""
    managers = [version.manager for version in module.versions.values()]
    by_ref: dict[Ref, Manager] = {}
    for manager in (recorded, *reversed(managers)):
        if manager is not None:
            by_ref.setdefault(manager.ref, manager)
    return tuple(by_ref.values())


def running_version(evidence: Evidence) -> RunningVersion:
    """Who manages a module, and which version of it runs.

    The record counts if its manager exists with the same uid and image. Else the version labels of workloads
    and definitions count if they agree, then image tags that are versions of the catalog, and then the word
    of the user. If no workload exists, the higher of the record's version and the definitions' label counts.
    """
    found = (
        _version_by_record(evidence)
        or (_version_by_labels(evidence) if evidence.operators else _version_left(evidence))
        or _version_by_tags(evidence)
    )
    if found.is_unknown and evidence.said:
        found = RunningVersion(evidence.said.removeprefix("v"), found.manager)
    if evidence.record.is_taken_over:
        return found
    everything = (*(one.object for one in evidence.managers), *evidence.objects)
    return replace(found, klm_object=next((ref_of(obj) for obj in everything if is_marked_by_klm(obj)), None))


def is_marked_by_klm(obj: Object) -> bool:
    """Whether an object has the mark of Kyma's lifecycle manager, and is of a kind that proves something.

    A label that this collection has applied is no mark: a manifest can contain it.
    """
    if ref_of(obj)[:2] in SHARED_KINDS:
        return False
    meta = obj["metadata"]
    writers = meta.get("managedFields") or ()
    if any(one.get("manager") == KLM_APPLIER for one in writers):
        return True
    label, value = KLM_LABEL
    return (meta.get("labels") or {}).get(label) == value and not any(
        one.get("manager") == FIELD_MANAGER and f"f:{label}" in _label_fields(one) for one in writers
    )


def _label_fields(writer: Mapping[str, Any]) -> Collection[str]:
    metadata = (writer.get("fieldsV1") or {}).get("f:metadata") or {}
    return metadata.get("f:labels") or {}


def _version_by_record(evidence: Evidence) -> RunningVersion | None:
    record, operators = evidence.record, evidence.operators
    for one in operators:
        is_same = record.version and (one.ref, _uid(one)) == (record.manager, record.uid)
        if is_same and (one.is_as_left or manager_image(one.object) == record.image):
            return RunningVersion(record.version, one.ref)
    for one in operators:
        is_deployed = record.deploying_image and manager_image(one.object) == record.deploying_image
        if is_deployed and is_written_by_us(one.object["metadata"]):
            return RunningVersion(record.deploying, one.ref)
    if record.manager is None and record.version and record.is_managed and record.is_as_left:
        return RunningVersion(record.version, operators[0].ref if operators else None)
    return None


def _version_left(evidence: Evidence) -> RunningVersion | None:
    """The version of a module without a workload; None if it is unknown."""
    record, definitions = evidence.record, evidence.definitions
    labels = set(_labels(definitions).values())
    if (
        record.deploying
        and record.deploying == evidence.wanted
        and labels <= {record.version, record.deploying}
    ):
        # The deployment continues, with the migrations of an installation or upgrade.
        return RunningVersion(record.version)
    if not definitions or (record.is_managed and not labels):
        return RunningVersion(record.version if record.is_managed else "")
    if record.version:
        return RunningVersion(_highest({*labels, record.version}))
    return RunningVersion(min(labels)) if len(labels) == 1 else None


def _version_by_labels(evidence: Evidence) -> RunningVersion | None:
    """The version on which the labels agree; None if they do not, or if there are none."""
    record, operators = evidence.record, evidence.operators
    labels = _labels([*(one.object for one in operators), *evidence.definitions])
    versions = set(labels.values())
    is_interrupted = bool(record.deploying) and versions <= {record.version, record.deploying}
    if not versions or (len(versions) > 1 and not is_interrupted):
        return None
    version = _highest(versions)
    refs = [one.ref for one in operators]
    return RunningVersion(version, next((ref for ref in refs if labels.get(ref) == version), refs[0]))


def _version_by_tags(evidence: Evidence) -> RunningVersion:
    """The only version of the catalog among image tags, if no label is a version; else an unknown version."""
    operators, definitions = evidence.operators, evidence.definitions
    objects = [*(one.object for one in operators), *definitions]
    manager = operators[0].ref if operators else None
    labels = _labels(objects)
    if labels:
        told = ", ".join(f"{ref} {version}" for ref, version in list(labels.items())[:MOST_REASONS])
        return RunningVersion(manager=manager, reason=f"the labels {VERSION_LABEL} do not agree: {told}")
    tags = {tag: one.ref for one in operators for tag in _tags(one.object) if tag in evidence.catalog}
    if len(tags) == 1:
        [(version, ref)] = tags.items()
        return RunningVersion(version, ref)
    told = "; ".join(map(_described, objects[:MOST_REASONS]))
    reason = f"no label {VERSION_LABEL} is a semantic version, and "
    reason += f"image tags are several versions: {', '.join(sorted(tags))}" if tags else "no image tag is a"
    reason += f". Found: {told}" if tags else f" version of the catalog. Found: {told}"
    if evidence.record.version:
        reason += f". The recorded manager of version {evidence.record.version} is not among them"
    return RunningVersion(manager=manager, reason=reason)


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


def main_workload(objects: Iterable[Object]) -> Object | None:
    """The operator in a manifest whose template names no manager: the first workload, one with a manager's
    container before others; None if there is no workload.
    """
    workloads = [obj for obj in objects if ref_of(obj)[:2] in WORKLOADS]
    return min(workloads, key=lambda obj: (_manager_container(obj) is None, ref_of(obj)), default=None)


def image_tag(image: str) -> str:
    """The tag of an image's name; empty without one. Digests and registry ports are no tags."""
    name = image.partition("@")[0].rpartition("/")[2]
    return name.partition(":")[2]


def _uid(one: LiveManager) -> str:
    return str(one.object["metadata"].get("uid", ""))


def _highest(versions: Collection[str]) -> str:
    parsed = [(version, text) for text in versions if (version := parse_version(text))]
    return max(parsed, key=lambda one: one[0])[1] if parsed else ""


def _labels(objects: Iterable[Object]) -> dict[Ref, str]:
    """The versions in the labels of objects or of their pod templates, without a leading ``v``."""
    found: dict[Ref, str] = {}
    for obj in objects:
        version = next(filter(parse_version, _label_texts(obj)), "")
        if version:
            found[ref_of(obj)] = version.removeprefix("v")
    return found


def _label_texts(obj: Object) -> Iterator[str]:
    for labelled in (obj, pod_template(obj)):
        label = ((labelled.get("metadata") or {}).get("labels") or {}).get(VERSION_LABEL)
        if label:
            yield str(label)


def _tags(manager: Object) -> Iterator[str]:
    """The tags of the manager's own container, or of all if none is known to be that."""
    own = manager_image(manager)
    for image in [own] if own else [str(one.get("image") or "") for one in _containers(manager)]:
        yield image_tag(image).removeprefix("v")


def _described(obj: Object) -> str:
    """An object with the texts that could be its version."""
    texts = [f"label {text}" for text in _label_texts(obj)]
    texts += [f"image {one['image']}" for one in _containers(obj) if one.get("image")]
    return f"{ref_of(obj)} ({', '.join(texts)})" if texts else str(ref_of(obj))


def _containers(manager: Object) -> list[Mapping[str, Any]]:
    spec = pod_template(manager).get("spec") or {}
    return [one for one in spec.get("containers") or () if isinstance(one, Mapping)]


def _manager_container(manager: Object) -> Mapping[str, Any] | None:
    annotations = (pod_template(manager).get("metadata") or {}).get("annotations") or {}
    by_name = {container.get("name"): container for container in _containers(manager)}
    return by_name.get(annotations.get(DEFAULT_CONTAINER)) or by_name.get(MANAGER_CONTAINER)
