# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who manages a module and which version of it runs, from what was found in the cluster. Pure.

This collection may not have installed a running module. Its template may name no manager. Its version may be
missing from the catalog. It may also run twice: docker-registry 0.13 moved its manager to another namespace.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .._cluster.cluster import FIELD_MANAGER, Object, Ref, ref_of
from .._cluster.fields.field_owners import owners_of
from .._cluster.fields.written_by import is_written_by
from .._cluster.kinds import CRD_KIND, NAMESPACE_KIND
from .._cluster.pod_templates import pod_template
from .._errors import MOST_REASONS
from .._klm.klm_marks import KLM_LABEL, has_klm_label
from .._module_catalog.semantic_version import SemanticVersion, parse_version
from .._runs.records.modules import ModuleRecord

MODULE_LABEL = "kyma-project.io/module"
"""A label of Kyma's operators, and of the objects that they create: the module's name."""
LABELLED_KINDS = (("apps/v1", "Deployment"), ("apps/v1", "StatefulSet"))
"""Kinds to search for managers by the label, besides those that templates name."""
WORKLOADS = frozenset({("apps", "Deployment"), ("apps", "StatefulSet"), ("apps", "DaemonSet")})
"""Kinds of operators."""
SHARED_KINDS = frozenset({NAMESPACE_KIND, ("", "ServiceAccount")})
"""Kinds that prove neither that a module is installed nor who manages it."""
VERSION_LABEL = "app.kubernetes.io/version"
DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container"
MANAGER_CONTAINER = "manager"


@dataclass(frozen=True)
class LiveManager:
    """A manager of a module that exists.

    Attributes:
        object: all of it; only its metadata if it is unchanged.
        is_as_left: whether it is unchanged since a run recorded it.
        is_named: whether our record, a template or a manifest names it. One that only has the label of the
            module needs a manager's container to count: objects that an operator creates have the label, too.
    """

    object: Object
    is_as_left: bool = False
    is_named: bool = True

    @property
    def ref(self) -> Ref:
        """The reference of the object."""
        return ref_of(self.object)


@dataclass(frozen=True)
class VersionEvidence:
    """What was found of a module.

    Attributes:
        managers: the possible managers, and the workloads of manifests, that exist.
        objects: the metadata of the module's other objects that exist.
        record: our record; without a version if there is none.
        is_managed: whether this collection manages the module and knows its objects.
        is_as_left: whether the workloads that this collection has recorded are unchanged.
        catalog: the versions of the module in the catalog.
        target: the version to deploy, or empty.
        said: the running version by the user, or empty.
    """

    managers: Sequence[LiveManager] = ()
    objects: Sequence[Object] = ()
    record: ModuleRecord = field(default_factory=lambda: ModuleRecord(""))
    is_managed: bool = False
    is_as_left: bool = False
    catalog: Collection[str] = ()
    target: str = ""
    said: str = ""

    @property
    def operators(self) -> list[LiveManager]:
        """The managers that count."""
        return [one for one in self.managers if one.is_named or _manager_container(one.object)]

    @property
    def is_operator_gone(self) -> bool:
        """Whether no workload exists where the record has the operator."""
        known = self.record.manager
        return known is not None and all(one.ref != known.ref for one in self.managers)

    @property
    def definitions(self) -> list[Object]:
        """The definitions that stay: one that is being deleted takes what it defines along."""
        definitions = (obj for obj in self.objects if ref_of(obj)[:2] == CRD_KIND)
        return [obj for obj in definitions if not obj["metadata"].get("deletionTimestamp")]

    @property
    def versioned(self) -> list[Object]:
        """The objects whose labels and images say which version runs."""
        return [*(one.object for one in self.operators), *self.definitions]


@dataclass(frozen=True)
class RunningVersion:
    """The version that runs, or that the objects of a module are left in.

    Attributes:
        version: a semantic version without a leading ``v``; empty if nothing exists or it is unknown.
        manager: the manager of that version, or of the unknown version; None if no manager exists.
        reason: why the version is unknown; else empty.
        klm_object: an object with the label of Kyma's lifecycle manager, unless that was taken over.
    """

    version: str = ""
    manager: Ref | None = None
    reason: str = ""
    klm_object: Ref | None = None


def running_version(evidence: VersionEvidence) -> RunningVersion:
    """Who manages a module, and which version of it runs.

    The record counts if its manager exists with the same uid and image. Else the version labels of workloads
    and definitions count if they agree, then image tags that are versions of the catalog, and then the word
    of the user. If the operator is gone and a definition is not, the record's version counts if it is higher.
    """
    running = (
        _version_by_record(evidence)
        or (_version_by_labels(evidence) if evidence.operators else _version_left(evidence))
        or _version_by_tags(evidence)
    )
    record = evidence.record
    if running.version and record.installed_version and evidence.definitions and evidence.is_operator_gone:
        # Only other workloads of the module are left.
        running = replace(running, version=_highest({running.version, record.installed_version}))
    if running.reason and evidence.said:
        running = RunningVersion(evidence.said.removeprefix("v"), running.manager)
    if record.is_taken_over:
        return running
    everything = (*(one.object for one in evidence.managers), *evidence.objects)
    return replace(
        running, klm_object=next((ref_of(obj) for obj in everything if is_marked_by_klm(obj)), None)
    )


def is_marked_by_klm(obj: Object) -> bool:
    """Whether an object has the label of Kyma's lifecycle manager, and is of a kind that proves something.

    A label that this collection has applied is no mark: a manifest can contain it. Neither is the field
    manager of KLM, which stays on what it has let go.
    """
    if ref_of(obj)[:2] in SHARED_KINDS or not has_klm_label(obj):
        return False
    owners = owners_of(obj, "f:metadata", "f:labels", f"f:{KLM_LABEL[0]}")
    return not any(one.get("manager") == FIELD_MANAGER for one in owners)


def _version_by_record(evidence: VersionEvidence) -> RunningVersion | None:
    record, operators = evidence.record, evidence.operators
    version, known = record.installed_version, record.manager
    for one in operators if version and known else ():
        is_same = known and (one.ref, one.object["metadata"].get("uid", "")) == (known.ref, known.uid)
        if is_same and (one.is_as_left or manager_image(one.object) == record.manager_image):
            return RunningVersion(version, one.ref)
    for one in operators if record.deploying.manager_image else ():
        is_deployed = manager_image(one.object) == record.deploying.manager_image
        if is_deployed and is_written_by(one.object["metadata"]):
            return RunningVersion(record.deploying.version, one.ref)
    if version and known is None and evidence.is_managed and evidence.is_as_left:
        return RunningVersion(version, operators[0].ref if operators else None)
    return None


def _version_left(evidence: VersionEvidence) -> RunningVersion | None:
    """The version of a module without a workload; None if it is unknown."""
    recorded, deploying = evidence.record.installed_version, evidence.record.deploying.version
    labels = set(label_versions(evidence.definitions).values())
    if deploying and deploying == evidence.target and labels <= {recorded, deploying}:
        # The deployment continues, with the migrations of an installation or upgrade.
        return RunningVersion(recorded)
    if not evidence.definitions:
        return RunningVersion(recorded if evidence.is_managed else "")
    if recorded or deploying:
        return RunningVersion(_highest({*labels, recorded or deploying}))
    if not evidence.is_managed and not any(
        text for obj in evidence.definitions for text in _label_texts(obj)
    ):
        # Definitions alone that say nothing of a version are no module: people create them beforehand.
        return RunningVersion()
    return RunningVersion(min(labels)) if len(labels) == 1 else None


def _version_by_labels(evidence: VersionEvidence) -> RunningVersion | None:
    """The version on which the labels agree; None if they do not, or if there are none."""
    record, labels = evidence.record, label_versions(evidence.versioned)
    versions = set(labels.values())
    deploying = {record.installed_version, record.deploying.version} if record.deploying.version else ()
    if not versions or (len(versions) > 1 and not versions.issubset(deploying)):
        return None
    version = _highest(versions)
    refs = [one.ref for one in evidence.operators]
    return RunningVersion(version, next((ref for ref in refs if labels.get(ref) == version), refs[0]))


def _version_by_tags(evidence: VersionEvidence) -> RunningVersion:
    """The only version of the catalog among image tags, if no label is a version; else an unknown version."""
    operators, labels = evidence.operators, label_versions(evidence.versioned)
    tags = {tag: one.ref for one in operators for tag in _tags(one.object) if tag in evidence.catalog}
    if not labels and len(tags) == 1:
        return RunningVersion(*next(iter(tags.items())))
    reason = f"the labels {VERSION_LABEL} do not agree"
    if not labels:
        reason = f"no label {VERSION_LABEL} is a semantic version, and "
        reason += "several image tags are" if tags else "no image tag is a"
        reason += " versions of the catalog" if tags else " version of the catalog"
    candidates = "; ".join(map(_described, evidence.versioned[:MOST_REASONS]))
    return RunningVersion(
        manager=operators[0].ref if operators else None, reason=f"{reason}. Found: {candidates}"
    )


def manager_image(manager: Object) -> str:
    """The image of a manager's own container, or all images if none is known to be that; empty without one.

    It is the container that the annotation of kubectl names, else the one named manager.
    """
    return ", ".join(manager_images(manager))


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


def _highest(versions: Collection[str]) -> str:
    """The highest of some semantic versions."""
    return max(versions, key=lambda text: parse_version(text) or SemanticVersion((0, 0, 0)))


def label_versions(objects: Iterable[Object]) -> dict[Ref, str]:
    """The versions in the labels of objects or of their pod templates, without a leading ``v``."""
    versions: dict[Ref, str] = {}
    for obj in objects:
        version = next(filter(parse_version, _label_texts(obj)), "")
        if version:
            versions[ref_of(obj)] = version.removeprefix("v")
    return versions


def _label_texts(obj: Object) -> Iterator[str]:
    for labelled in (obj, pod_template(obj)):
        label = ((labelled.get("metadata") or {}).get("labels") or {}).get(VERSION_LABEL)
        if label:
            yield str(label)


def _tags(manager: Object) -> Iterator[str]:
    """The tags of the manager's own container, or of all if none is known to be that."""
    for image in manager_images(manager):
        yield image_tag(image).removeprefix("v")


def manager_images(manager: Object) -> list[str]:
    """The images of a manager's own container, or all images if none is known to be that."""
    own = _manager_container(manager)
    images = (one.get("image") for one in ([own] if own else _containers(manager)))
    return [image for image in images if isinstance(image, str)]


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
